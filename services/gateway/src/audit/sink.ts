import { type Clock, type Log, onAbort, sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import type { Surroundings } from '../surroundings.ts'
import type { AuditEvent } from './event.ts'
import type { AuditMetrics } from './metrics.ts'

/** Destination of events: a file, a webhook. */
export interface AuditDelivery {
  /** The label of the sink's metrics. */
  readonly name: string
  /** Resolves when the events are stored, and rejects otherwise. */
  deliver(events: readonly AuditEvent[]): Promise<void>
  close(): Promise<void>
}

/** Queues events for a delivery: blocking, blocking and strict, or in batches. */
export interface AuditSink {
  /** Queues an event. The request waits for a returned promise; only that of a strict sink rejects. */
  take(event: AuditEvent): Promise<void> | undefined
  /** Resolves when there is space for more events; undefined if there is space now. */
  room(): Promise<void> | undefined
  close(): Promise<void>
}

/** Dependencies of every sink. */
export interface SinkSurroundings extends Pick<Surroundings, 'clock' | 'log' | 'random'> {
  readonly metrics: AuditMetrics
}

/** Delivers each event before its request continues. `isStrict`: the request fails with its event. */
export class BlockingSink implements AuditSink {
  readonly #delivery: AuditDelivery
  readonly #isStrict: boolean
  readonly #clock: Clock
  readonly #losses: Losses
  readonly #waiting = new Set<Promise<void>>()

  constructor(delivery: AuditDelivery, isStrict: boolean, { clock, log, metrics }: SinkSurroundings) {
    this.#delivery = delivery
    this.#isStrict = isStrict
    this.#clock = clock
    this.#losses = new Losses(delivery.name, { log, metrics })
  }

  take(event: AuditEvent): Promise<void> {
    const done = this.#delivery.deliver([event]).catch((error: unknown) => {
      this.#losses.add(1, error)
      if (this.#isStrict) throw error
    })
    const settled = done.catch(() => {}).finally(() => this.#waiting.delete(settled))
    this.#waiting.add(settled)
    return done
  }

  room(): Promise<void> | undefined {
    return this.#waiting.size < limits.auditBlockedEventsMax ? undefined : Promise.race(this.#waiting)
  }

  async close(): Promise<void> {
    await endsInTime(Promise.all(this.#waiting), this.#clock)
    await this.#delivery.close()
  }
}

/** Bounds and intervals of a batch sink. */
export interface BatchOptions {
  /** Maximum number of waiting events. Further events are dropped, counted and logged; a request never waits. */
  readonly bufferEventsMax: number
  readonly batchEventsMax: number
  /** Maximum time that events wait for a full batch. */
  readonly waitMs: number
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
  /** Delay before the second attempt, which grows by half with each further one. */
  readonly backoffMs: number
}

/** Keeps events in a bounded buffer and delivers them in batches, one batch at a time. */
export class BatchSink implements AuditSink {
  readonly #delivery: AuditDelivery
  readonly #options: BatchOptions
  readonly #surroundings: SinkSurroundings
  readonly #losses: Losses
  readonly #throttle: Throttle
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #buffer: AuditEvent[] = []
  #onEvent: (() => void) | undefined

  constructor(delivery: AuditDelivery, options: BatchOptions, surroundings: SinkSurroundings) {
    this.#delivery = delivery
    this.#options = options
    this.#surroundings = surroundings
    this.#losses = new Losses(delivery.name, surroundings)
    this.#throttle = new Throttle(options.throttle, surroundings.clock)
    this.#running = this.#run()
  }

  take(event: AuditEvent): undefined {
    const { bufferEventsMax } = this.#options
    if (this.#buffer.length >= bufferEventsMax || this.#closing.signal.aborted) {
      this.#losses.add(1, new Error(`the buffer of ${bufferEventsMax} events is full`))
      return
    }
    this.#buffer.push(event)
    this.#onEvent?.()
  }

  room(): undefined {}

  async close(): Promise<void> {
    this.#closing.abort()
    this.#onEvent?.()
    if (!(await endsInTime(this.#running, this.#surroundings.clock))) {
      const left = this.#buffer.length
      this.#buffer = []
      if (left > 0) this.#losses.add(left, new Error('the backend takes too long and the server stops'))
    }
    await this.#delivery.close()
  }

  async #run(): Promise<void> {
    const { clock } = this.#surroundings
    const { signal } = this.#closing
    while (!signal.aborted || this.#buffer.length > 0) {
      await this.#filled()
      const batch = this.#buffer.slice(0, this.#options.batchEventsMax)
      this.#buffer = this.#buffer.slice(batch.length)
      if (batch.length === 0) continue
      const pauseMs = this.#throttle.nextPauseMs()
      if (pauseMs > 0) await sleep(clock, pauseMs, signal)
      await this.#send(batch)
    }
  }

  /** Resolves when a batch is full, when its events have waited long enough, or when the sink closes. */
  async #filled(): Promise<void> {
    const { batchEventsMax, waitMs } = this.#options
    const { signal } = this.#closing
    while (this.#buffer.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (this.#onEvent = resolve))
    if (this.#buffer.length >= batchEventsMax || waitMs === 0 || signal.aborted) return
    const full = new AbortController()
    const end = () => full.abort()
    this.#onEvent = () => this.#buffer.length >= batchEventsMax && end()
    onAbort(signal, end)
    await sleep(this.#surroundings.clock, waitMs, full.signal)
    signal.removeEventListener('abort', end)
    this.#onEvent = undefined
  }

  async #send(batch: readonly AuditEvent[]): Promise<void> {
    const { clock, random } = this.#surroundings
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#delivery.deliver(batch)
      } catch (error) {
        if (attempt >= limits.auditAttemptsMax || this.#closing.signal.aborted) return this.#losses.add(batch.length, error)
        const pauseMs = this.#options.backoffMs * 1.5 ** (attempt - 1) * (1 + 0.2 * random())
        await sleep(clock, pauseMs, this.#closing.signal)
      }
    }
  }
}

/** False if the work takes longer than a stopping server can wait. */
export async function endsInTime(work: Promise<unknown>, clock: Clock): Promise<boolean> {
  const ended = new AbortController()
  const late = sleep(clock, limits.auditClosingMs, ended.signal).then(() => false)
  const inTime = await Promise.race([work.then(() => true), late])
  ended.abort()
  return inTime
}

/** A token bucket: tokens arrive at a rate and accumulate up to the burst; a batch takes one. */
class Throttle {
  readonly #options: BatchOptions['throttle']
  readonly #clock: Clock
  readonly #burst: number
  #tokens: number
  #atMs: number

  constructor(options: BatchOptions['throttle'], clock: Clock) {
    this.#options = options
    this.#clock = clock
    this.#burst = Math.max(1, options?.burst ?? 1)
    this.#tokens = this.#burst
    this.#atMs = clock.monotonic()
  }

  /** Takes a token; returns the milliseconds until the batch may be sent. */
  nextPauseMs(): number {
    const perSecond = this.#options?.perSecond ?? 0
    if (perSecond <= 0) return 0
    const nowMs = this.#clock.monotonic()
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * perSecond) - 1
    this.#atMs = nowMs
    return this.#tokens >= 0 ? 0 : (-this.#tokens / perSecond) * 1000
  }
}

/** Counts lost events. A broken backend loses thousands: the log gets the first loss, and then a sum at intervals. */
class Losses {
  readonly #backend: string
  readonly #log: Log
  readonly #metrics: AuditMetrics
  #unlogged = 0
  #total = 0

  constructor(backend: string, { log, metrics }: Pick<SinkSurroundings, 'log' | 'metrics'>) {
    this.#backend = backend
    this.#log = log
    this.#metrics = metrics
  }

  add(count: number, error: unknown): void {
    this.#metrics.lost(this.#backend, count)
    this.#unlogged += count
    if (this.#total > 0 && this.#unlogged < limits.auditLossesPerLine) return
    this.#total += this.#unlogged
    this.#log.error({ err: error, backend: this.#backend, events: this.#unlogged, total: this.#total }, 'audit events were lost')
    this.#unlogged = 0
  }
}
