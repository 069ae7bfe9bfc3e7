import type { Clock, Timer } from '@orch/platform'

/** A clock that counts its pending one-shot timers. */
export interface CountedTimers {
  readonly clock: Clock
  /** Timers that have neither fired nor been cancelled. */
  readonly open: number
}

/** Counts the timers of the returned clock, without series. */
export function countTimers(clock: Clock): CountedTimers {
  const open = new Set<Timer>()
  const { work, isVirtual = false } = clock
  return {
    clock: {
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
    },
    get open() {
      return open.size
    },
  }
}
