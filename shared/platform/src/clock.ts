/** A timer that has been set and can still be cancelled. */
export interface Timer {
  cancel(): void
}

/** Series that other timers look at: the reports of nodes, for which the lifecycle of nodes looks. */
export type TimerSeries = 'node reports'

/** Marks a timer for a clock that runs by itself. */
export interface TimerOptions {
  /** The timer belongs to work that never ends, such as a resync: `virtualClock({ auto: true })` does not run on for it. */
  readonly background?: boolean
  /**
   * The timer is one of a series that goes on whatever happens, such as bookmarks; always a background timer. In time that a virtual clock
   * passes without other timers, the series rings once at its own time and once at the end.
   */
  readonly repeats?: boolean
  /** The series of a timer that repeats, where timers look at it. */
  readonly series?: TimerSeries
  /**
   * The timer checks whether this series has ended; always a background timer. A virtual clock rings it after the timers of the series that
   * are due by then, and time continues to pass without other series.
   */
  readonly watches?: TimerSeries
}

/** Work in progress, by name. A clock that is moved by hand waits until all of it has ended. */
export interface WorkCounter {
  begin(what: string): void
  end(what: string): void
  /** Asks in each turn of the event loop whether something is busy, until the returned function is called. */
  follow(what: string, isBusy: () => boolean): () => void
}

/** Time, as services see it. Tests pass a clock that they move themselves. */
export interface Clock {
  /** Milliseconds since 1970; may jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some moment; never decreases. */
  monotonic(): number
  /** Calls back once. Such a timer does not keep the process alive. */
  after(delayMs: number, callback: () => void, options?: TimerOptions): Timer
  /** Calls back again and again: a series, as of timers that repeat. Such a timer does not keep the process alive. */
  every(intervalMs: number, callback: () => void): Timer
  /** Counts the work that is in progress. Absent where no caller waits for it. */
  readonly work?: WorkCounter | undefined
  /** Time is moved by a test, so that it says nothing about the dates that other programs see. */
  readonly isVirtual?: boolean
}

/** Longest timer of Node, 25 days: a longer one would ring at once. */
const timeoutMsMax = 2 ** 31 - 1

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    let timer: NodeJS.Timeout
    // A deadline may have passed on a busy machine, and Node warns of a time below zero.
    const begin = (leftMs: number) => {
      const rest = leftMs - timeoutMsMax
      timer = rest > 0 ? setTimeout(() => begin(rest), timeoutMsMax) : setTimeout(callback, Math.max(0, leftMs))
      timer.unref()
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

/** Resolves after the delay, or at once when the signal is raised; it never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.after(delayMs, end, options)
    signal?.addEventListener('abort', end, { once: true })
  })
}
