const encoder = new TextEncoder()

const bytesAtStart = 64 * 1024
/** A larger buffer is released after use instead of being reused. */
const bytesKeptMax = 1024 * 1024
/** Shorter texts are faster to encode in a loop than by a call into the runtime. */
const shortText = 48
const maxUnsigned32 = 2 ** 32

/**
 * Writes a Protobuf message backwards. Contents are written before their length, so that the length is
 * known in time and no bytes are moved:
 *
 *   text('v1'), varint(2), varint(0x0a)   gives   0a 02 'v' '1'
 */
export class Writer {
  #bytes: Uint8Array<ArrayBuffer>
  #at: number

  constructor(bytes = bytesAtStart) {
    this.#bytes = new Uint8Array(bytes)
    this.#at = bytes
  }

  /** The number of bytes written so far. The difference between two values is the length of the part between them. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  /** Drops the remains of a failed encoding. */
  reset(): void {
    if (this.#bytes.length > bytesKeptMax) this.#bytes = new Uint8Array(bytesAtStart)
    this.#at = this.#bytes.length
  }

  /** Returns everything written, and empties the writer. */
  finish(): Uint8Array {
    // A large buffer is released anyway, so it need not be copied.
    const written = this.#bytes.length > bytesKeptMax ? this.#bytes.subarray(this.#at) : this.#bytes.slice(this.#at)
    this.reset()
    return written
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    if (value < 0x80) {
      if (this.#at < 1) this.#grow(1)
      this.#bytes[--this.#at] = value
      return
    }
    if (value < 0x4000) {
      const at = this.#reserve(2)
      this.#bytes[at] = (value & 0x7f) | 0x80
      this.#bytes[at + 1] = value >>> 7
      return
    }
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    let at = this.#reserve(size)
    let rest = value
    for (; rest >= maxUnsigned32 / 2; rest = Math.floor(rest / 0x80)) this.#bytes[at++] = (rest % 0x80) | 0x80
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[at++] = (rest & 0x7f) | 0x80
    this.#bytes[at] = rest
  }

  /** An int32 or int64; a negative one takes ten bytes. */
  integer(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value)
      return
    }
    let rest = BigInt.asUintN(64, BigInt(value))
    const groups: number[] = []
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80)
    groups.push(Number(rest))
    const at = this.#reserve(groups.length)
    this.#bytes.set(groups, at)
  }

  double(value: number): void {
    const at = this.#reserve(8)
    new DataView(this.#bytes.buffer, at, 8).setFloat64(0, value, true)
  }

  /** Copies bytes without a length. */
  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** Copies a part of other bytes without a length. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    const at = this.#reserve(end - start)
    if (end - start > shortText) this.#bytes.set(bytes.subarray(start, end), at)
    else for (let from = start, to = at; from < end; from++, to++) this.#bytes[to] = bytes[from] ?? 0
  }

  /** Drops all bytes written after the writer had this length. */
  back(length: number): void {
    this.#at = this.#bytes.length - length
  }

  /** Writes UTF-8 prefixed with its length. */
  text(text: string): void {
    const before = this.length
    if (text.length > shortText ? !this.#writeAscii(text) : !this.#writeShortAscii(text)) this.raw(encoder.encode(text))
    this.varint(this.length - before)
  }

  /** Reserves bytes at the front, which the caller must fill immediately. */
  space(size: number): { readonly bytes: Uint8Array; readonly at: number } {
    const at = this.#reserve(size)
    return { bytes: this.#bytes, at }
  }

  #writeShortAscii(text: string): boolean {
    const { length } = text
    if (this.#at < length) this.#grow(length)
    const bytes = this.#bytes
    const start = this.#at - length
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code >= 0x80) return false
      bytes[start + index] = code
    }
    this.#at = start
    return true
  }

  /** Succeeds if every character is one byte. */
  #writeAscii(text: string): boolean {
    const start = this.#reserve(text.length)
    const { read } = encoder.encodeInto(text, this.#bytes.subarray(start, start + text.length))
    if (read === text.length) return true
    this.#at = start + text.length
    return false
  }

  #reserve(size: number): number {
    if (this.#at < size) this.#grow(size)
    this.#at -= size
    return this.#at
  }

  #grow(size: number): void {
    const { length } = this
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, length + size))
    larger.set(this.#bytes.subarray(this.#at), larger.length - length)
    this.#bytes = larger
    this.#at = larger.length - length
  }
}
