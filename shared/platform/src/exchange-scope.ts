import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

/** The exchange that a callback belongs to, because the exchange started its timer or promise. */
export interface ExchangeScope {
  /** Reports the failure and ends the exchange. */
  fail(error: unknown): void
}

const scopes = new AsyncLocalStorage<ExchangeScope | undefined>()

/** The scope of the current callback. */
export function exchangeScope(): ExchangeScope | undefined {
  return scopes.getStore()
}

export function runInScope<T>(scope: ExchangeScope | undefined, callback: () => T): T {
  return scopes.run(scope, callback)
}

/** Runs work that exchanges share. Its failure belongs to the server, not to the exchange that started the work. */
export function runOutsideExchanges<T>(callback: () => T): T {
  return scopes.run(undefined, callback)
}

/** Logs a process's uncaught errors and exits. */
export interface LastResort {
  readonly source: { on(event: 'uncaughtException', listener: (error: Error) => void): unknown }
  readonly log: Pick<Log, 'error'>
  exit(): void
}

/**
 * The last resort of a server process for uncaught exceptions and rejections. An error that belongs to an exchange ends
 * that exchange. Any other error means a bug and an unknown state of the server: it is logged, and the
 * process exits with code 1, to be restarted. Servers in the process of a test (`start()`) do not install it.
 */
export function endOnFailure({ source, log, exit }: LastResort): void {
  source.on('uncaughtException', (error) => {
    const scope = exchangeScope()
    if (scope !== undefined) {
      scope.fail(error)
      return
    }
    log.error({ err: error }, 'the server has failed outside of any exchange and ends')
    exit()
  })
}
