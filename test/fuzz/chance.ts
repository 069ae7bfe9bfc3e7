/** The random numbers of a request: the same seed and index draw the same request. */
export class Chance {
  #state: number

  constructor(seed: number, index = 0) {
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) | 0
    this.#draw()
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.#draw() * bound)
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)]
    if (value === undefined) throw new Error('nothing to pick from')
    return value
  }

  /** True with the probability 1/n. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  /** A list of fewer than `bound` values. */
  several<T>(bound: number, make: () => T): T[] {
    return Array.from({ length: this.below(bound) }, make)
  }

  /** Mulberry32. */
  #draw(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
