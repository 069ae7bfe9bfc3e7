import { limits } from '../limits.ts'

/** UTF-8 of a unit of text has three bytes at most. */
const bytesPerUnitMax = 3
const firstBytes = 4 * 1024

/**
 * Writes texts and bytes into chunks of a size that is efficient to write. Parts are copied once; bytes of a chunk's size are not copied, and become a
 * separate chunk.
 */
export class ChunkWriter {
  #ready: Uint8Array[] = []
  #current = Buffer.alloc(0)
  #used = 0
  #nextBytes = firstBytes

  text(text: string): void {
    const length = text.length * bytesPerUnitMax
    if (length > this.#current.length - this.#used) this.#begin(length)
    this.#used += this.#current.write(text, this.#used)
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > this.#current.length - this.#used) {
      if (bytes.length >= limits.listChunkBytes / 4) {
        this.#finish()
        this.#ready.push(bytes)
        return
      }
      this.#begin(bytes.length)
    }
    this.#current.set(bytes, this.#used)
    this.#used += bytes.length
  }

  /** Complete chunks since the last call. */
  take(): readonly Uint8Array[] {
    const taken = this.#ready
    this.#ready = []
    return taken
  }

  /** Everything written since the last call. */
  takeAll(): readonly Uint8Array[] {
    this.#finish()
    return this.take()
  }

  /** A short list has a small chunk; each one after it is twice as large, up to the size of all others. */
  #begin(bytes: number): void {
    this.#finish()
    this.#current = Buffer.allocUnsafeSlow(Math.max(bytes, this.#nextBytes))
    this.#nextBytes = Math.min(this.#nextBytes * 2, limits.listChunkBytes)
  }

  #finish(): void {
    if (this.#used > 0) this.#ready.push(this.#current.subarray(0, this.#used))
    this.#current = this.#current.subarray(this.#used)
    this.#used = 0
  }
}
