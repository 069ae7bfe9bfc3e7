import type { Clock } from './clock.ts'

/** Interval of lines about one thing: often enough to be seen, and seldom enough not to flood the log. */
const intervalMs = 60_000
/** Maximum number of remembered things; when it is reached all are forgotten, and each may log again. */
const thingsMax = 1_000

/** Limits log lines about repeated failures to one per thing and minute. */
export class RareLines {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #things = new Map<string, { readonly untilMs: number; left: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Calls `write` if a line about the thing is due, with the number of lines skipped since the last one. */
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
