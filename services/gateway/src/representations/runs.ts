import { at } from '@orch/core/json'

/** An item of a list with runs. */
export interface RunItem {
  /** True if a run ends with the item, as for one of 32: this depends only on the item. */
  readonly isEnd: boolean
}

/**
 * Divides lists into runs, and caches the value of a run while its items are the same. A change of a list affects only its run.
 *
 *   a b | c d e | f      d becomes D:      a b | c D e | f      made: c D e
 */
export class Runs<T extends RunItem, V> {
  readonly #make: (items: readonly T[]) => V
  /** By the first item of each. */
  readonly #known = new WeakMap<T, { readonly items: readonly T[]; readonly made: V }>()

  constructor(make: (items: readonly T[]) => V) {
    this.#make = make
  }

  of(items: readonly T[]): V[] {
    const made: V[] = []
    let from = 0
    for (const [index, { isEnd }] of items.entries()) {
      if (index < items.length - 1 && !isEnd) continue
      made.push(this.#run(items.slice(from, index + 1)))
      from = index + 1
    }
    return made
  }

  #run(items: readonly T[]): V {
    const first = at(items, 0)
    const known = this.#known.get(first)
    if (known?.items.length === items.length && known.items.every((item, index) => item === items[index])) return known.made
    const made = this.#make(items)
    this.#known.set(first, { items, made })
    return made
  }
}

/** True if an item with this checksum ends a run. */
export function endsRun(checksum: number): boolean {
  return (checksum & 31) === 0
}
