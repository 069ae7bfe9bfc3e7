import type { Clock, Timer } from '@orch/platform'

/** Counts the timers of the returned clock, without series. */
export function countTimers(clock: Clock) {
  const open = new Set<Timer>()
  const { work, isVirtual = false } = clock
  const counting: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    every: (intervalMs, callback) => clock.every(intervalMs, callback),
    after(delayMs, callback, options) {
      const ring = () => {
        open.delete(counted)
        callback()
      }
      const timer = clock.after(delayMs, ring, options)
      const counted: Timer = {
        cancel() {
          open.delete(counted)
          timer.cancel()
        },
      }
      open.add(counted)
      return counted
    },
    work,
    isVirtual,
  }
  return {
    clock: counting,
    /** Timers that have neither fired nor been cancelled. */
    get open() {
      return open.size
    },
  }
}
