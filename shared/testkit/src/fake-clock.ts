import type { Clock, Timer } from '@orch/platform'

interface Pending {
  dueMs: number
  readonly intervalMs: number | undefined
  readonly callback: () => void
}

/**
 * A clock that stands still until a test moves it. Timers due on the way are called in the order of their times.
 *
 *   const clock = createFakeClock()
 *   clock.after(10, ring)
 *   clock.advance(9)   // silence
 *   clock.advance(1)   // ring() is called
 */
export interface FakeClock extends Clock {
  advance(byMs: number): void
  /** Sets the wall clock alone, as an administrator would; timers do not notice. */
  setNow(toMs: number): void
  /** Timers that have been set and not yet rung. */
  readonly pendingTimers: number
}

/** A fake clock whose wall time starts at the given moment. */
export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const pending = new Set<Pending>()
  let elapsedMs = 0
  let offsetMs = startMs
  const add = (entry: Pending): Timer => {
    pending.add(entry)
    return { cancel: () => void pending.delete(entry) }
  }
  const nextDue = (limitMs: number): Pending | undefined => {
    let first: Pending | undefined
    for (const entry of pending) if (entry.dueMs <= limitMs && (first === undefined || entry.dueMs < first.dueMs)) first = entry
    return first
  }
  return {
    now: () => offsetMs + elapsedMs,
    monotonic: () => elapsedMs,
    after: (delayMs, callback) => add({ dueMs: elapsedMs + Math.max(0, delayMs), intervalMs: undefined, callback }),
    every: (intervalMs, callback) => add({ dueMs: elapsedMs + intervalMs, intervalMs, callback }),
    advance(byMs) {
      const limitMs = elapsedMs + byMs
      for (let entry = nextDue(limitMs); entry !== undefined; entry = nextDue(limitMs)) {
        elapsedMs = Math.max(elapsedMs, entry.dueMs)
        if (entry.intervalMs === undefined) pending.delete(entry)
        else entry.dueMs += entry.intervalMs
        entry.callback()
      }
      elapsedMs = limitMs
    },
    setNow(toMs) {
      offsetMs = toMs - elapsedMs
    },
    get pendingTimers() {
      return pending.size
    },
  }
}
