/** The number of marks. A change of one object also invalidates the others with its mark. */
const marksMax = 65_536

/**
 * Counters in memory that all threads share; several keys share one. The first thread increments a counter when an object is replaced or deleted,
 * before any reader can see that. While the counter is unchanged, an object that was read after it is current.
 */
export class ObjectMarks {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(marksMax * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  /** Marks the key's object as replaced or deleted. */
  count(key: string): void {
    Atomics.add(this.#counts, this.#placeOf(key), 1)
  }

  /** The value of a mark after one of its objects was replaced or deleted. */
  after(mark: number): number {
    return (mark + 1) | 0
  }

  /** The mark of a key. */
  of(key: string): number {
    return Atomics.load(this.#counts, this.#placeOf(key))
  }

  /** FNV-1a. */
  #placeOf(key: string): number {
    let hash = 0x811c9dc5
    for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
    return (hash >>> 0) % this.#counts.length
  }
}

/** A counter in memory that all threads share. */
export class SharedCount {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  /** Adds one. */
  add(): void {
    Atomics.add(this.#counts, 0, 1)
  }

  get value(): number {
    return Atomics.load(this.#counts, 0)
  }
}
