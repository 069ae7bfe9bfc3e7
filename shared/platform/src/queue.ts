const compactAtLeast = 1_024

/**
 * A first-in, first-out queue. A taken item is released at once, however many remain; an array with an offset
 * would hold it until the array is compacted.
 *
 *   push a b c    shift → a    [· b c], length 2, at(0) = b
 */
export class Queue<T extends NonNullable<unknown>> {
  #items: (T | undefined)[] = []
  /** Items before this index were taken. */
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Takes the oldest item. */
  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head === this.#items.length) this.clear()
    else if (this.#head > compactAtLeast && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** The item at an index, counted from the oldest. */
  at(index: number): T | undefined {
    return this.#items[this.#head + index]
  }

  /** The items between two indices. */
  slice(from: number, to = this.length): T[] {
    const items: T[] = []
    for (let index = from; index < Math.min(to, this.length); index++) {
      const item = this.at(index)
      if (item !== undefined) items.push(item)
    }
    return items
  }

  /** The first index whose item passes a test that all later items also pass; the length if none does. */
  firstWhere(holds: (item: T) => boolean): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = this.at(middle)
      if (item === undefined || holds(item)) high = middle
      else low = middle + 1
    }
    return low
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
