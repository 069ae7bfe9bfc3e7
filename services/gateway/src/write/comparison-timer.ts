import type { ComparisonTimer } from '@orch/core/catalogue'
import type { Clock } from '@orch/platform'

/** Adds up how long comparisons take; those that are part of another are in its time. */
export function createComparisonTimer(clock: Clock, onEnd: (durationMs: number) => void): ComparisonTimer {
  let spentMs = 0
  let isTiming = false
  return {
    time(compare) {
      if (isTiming) return compare()
      isTiming = true
      const startedMs = clock.monotonic()
      try {
        return compare()
      } finally {
        spentMs += clock.monotonic() - startedMs
        isTiming = false
      }
    },
    end: () => onEnd(spentMs),
  }
}
