/**
 * Calls back when what has arrived so far has been read. A process that was busy for longer than a timer runs hears of the timer
 * first, though the answer that the timer is for may be there.
 */
export function afterLastLook(callback: () => void): void {
  setImmediate(() => setImmediate(callback))
}
