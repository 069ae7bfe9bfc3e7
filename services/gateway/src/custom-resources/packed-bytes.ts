import { deflateRaw, inflateRawSync } from 'node:zlib'

/** Bytes that are rarely read. */
export interface PackedBytes {
  /** The number of items. */
  readonly length: number
  read(): Uint8Array
}

/** Compresses rarely read bytes in another thread, one item after the other. The newest items stay uncompressed, because they are read soon. */
export class BytesPacker {
  readonly #waiting: Kept[] = []
  #waitingBytes = 0
  #isBusy = false

  /** Copies the bytes. */
  keep(bytes: Uint8Array): PackedBytes {
    const kept = new Kept(bytes)
    this.#waiting.push(kept)
    this.#waitingBytes += kept.length
    if (!this.#isBusy) this.#next()
    return kept
  }

  #next(): void {
    const kept = this.#waitingBytes > newestBytesMax ? this.#waiting.shift() : undefined
    this.#isBusy = kept !== undefined
    this.#waitingBytes -= kept?.length ?? 0
    kept?.pack(() => this.#next())
  }
}

/** Maximum total bytes of the newest items, which stay uncompressed. */
const newestBytesMax = 256 * 1024

class Kept implements PackedBytes {
  readonly length: number
  #plain: Uint8Array | undefined
  /** A string of one byte per character: a separate buffer would take 200 bytes more. */
  #packed = ''

  constructor(bytes: Uint8Array) {
    this.length = bytes.length
    this.#plain = Uint8Array.from(bytes)
  }

  read(): Uint8Array {
    return this.#plain ?? inflateRawSync(Buffer.from(this.#packed, 'latin1'))
  }

  /** The compression level with the least CPU. It reduces schemas to a twentieth; the best level gains little more. */
  pack(done: () => void): void {
    deflateRaw(this.#plain ?? nothing, { level: 1 }, (error, packed) => {
      if (error === null) {
        this.#packed = packed.toString('latin1')
        this.#plain = undefined
      }
      done()
    })
  }
}

const nothing = new Uint8Array()
