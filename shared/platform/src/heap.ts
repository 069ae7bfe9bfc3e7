/** An item of at most one heap. */
export interface HeapItem {
  /** Index in the heap; -1 outside of it. */
  index: number
}

/** Items in an order, which must not change for an item in the heap. Adding and removing an item cost O(log n). */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = []
  readonly #compare: (one: T, other: T) => number

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  /** All items in order. */
  list(): readonly T[] {
    return this.#items.toSorted(this.#compare)
  }

  /** The first item that passes a test, by a look at all items. */
  firstWhere(holds: (item: T) => boolean): T | undefined {
    let found: T | undefined
    for (const item of this.#items) if (holds(item) && (found === undefined || this.#compare(item, found) < 0)) found = item
    return found
  }

  add(item: T): void {
    this.#put(item, this.#items.length)
    this.#rise(item)
  }

  /** Removes an item. False if it is not in the heap. */
  remove(item: T): boolean {
    const { index } = item
    if (this.#items[index] !== item) return false
    item.index = -1
    const last = this.#items.pop()
    if (last === undefined || last === item) return true
    this.#put(last, index)
    this.#rise(last)
    this.#sink(last)
    return true
  }

  #rise(item: T): void {
    while (item.index > 0) {
      const parent = this.#items[(item.index - 1) >>> 1]
      if (parent === undefined || this.#compare(parent, item) <= 0) return
      this.#swap(parent, item)
    }
  }

  #sink(item: T): void {
    for (;;) {
      const left = this.#items[2 * item.index + 1]
      const right = this.#items[2 * item.index + 2]
      const child = left !== undefined && right !== undefined && this.#compare(right, left) < 0 ? right : left
      if (child === undefined || this.#compare(item, child) <= 0) return
      this.#swap(item, child)
    }
  }

  #swap(one: T, other: T): void {
    const { index } = one
    this.#put(one, other.index)
    this.#put(other, index)
  }

  #put(item: T, index: number): void {
    item.index = index
    this.#items[index] = item
  }
}
