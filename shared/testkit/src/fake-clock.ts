import { type Clock, TimerQueue } from '@orch/platform'

/**
 * A clock that stands still until a test moves it. Moving it calls the due timers in the order of their times.
 *
 *   const clock = createFakeClock()
 *   clock.after(10, ring)
 *   clock.advance(9)   // silence
 *   clock.advance(1)   // ring() is called
 */
export interface FakeClock extends Clock {
  advance(byMs: number): void
  /** Sets only the wall clock, as an administrator would; timers are not affected. */
  setNow(toMs: number): void
  /** The number of timers that are set and not yet due. */
  readonly pendingTimers: number
}

/** A fake clock whose wall time starts at the given moment. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new TimerQueue()
  let elapsedMs = 0
  let offsetMs = startMs
  return {
    now: () => offsetMs + elapsedMs,
    monotonic: () => elapsedMs,
    after: (delayMs, callback) => timers.add({ dueMs: elapsedMs + Math.max(0, delayMs), background: false, callback }),
    every(intervalMs, callback) {
      const ring = () => {
        timer = setTimer()
        callback()
      }
      const setTimer = () => timers.add({ dueMs: elapsedMs + intervalMs, background: true, callback: ring })
      let timer = setTimer()
      return { cancel: () => timer.cancel() }
    },
    advance(byMs) {
      const limitMs = elapsedMs + byMs
      for (let { first } = timers; first !== undefined && first.dueMs <= limitMs; first = timers.first) {
        elapsedMs = Math.max(elapsedMs, first.dueMs)
        timers.takeDue(first.dueMs)
        first.callback()
      }
      elapsedMs = limitMs
    },
    setNow(toMs) {
      offsetMs = toMs - elapsedMs
    },
    get pendingTimers() {
      return timers.size
    },
  }
}
