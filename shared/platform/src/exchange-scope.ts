import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

/** The exchange in whose course a callback runs: it has begun the timer or the promise that called it. */
export interface ExchangeScope {
  /** Reports the failure and ends the exchange. */
  fail(error: unknown): void
}

const scopes = new AsyncLocalStorage<ExchangeScope | undefined>()

/** The scope of the present callback. */
export function exchangeScope(): ExchangeScope | undefined {
  return scopes.getStore()
}

export function runInScope<T>(scope: ExchangeScope | undefined, callback: () => T): T {
  return scopes.run(scope, callback)
}

/** For work that exchanges share, though one of them begins it: its failure is the server's. */
export function runOutsideExchanges<T>(callback: () => T): T {
  return scopes.run(undefined, callback)
}

/** The report of uncaught errors of a process, and its exit. */
export interface LastResort {
  readonly source: { on(event: 'uncaughtException', listener: (error: Error) => void): unknown }
  readonly log: Pick<Log, 'error'>
  exit(): void
}

/**
 * The last resort of a server's own process, for exceptions and rejections that nothing has caught. One that belongs to an exchange ends
 * that exchange. One that belongs to none is a mistake of the server in a state that is not known any more: it is logged, and the
 * process ends with code 1, to be started again. Servers in the process of a test (`start()`) do not install it.
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
