import type { Clock, Timer, TimerOptions } from './clock.ts'
import type { WorkqueueMetrics } from './workqueue-metrics.ts'

export interface WorkqueueOptions {
  /** The name in metrics. Queues that are open at the same time must have different names. */
  readonly name: string
  readonly metrics: WorkqueueMetrics
  /** Processes one key. A failed key is retried with growing delays. */
  readonly work: (key: string) => Promise<void>
  /** `failures` is the number of consecutive failures of the key, including this one. */
  readonly onError: (key: string, error: unknown, failures: number) => void
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  /** Ends the queue. Later failures are ignored, since their work was interrupted. */
  readonly signal: AbortSignal
  /** Number of keys that are processed in parallel. */
  readonly workersMax: number
  /** Pause before the first retry; each failure doubles it. Default: 20 ms. */
  readonly backoffFirstMs?: number | undefined
  /** Maximum pause before a retry. Default: 30 s. */
  readonly backoffMaxMs?: number | undefined
  /** Maximum number of retries after consecutive failures; then the key waits until it is added again. Default: unlimited. */
  readonly retriesMax?: number | undefined
}

/**
 * Keys that need work. A key waits at most once and is never processed twice at the same time. A key that is added during
 * its work is processed again afterwards.
 */
export interface Workqueue {
  add(key: string): void
  /** If a key has several delays, the earliest applies; among equal ones, a foreground delay applies. */
  addAfter(key: string, delayMs: number, options?: TimerOptions): void
  /** Accepts no more keys. Resolves when the work in progress is done. */
  close(): Promise<void>
}

const defaultBackoffFirstMs = 20
const defaultBackoffMaxMs = 30_000
/** Number of failures after which an automatic clock does not advance to the next retry, since it would never stop. */
const hopefulFailures = 10

/** An empty queue. */
export function createWorkqueue({
  name,
  metrics,
  work,
  onError,
  clock,
  random,
  signal,
  workersMax,
  backoffFirstMs = defaultBackoffFirstMs,
  backoffMaxMs = defaultBackoffMaxMs,
  retriesMax = Number.POSITIVE_INFINITY,
}: WorkqueueOptions): Workqueue {
  const waiting = new Set<string>()
  const working = new Map<string, Promise<void>>()
  const again = new Set<string>()
  const timers = new Map<string, Timer & { readonly dueMs: number; readonly isBackground: boolean }>()
  const failures = new Map<string, number>()
  const counts = metrics.open(name)
  const what = `queue ${name}`
  let isClosed = false
  const isOver = () => isClosed || signal.aborted

  const add = (key: string) => {
    if (isOver()) return
    timers.get(key)?.cancel()
    timers.delete(key)
    counts.added(key)
    if (working.has(key)) again.add(key)
    else if (!waiting.has(key)) {
      waiting.add(key)
      clock.work?.begin(what)
    }
    pump()
  }
  const addAfter = (key: string, delayMs: number, options?: TimerOptions) => {
    const dueMs = clock.monotonic() + delayMs
    const set = timers.get(key)
    const isBackground = options?.background === true || options?.watches !== undefined
    if (isOver() || waiting.has(key)) return
    if (set !== undefined && (set.dueMs < dueMs || (set.dueMs === dueMs && (isBackground || !set.isBackground)))) return
    set?.cancel()
    const timer = clock.after(delayMs, () => add(key), options)
    timers.set(key, { dueMs, isBackground, cancel: () => timer.cancel() })
  }
  const pump = () => {
    for (const key of waiting) {
      if (working.size >= workersMax) return
      waiting.delete(key)
      working.set(key, runOne(key))
    }
  }
  const runOne = async (key: string) => {
    try {
      // Lets the caller finish several changes before work begins.
      await undefined
      counts.begun(key)
      await work(key)
      failures.delete(key)
    } catch (error) {
      const count = failures.get(key) ?? 0
      if (!isOver()) onError(key, error, count + 1)
      if (count >= retriesMax) {
        failures.delete(key)
        return
      }
      failures.set(key, count + 1)
      counts.retried()
      const delayMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** count) * (0.5 + random() / 2)
      addAfter(key, delayMs, { background: count >= hopefulFailures })
    } finally {
      counts.ended(key)
      working.delete(key)
      clock.work?.end(what)
      if (again.delete(key)) add(key)
      else if (!isOver()) pump()
    }
  }
  return {
    add,
    addAfter,
    async close() {
      isClosed = true
      for (const _ of waiting) clock.work?.end(what)
      waiting.clear()
      again.clear()
      counts.emptied()
      for (const timer of timers.values()) timer.cancel()
      timers.clear()
      await Promise.all(working.values())
    },
  }
}
