import { type Clock, type Log, sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import type { AuditEvent } from './event.ts'
import type { AuditMetrics } from './metrics.ts'

/** Where events go in the end: a file, a webhook. */
export interface AuditDelivery {
  /** Label of its metrics. */
  readonly name: string
  /** Resolves when the events are kept; rejects when they are not. */
  deliver(events: readonly AuditEvent[]): Promise<void>
  close(): Promise<void>
}

/** Takes events on behalf of a delivery, in one of three ways. */
export interface AuditSink {
  /** Takes an event. Where there is a promise, the request waits for it; only that of a strict sink rejects. */
  take(event: AuditEvent): Promise<void> | undefined
  /** What to wait for before more is taken. */
  room(): Promise<void> | undefined
  close(): Promise<void>
}

/** What every sink needs. */
export interface SinkSurroundings {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: AuditMetrics
  /** From 0 to 1. */
  readonly random: () => number
}

/** Each event is delivered before its request goes on. `isStrict`: the request fails with its event. */
export function createBlockingSink(delivery: AuditDelivery, isStrict: boolean, { clock, log, metrics }: SinkSurroundings): AuditSink {
  const tell = createLossTeller(delivery.name, { log, metrics })
  const waiting = new Set<Promise<void>>()
  return {
    take(event) {
      const done = delivery.deliver([event]).catch((error: unknown) => {
        tell(1, error)
        if (isStrict) throw error
      })
      const settled = done.catch(() => {}).finally(() => waiting.delete(settled))
      waiting.add(settled)
      return done
    },
    room: () => (waiting.size < limits.auditBlockedEventsMax ? undefined : Promise.race(waiting)),
    async close() {
      await endsInTime(Promise.all(waiting), clock)
      await delivery.close()
    },
  }
}

export interface BatchOptions {
  /** Events that may wait. What comes when they do is lost, counted and told: a request never waits. */
  readonly bufferEventsMax: number
  readonly batchEventsMax: number
  /** Longest that events wait for a batch to fill. */
  readonly waitMs: number
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
  /** Pause before the second attempt; each later one is half as long again. */
  readonly backoffMs: number
}

/** Events wait in a bounded buffer and are delivered in batches, one batch at a time. */
export function createBatchSink(
  delivery: AuditDelivery,
  options: BatchOptions,
  { clock, log, metrics, random }: SinkSurroundings,
): AuditSink {
  const tell = createLossTeller(delivery.name, { log, metrics })
  const closing = new AbortController()
  const throttle = createThrottle(options.throttle, clock)
  let buffer: AuditEvent[] = []
  let wake: (() => void) | undefined

  const filled = async (): Promise<void> => {
    while (buffer.length === 0 && !closing.signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
    if (buffer.length >= options.batchEventsMax || options.waitMs === 0 || closing.signal.aborted) return
    const full = new AbortController()
    const end = () => full.abort()
    wake = () => buffer.length >= options.batchEventsMax && end()
    closing.signal.addEventListener('abort', end, { once: true })
    await sleep(clock, options.waitMs, full.signal)
    closing.signal.removeEventListener('abort', end)
    wake = undefined
  }
  const send = async (batch: readonly AuditEvent[]): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await delivery.deliver(batch)
      } catch (error) {
        if (attempt >= limits.auditAttemptsMax || closing.signal.aborted) return tell(batch.length, error)
        const pauseMs = options.backoffMs * 1.5 ** (attempt - 1) * (1 + 0.2 * random())
        await sleep(clock, pauseMs, closing.signal)
      }
    }
  }
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted || buffer.length > 0) {
      await filled()
      const batch = buffer.slice(0, options.batchEventsMax)
      buffer = buffer.slice(batch.length)
      if (batch.length === 0) continue
      const pauseMs = throttle()
      if (pauseMs > 0) await sleep(clock, pauseMs, closing.signal)
      await send(batch)
    }
  }
  const running = run()
  return {
    take(event) {
      if (buffer.length >= options.bufferEventsMax || closing.signal.aborted) {
        tell(1, new Error(`the buffer of ${options.bufferEventsMax} events is full`))
        return undefined
      }
      buffer.push(event)
      wake?.()
      return undefined
    },
    room: () => undefined,
    async close() {
      closing.abort()
      wake?.()
      if (!(await endsInTime(running, clock))) {
        const left = buffer.length
        buffer = []
        if (left > 0) tell(left, new Error('the backend takes too long and the server stops'))
      }
      await delivery.close()
    },
  }
}

/** False: it has taken longer than a server that stops can wait. */
async function endsInTime(work: Promise<unknown>, clock: Clock): Promise<boolean> {
  const ended = new AbortController()
  const late = sleep(clock, limits.auditClosingMs, ended.signal).then(() => false)
  const inTime = await Promise.race([work.then(() => true), late])
  ended.abort()
  return inTime
}

/** Milliseconds until the next batch may leave: tokens come at a rate and pile up to the burst. */
function createThrottle(options: BatchOptions['throttle'], clock: Clock): () => number {
  if (options === undefined || options.perSecond <= 0) return () => 0
  const burst = Math.max(1, options.burst)
  let tokens = burst
  let atMs = clock.monotonic()
  return () => {
    const nowMs = clock.monotonic()
    tokens = Math.min(burst, tokens + ((nowMs - atMs) / 1000) * options.perSecond)
    atMs = nowMs
    tokens -= 1
    return tokens >= 0 ? 0 : (-tokens / options.perSecond) * 1000
  }
}

/** Counts what is lost. A broken backend loses thousands: the log is told of the first, then of a sum from time to time. */
function createLossTeller(name: string, { log, metrics }: Pick<SinkSurroundings, 'log' | 'metrics'>) {
  let untold = 0
  let total = 0
  return (count: number, error: unknown): void => {
    metrics.lost(name, count)
    untold += count
    if (total > 0 && untold < limits.auditLossesPerLine) return
    total += untold
    log.error({ err: error, backend: name, events: untold, total }, 'audit events were lost')
    untold = 0
  }
}
