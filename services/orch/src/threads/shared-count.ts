/** A count in memory that all threads share. */
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
