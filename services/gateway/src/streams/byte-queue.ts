/**
 * Bytes in order, from one writer to one reader. The writer limits them: it checks `waitingBytes` and stops until `onTaken` is called. After `end` the
 * reader gets the waiting bytes, and then the end.
 */
export class ByteQueue implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #chunks: Uint8Array[] = []
  readonly #onTaken: (bytes: number) => void
  #waitingBytes = 0
  #hasEnded = false
  #wake: (() => void) | undefined

  /** `onTaken` is called when the reader reads bytes, or stops reading. */
  constructor(onTaken: (bytes: number) => void = () => {}) {
    this.#onTaken = onTaken
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** False if the reader has stopped; the bytes are dropped. */
  push(bytes: Uint8Array): boolean {
    if (this.#hasEnded) return false
    if (bytes.length === 0) return true
    this.#chunks.push(bytes)
    this.#waitingBytes += bytes.length
    this.#wake?.()
    return true
  }

  end(): void {
    this.#hasEnded = true
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#chunks.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const value = this.#chunks.shift()
    if (value === undefined) return { done: true, value: undefined }
    this.#waitingBytes -= value.length
    this.#onTaken(value.length)
    return { done: false, value }
  }

  /** The reader stops: waiting and further bytes are dropped. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.end()
    const dropped = this.#waitingBytes
    this.#chunks.length = 0
    this.#waitingBytes = 0
    if (dropped > 0) this.#onTaken(dropped)
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
