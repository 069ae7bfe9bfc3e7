import type { Change } from '@orch/core/contracts'
import { Queue } from '@orch/platform'

/**
 * The last changes of the whole store, oldest first, bounded in bytes, so that a watch may resume without asking storage.
 *
 *   room for 3, begun at 3, after changes 4 5 7 9:   [5 7 9]   from = 4
 *   after(6) → 7 9        after(9) → nothing        after(3) → undefined: change 4 has been dropped
 */
export class Window {
  readonly #bytesMax: number
  readonly #changes = new Queue<Change>()
  #bytes = 0
  #from: number
  readonly #latest = new Map<string, Change>()

  constructor(options: { readonly from: number; readonly bytesMax: number }) {
    this.#from = options.from
    this.#bytesMax = options.bytesMax
  }

  /** The window holds every change after this revision. */
  get from(): number {
    return this.#from
  }

  append(change: Change): void {
    this.#changes.push(change)
    this.#latest.set(change.key, change)
    this.#bytes += sizeOf(change)
    while (this.#bytes > this.#bytesMax && this.#changes.length > 0) this.#dropOldest()
  }

  /** The changes after a revision; undefined if the window no longer holds some. */
  after(revision: number): readonly Change[] | undefined {
    if (revision < this.#from) return undefined
    return this.#changes.slice(this.#changes.firstWhere((change) => change.revision > revision))
  }

  /** The content after a change, while that change is the key's newest in the window. */
  contentAt(key: string, revision: number): Uint8Array | undefined {
    const latest = this.#latest.get(key)
    return latest?.revision === revision ? latest.after?.value : undefined
  }

  #dropOldest(): void {
    const change = this.#changes.shift()
    if (change === undefined) return
    this.#from = change.revision
    this.#bytes -= sizeOf(change)
    if (this.#latest.get(change.key) === change) this.#latest.delete(change.key)
  }
}

/** The cost of a change without its values: objects, facts, the key. */
const changeOverheadBytes = 500

function sizeOf({ after, before }: Change): number {
  return changeOverheadBytes + (after?.value.length ?? 0) + (before?.value?.length ?? 0)
}
