import { EventEmitter } from 'node:events'
import { memo } from '@orch/core/memo'
import type { Counter } from 'prom-client'
import { type ExchangeScope, runInScope } from './exchange-scope.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** The kind of exchange that a listener belongs to. It is a metric label, so there are few values. */
export type GuardedPlace = 'connection' | 'request' | 'stream' | 'upgrade' | 'backend' | 'probe' | 'call'

/**
 * Keeps a failure in one exchange from ending the process. An uncaught exception in a listener ends the exchange or
 * the connection that the listener belongs to, and is reported.
 *
 *   guard.run('stream', () => stream.destroy(), () => serve(stream))   one call, with its promises
 *   guard.watch(socket, 'connection', () => socket.destroy())          all listeners of an emitter, including those of libraries
 */
export class Guard {
  readonly #report: (error: unknown, place: GuardedPlace) => void

  /** `report` is called once for each failure, before the exchange is ended. */
  constructor(report: (error: unknown, place: GuardedPlace) => void) {
    this.#report = report
  }

  /** Calls a listener. `end` is called if it throws or if its promise rejects. */
  run(place: GuardedPlace, end: () => void, listener: () => void | Promise<void>): void {
    try {
      listener()?.catch((error: unknown) => this.#fail(error, place, end))
    } catch (error) {
      this.#fail(error, place, end)
    }
  }

  /**
   * Like `run`, for a whole exchange: later errors in its timers and promises also count as its failure if the process has a last resort
   * (`endOnFailure`). `end` stays in memory as long as any timer or promise of the exchange, so it should refer to little.
   */
  runExchange(place: GuardedPlace, end: () => void, listener: () => void | Promise<void>): void {
    const scope: ExchangeScope = { fail: (error) => this.#fail(error, place, end) }
    runInScope(scope, () => this.run(place, end, listener))
  }

  /** Guards all present and future listeners of an emitter, including those of libraries. An `error` event without a listener is a failure. */
  watch<E extends EventEmitter>(emitter: E, place: GuardedPlace, end: () => void): E {
    Reflect.set(emitter, 'emit', this.#guarded(place, end))
    return emitter
  }

  /** Like `watch`, for all emitters of a class, which must not override `emit`. */
  watchAll<E extends EventEmitter>(emitters: { readonly prototype: E }, place: GuardedPlace, end: (emitter: E) => void): void {
    Reflect.set(emitters.prototype, 'emit', this.#guarded(place, end))
  }

  #guarded<E extends EventEmitter>(place: GuardedPlace, end: (emitter: E) => void) {
    const fail = (error: unknown, emitter: E) => this.#fail(error, place, () => end(emitter))
    return function (this: E, ...event: Parameters<typeof emit>): boolean {
      try {
        return emit.apply(this, event)
      } catch (error) {
        fail(error, this)
        return true
      }
    }
  }

  #fail(error: unknown, place: GuardedPlace, end: () => void): void {
    this.#report(error, place)
    try {
      end()
    } catch (second) {
      this.#report(second, place)
    }
  }
}

const { emit } = EventEmitter.prototype

/** The log and the metrics for failures. */
export interface FailureReport {
  readonly log: Pick<Log, 'error'>
  /** Returns the metrics; undefined while the process is starting. */
  readonly metrics: () => Metrics | undefined
}

/** A guard that writes each failure to the log and counts it. */
export function createGuard({ log, metrics }: FailureReport): Guard {
  const present = metrics()
  if (present !== undefined) counterOf(present)
  return new Guard((error, place) => {
    log.error({ err: error, place }, 'an exchange has failed and was ended')
    const counted = metrics()
    if (counted !== undefined) counterOf(counted).inc({ place })
  })
}

/** One counter shared by all guards of a process. */
const counterOf = memo(
  (metrics: Metrics): Counter<'place'> =>
    metrics.counter({
      name: 'orch_exchange_failures_total',
      help: 'Exchanges and connections that were ended because of an exception, by kind.',
      labels: ['place'],
    }),
)
