import type { Clock, Timer } from '../clock.ts'

/** Number of equal parts of the wait. */
const parts = 4

/**
 * Calls back when the other side has used up its time for an answer. Delays of this process do not count against the other
 * side: any period in which this process was blocked counts as one part, and arrived data is read before the callback.
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

/** Calls back after pending input is processed: in a busy process a timer fires before an answer that has already arrived is read. */
function afterLastLook(callback: () => void): void {
  setImmediate(() => setImmediate(callback))
}
