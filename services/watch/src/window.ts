import type { Change } from '@orch/core/contracts'

/**
 * The last changes of the whole store, oldest first, bounded in bytes, so that a watch may resume without asking storage.
 *
 *   room for 3, begun at 3, after changes 4 5 7 9:   [5 7 9]   from = 4
 *   after(6) → 7 9        after(9) → nothing        after(3) → undefined: change 4 has been dropped
 */
export class Window {
  readonly #bytesMax: number
  #changes: Change[] = []
  #first = 0
  #bytes = 0
  #from: number
  readonly #latest = new Map<string, Change>()

  constructor(options: { readonly from: number; readonly bytesMax: number }) {
    this.#from = options.from
    this.#bytesMax = options.bytesMax
  }

  /** Every change after this revision is held. */
  get from(): number {
    return this.#from
  }

  append(change: Change): void {
    this.#changes.push(change)
    this.#latest.set(change.key, change)
    this.#bytes += sizeOf(change)
    while (this.#bytes > this.#bytesMax && this.#first < this.#changes.length) this.#dropOldest()
    if (this.#first > 1024 && this.#first * 2 > this.#changes.length) this.#shrink()
  }

  /** The changes after a revision, or undefined where some of them are no longer held. */
  after(revision: number): readonly Change[] | undefined {
    if (revision < this.#from) return undefined
    let low = this.#first
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#changes[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#changes.slice(low)
  }

  /** The content that a change left behind, while that change is the key's newest here. */
  contentAt(key: string, revision: number): Uint8Array | undefined {
    const latest = this.#latest.get(key)
    return latest?.revision === revision ? latest.after?.value : undefined
  }

  #dropOldest(): void {
    const change = this.#changes[this.#first]!
    this.#first += 1
    this.#from = change.revision
    this.#bytes -= sizeOf(change)
    if (this.#latest.get(change.key) === change) this.#latest.delete(change.key)
  }

  #shrink(): void {
    this.#changes = this.#changes.slice(this.#first)
    this.#first = 0
  }
}

/** What a change costs beside its values: objects, facts, the key. */
const changeOverheadBytes = 500

function sizeOf({ after, before }: Change): number {
  return changeOverheadBytes + (after?.value.length ?? 0) + (before?.value?.length ?? 0)
}
