import { at } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { changeRevisionsMax } from '../limits.ts'

/**
 * The revisions of the last changes, so that each change can name its predecessor.
 *
 *   floor 10 (a change), then 12 15 20      before(13) → 12     before(12) → 10     before(10) → unknown
 */
export class ChangeRevisions {
  #floor: Revision
  #revisions: Revision[] = []

  constructor(last: Revision) {
    this.#floor = last
  }

  /** Revision of the last change. */
  get last(): Revision {
    return this.#revisions.at(-1) ?? this.#floor
  }

  push(revision: Revision): void {
    this.#revisions.push(revision)
    if (this.#revisions.length < changeRevisionsMax) return
    const half = changeRevisionsMax / 2
    this.#floor = this.#revisions[half - 1] ?? this.#floor
    this.#revisions = this.#revisions.slice(half)
  }

  /** The last change at or before a revision; undefined if it is too old to be remembered. */
  atOrBefore(revision: Revision): Revision | undefined {
    if (revision < this.#floor) return undefined
    let low = 0
    let high = this.#revisions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (at(this.#revisions, middle) <= revision) low = middle + 1
      else high = middle
    }
    return low === 0 ? this.#floor : at(this.#revisions, low - 1)
  }
}
