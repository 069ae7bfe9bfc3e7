import { structDepthMax } from '../description/node.ts'
import { decodeText } from '../json/text.ts'

/** The bytes are not a message of the expected type; `message` is the error. */
export class MalformedProtobuf extends Error {}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

const two32 = 2 ** 32
/** Shorter texts are faster to decode in a loop than by a call into the runtime. */
const shortText = 64
const varintBytesMax = 10

/** Reads the fields of a message in order, never beyond the given end. */
export class Reader {
  readonly #bytes: Uint8Array
  #at: number
  #end: number
  #depth = 0
  #low = 0
  #high = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#at = 0
    this.#end = bytes.length
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  /** Reads a tag, the field number and wire type as one number: `number << 3 | wireType`. */
  tag(): number {
    this.#varint()
    if (this.#high !== 0 || this.#low < 8) throw new MalformedProtobuf('a field has a number that is not allowed')
    return this.#low
  }

  boolean(): boolean {
    this.#varint()
    return this.#low !== 0 || this.#high !== 0
  }

  /** Reads the low 32 bits of a varint, as all decoders do for an int32. */
  int32(): number {
    this.#varint()
    return this.#low | 0
  }

  /** Reads an int64 as a number if that is exact, otherwise as a bigint. */
  int64(): number | bigint {
    this.#varint()
    if (this.#high === 0) return this.#low
    if (this.#high === two32 - 1) return this.#low - two32
    const exact = BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low))
    const value = Number(exact)
    return Number.isSafeInteger(value) ? value : exact
  }

  double(): number {
    const at = this.#take(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true)
  }

  /** A view of the next length-prefixed bytes. */
  bytes(): Uint8Array {
    const length = this.#length()
    const at = this.#take(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    const length = this.#length()
    const at = this.#take(length)
    const short = length <= shortText ? this.#ascii(at, at + length) : undefined
    if (short !== undefined) return short
    return decodeText(this.#bytes.subarray(at, at + length))
  }

  /** Enters the message that begins here; `read` is called at its first field and must consume it. */
  message(read: () => void): void {
    const outerEnd = this.enter()
    read()
    this.leave(outerEnd)
  }

  /** Enters the message that begins here. The result must be passed to `leave` at its end. */
  enter(): number {
    const length = this.#length()
    const outerEnd = this.#end
    const innerEnd = this.#at + length
    if (innerEnd > outerEnd) throw truncated()
    this.#depth += 1
    if (this.#depth > structDepthMax) throw new MalformedProtobuf(`messages are nested deeper than ${structDepthMax} levels`)
    this.#end = innerEnd
    return outerEnd
  }

  leave(outerEnd: number): void {
    this.#end = outerEnd
    this.#depth -= 1
  }

  /** Skips the value of an unknown field. */
  skip(wireType: number): void {
    switch (wireType) {
      case wireTypes.varint:
        this.#varint()
        return
      case wireTypes.fixed64:
        this.#take(8)
        return
      case wireTypes.bytes:
        this.#take(this.#length())
        return
      case wireTypes.fixed32:
        this.#take(4)
        return
    }
    throw new MalformedProtobuf(`a field has the wire type ${wireType}, which is not used`)
  }

  /** Undefined if the text is not ASCII. */
  #ascii(start: number, end: number): string | undefined {
    const bytes = this.#bytes
    let text = ''
    let at = start
    for (; at + 4 <= end; at += 4) {
      const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!]
      if ((a | b | c | d) >= 0x80) return undefined
      text += String.fromCharCode(a, b, c, d)
    }
    for (; at < end; at++) {
      const code = bytes[at]!
      if (code >= 0x80) return undefined
      text += String.fromCharCode(code)
    }
    return text
  }

  #length(): number {
    this.#varint()
    if (this.#high !== 0) throw truncated()
    return this.#low
  }

  #take(size: number): number {
    const at = this.#at
    if (size > this.#end - at) throw truncated()
    this.#at = at + size
    return at
  }

  /** Reads 64 bits into `low` and `high`, both from 0 to 2^32 - 1. */
  #varint(): void {
    const bytes = this.#bytes
    const first = this.#at < this.#end ? bytes[this.#at++]! : 0x80
    this.#high = 0
    this.#low = first
    if (first < 0x80) return
    this.#longVarint(first & 0x7f)
  }

  #longVarint(first: number): void {
    let low = first
    let high = 0
    for (let index = 1; index < varintBytesMax; index++) {
      if (this.#at >= this.#end) throw truncated()
      const byte = this.#bytes[this.#at++]!
      const group = byte & 0x7f
      if (index < 4) low |= group << (7 * index)
      else if (index === 4) {
        low |= group << 28
        high = group >>> 4
      } else high |= group << (7 * index - 32)
      if (byte < 0x80) {
        this.#low = low >>> 0
        this.#high = high >>> 0
        return
      }
    }
    throw new MalformedProtobuf(`a number is longer than ${varintBytesMax} bytes`)
  }
}

/** Calls a reader, and returns its result or the error of the bytes. */
export function reading<Result>(read: () => Result): Result | { readonly kind: 'malformed'; readonly message: string } {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedProtobuf) return { kind: 'malformed', message: error.message }
    throw error
  }
}

function truncated(): MalformedProtobuf {
  return new MalformedProtobuf('the message ends too early')
}
