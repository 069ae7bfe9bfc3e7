import type { Clock } from './clock.ts'

/** Interval of lines about one thing: often enough to be seen, seldom enough to leave room for others. */
const intervalMs = 60_000
/** Things that are remembered; beyond it all are forgotten, and each may have a line again. */
const thingsMax = 1_000

/** Bounds lines of a log about things that fail again and again: one for each thing and minute. */
export class RareLines {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #things = new Map<string, { readonly untilMs: number; left: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Calls `write` if a line about the thing is due, with the number of lines left out since the last one. */
  note(thing: string, write: (leftOut: number) => void): void {
    const nowMs = this.#clock.monotonic()
    const known = this.#things.get(thing)
    if (known !== undefined && nowMs < known.untilMs) {
      known.left += 1
      return
    }
    if (known === undefined && this.#things.size >= thingsMax) this.#things.clear()
    this.#things.set(thing, { untilMs: nowMs + intervalMs, left: 0 })
    write(known?.left ?? 0)
  }
}
