/** A timer that has been set and may still be taken back. */
export interface Timer {
  cancel(): void
}

/** Time, as services see it. Tests pass a clock that they move themselves. */
export interface Clock {
  /** Milliseconds since 1970; may jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some moment; never goes back. */
  monotonic(): number
  /** Calls back once. Such a timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer
  /** Calls back again and again. Such a timer does not keep the process alive. */
  every(intervalMs: number, callback: () => void): Timer
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  every(intervalMs, callback) {
    const timer = setInterval(callback, intervalMs)
    timer.unref()
    return { cancel: () => clearInterval(timer) }
  },
}

/** Resolves after the delay, or at once when the signal is raised; it never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.after(delayMs, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}
