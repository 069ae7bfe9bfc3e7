/** Items ordered by a heap. `isBefore` must not change for an item in it. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #isBefore: (left: T, right: T) => boolean

  constructor(isBefore: (left: T, right: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isSwapped(parent, at)) return
      at = parent
    }
  }

  pop(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return first
    this.#items[0] = last
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const least = right < this.#items.length && this.#isLess(right, left) ? right : left
      if (least >= this.#items.length || !this.#isSwapped(at, least)) return first
      at = least
    }
  }

  #isLess(one: number, other: number): boolean {
    const [left, right] = [this.#items[one], this.#items[other]]
    return left !== undefined && right !== undefined && this.#isBefore(left, right)
  }

  /** Swaps parent and child if they are in the wrong order. */
  #isSwapped(parent: number, child: number): boolean {
    if (!this.#isLess(child, parent)) return false
    const [upper, lower] = [this.#items[parent], this.#items[child]]
    if (upper === undefined || lower === undefined) return false
    this.#items[parent] = lower
    this.#items[child] = upper
    return true
  }
}
