import { onAbort } from './abort.ts'

/** A pending timer that can be cancelled. */
export interface Timer {
  cancel(): void
}

/** A series of periodic timers that other timers check, such as the status reports of nodes, which the node lifecycle checks. */
export type TimerSeries = 'node reports'

/** Marks a timer for a clock that runs by itself. */
export interface TimerOptions {
  /** The timer belongs to endless work such as a resync: `virtualClock({ auto: true })` does not advance for it. */
  readonly background?: boolean
  /**
   * The timer belongs to an endless periodic series, such as bookmarks; it is always a background timer. When a virtual clock
   * passes time without other timers, the series fires once at its next time and once at the end.
   */
  readonly repeats?: boolean
  /** The series of a repeating timer, if other timers check it. */
  readonly series?: TimerSeries
  /**
   * The timer checks whether this series has ended; it is always a background timer. A virtual clock fires it after the due timers of the series,
   * and passes time without firing other series.
   */
  readonly watches?: TimerSeries
}

/** Work in progress, by name. A manual clock waits until all work has ended. */
export interface WorkCounter {
  begin(what: string): void
  end(what: string): void
  /** Polls in each turn of the event loop whether something is busy, until the returned function is called. */
  follow(what: string, isBusy: () => boolean): () => void
}

/** The clock of services. Tests pass one that they control. */
export interface Clock {
  /** Milliseconds since 1970; may jump if the machine's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary moment; never decreases. */
  monotonic(): number
  /** Calls back once. The timer does not keep the process alive. */
  after(delayMs: number, callback: () => void, options?: TimerOptions): Timer
  /** Calls back repeatedly, as a series of repeating timers. The timer does not keep the process alive. */
  every(intervalMs: number, callback: () => void): Timer
  /** Counts the work in progress. Absent if nothing waits for the work to end. */
  readonly work?: WorkCounter | undefined
  /** True if a test controls the time, so that it is unrelated to the dates of other programs. */
  readonly isVirtual?: boolean
}

/** The longest timer of Node, 25 days; Node fires a longer one at once. */
const timeoutMsMax = 2 ** 31 - 1

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const dueMs = performance.now() + delayMs
    let timer: NodeJS.Timeout
    // Node counts whole milliseconds, so its timer may be early by two: a deadline would not have passed yet.
    const look = () => {
      const leftMs = dueMs - performance.now()
      if (leftMs < 1) callback()
      else begin(leftMs)
    }
    // On a busy machine the deadline may have passed; Node warns about negative delays.
    const begin = (leftMs: number) => {
      timer = setTimeout(look, Math.min(Math.max(0, leftMs), timeoutMsMax)).unref()
    }
    begin(delayMs)
    return { cancel: () => clearTimeout(timer) }
  },
  every(intervalMs, callback) {
    const timer = setInterval(callback, intervalMs)
    timer.unref()
    return { cancel: () => clearInterval(timer) }
  },
}

/** Resolves after the delay, or at once when the signal is raised. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.after(delayMs, end, options)
    onAbort(signal, end)
  })
}

/** A signal that is aborted after the delay. `AbortSignal.timeout` throws for a fraction of a millisecond, and counts only to 25 days. */
export function timeoutSignal(clock: Clock, delayMs: number): AbortSignal {
  const late = new AbortController()
  clock.after(delayMs, () => late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), { background: true })
  return late.signal
}
