import type { Clock, Timer } from '../clock.ts'

/** Number of parts that the other side's time is divided into. */
const parts = 4

/**
 * Calls back when the other side has had its time for an answer. This process's own delay is not the other side's
 * fault: of a time in which it did not run only a part counts, and data that has arrived by then is read before the callback.
 *
 *   1 s given, this process is busy from 0.1 s to 5 s:   ├ 0.25 ┤ … counted once, then three more parts, so that it ends at 5.75 s
 */
export function afterPatience(clock: Clock, delayMs: number, callback: () => void): Timer {
  let left = parts
  let isCancelled = false
  const next = (): Timer =>
    clock.after(delayMs / parts, () => {
      left -= 1
      if (left > 0) timer = next()
      else afterLastLook(() => (isCancelled ? undefined : callback()))
    })
  let timer = next()
  return {
    cancel() {
      isCancelled = true
      timer.cancel()
    },
  }
}

/** A process that was busy hears of its timers first, though the answer that they are for may be there. */
function afterLastLook(callback: () => void): void {
  setImmediate(() => setImmediate(callback))
}
