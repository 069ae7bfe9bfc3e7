import { type Token, Tokenizer, Type } from 'cborg'
import { decodeText, jsonDepthMax } from '../json/index.ts'
import { toBase64Url } from '../meta/base64.ts'
import { printBase64 } from '../protobuf/base64.ts'

/** The JSON text of a CBOR item, or the reason why it cannot be converted. */
export type CborReading =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'tooManyValues' }

/**
 * Converts one CBOR item to JSON by kube-apiserver's rules: byte strings become texts, bytes with a tag for an expected encoding get that
 * encoding, numbers with a fraction keep it, and other tags are ignored. The function keeps its own stack. Its time and memory depend on
 * the bytes that are present, not on the lengths that they state.
 */
export function cborToJson(bytes: Uint8Array, { valuesMax }: { readonly valuesMax: number }): CborReading {
  const writer = new JsonWriter(bytes, valuesMax)
  try {
    return { kind: 'json', text: writer.document() }
  } catch (error) {
    if (error instanceof TooManyValues) return { kind: 'tooManyValues' }
    if (error instanceof Malformed) return { kind: 'malformed', message: error.message }
    const message =
      error instanceof Error && error.message.startsWith(libraryPrefix) ? error.message.slice(libraryPrefix.length) : undefined
    if (message === undefined) throw error
    return { kind: 'malformed', message: message.startsWith('not enough data') ? endedEarly : `cbor: ${message}` }
  }
}

const libraryPrefix = 'CBOR decode error: '
const endedEarly = 'unexpected EOF'

class Malformed extends Error {}
class TooManyValues extends Error {}

/** An open container. A map counts its keys and its values. */
interface Frame {
  readonly isMap: boolean
  /** Infinity for indefinite length, which a break token ends. */
  readonly length: number
  written: number
}

/** Tags of RFC 8949. */
const tags = { epoch: 1, bignum: 2, negativeBignum: 3 } as const
/** Tag → the text of the bytes after it. */
const laterEncodings: ReadonlyMap<number, (bytes: Uint8Array) => string> = new Map([
  [21, toBase64Url],
  [22, printBase64],
  [23, (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')],
])

class JsonWriter {
  readonly #bytes: Uint8Array
  readonly #tokens: Tokenizer
  readonly #valuesMax: number
  readonly #parts: string[] = []
  readonly #open: Frame[] = []
  #values = 0

  constructor(bytes: Uint8Array, valuesMax: number) {
    this.#bytes = bytes
    this.#valuesMax = valuesMax
    // Reading a Buffer is slower than reading a Uint8Array.
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#tokens = new Tokenizer(plain, {
      allowBigInt: true,
      allowUndefined: false,
      allowNaN: false,
      allowInfinity: false,
      retainStringBytes: true,
    })
  }

  document(): string {
    if (this.#bytes.length === 0) throw new Malformed('EOF')
    do this.#item()
    while (this.#open.length > 0)
    const at = this.#tokens.pos()
    const left = this.#bytes.length - at
    if (left > 0) throw new Malformed(`cbor: ${left} bytes of extraneous data starting at index ${at}`)
    return this.#parts.join('')
  }

  #next(): Token {
    if (this.#tokens.done()) throw new Malformed(endedEarly)
    return this.#tokens.next()
  }

  #item(): void {
    let token = this.#next()
    let tag: number | undefined
    for (; token.type === Type.tag; token = this.#next()) {
      tag = Number(token.value)
      if (tag === tags.bignum || tag === tags.negativeBignum) throw notAccepted('tag', 'bignum')
    }
    const frame = this.#open.at(-1)
    if (token.type === Type.break) {
      this.#end(frame)
      return
    }
    const isKey = frame?.isMap === true && frame.written % 2 === 0
    if (frame !== undefined) {
      if (frame.written > 0 && (isKey || !frame.isMap)) this.#parts.push(',')
      frame.written += 1
    }
    if (isKey) this.#parts.push(`${JSON.stringify(keyOf(token))}:`)
    else this.#value(token, tag)
    this.#closeFull()
  }

  #value(token: Token, tag: number | undefined): void {
    this.#values += 1
    if (this.#values > this.#valuesMax) throw new TooManyValues()
    const isMap = token.type === Type.map
    if (!isMap && token.type !== Type.array) {
      this.#parts.push(scalarText(token, tag))
      return
    }
    if (this.#open.length >= jsonDepthMax) throw new Malformed(`cbor: exceeded max nested level ${jsonDepthMax}`)
    this.#parts.push(isMap ? '{' : '[')
    this.#open.push({ isMap, length: Number(token.value) * (isMap ? 2 : 1), written: 0 })
  }

  #end(frame: Frame | undefined): void {
    if (frame?.length !== Number.POSITIVE_INFINITY || (frame.isMap && frame.written % 2 === 1))
      throw new Malformed('cbor: unexpected "break" code')
    this.#close(frame)
    this.#closeFull()
  }

  #closeFull(): void {
    for (let frame = this.#open.at(-1); frame?.length === frame?.written && frame !== undefined; frame = this.#open.at(-1))
      this.#close(frame)
  }

  #close({ isMap }: Frame): void {
    this.#parts.push(isMap ? '}' : ']')
    this.#open.pop()
  }
}

function notAccepted(kind: string, what: string): Error {
  return new Malformed(`cbor: data item of cbor type ${kind} is not accepted by protocol: ${what}`)
}

function keyOf(token: Token): string {
  if (token.type === Type.string || token.type === Type.bytes) return textOf(token)
  throw new Malformed('cbor: the key of a map is no text')
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf({ type, value, byteValue }: Token): string {
  if (type === Type.bytes) return decodeText(value)
  if (byteValue === undefined) return value
  try {
    return strictUtf8.decode(byteValue)
  } catch {
    throw new Malformed('cbor: invalid UTF-8 string')
  }
}

function scalarText(token: Token, tag: number | undefined): string {
  switch (token.type) {
    case Type.bytes:
    case Type.string: {
      const later = token.type === Type.bytes && tag !== undefined ? laterEncodings.get(tag) : undefined
      return JSON.stringify(later === undefined ? textOf(token) : later(token.value))
    }
    case Type.uint:
    case Type.negint:
      return tag === tags.epoch ? timeText(Number(token.value)) : integerText(token.value)
    case Type.float:
      return tag === tags.epoch ? timeText(token.value) : numberText(token.value)
    case Type.true:
    case Type.false:
    case Type.null:
      return token.type.name
    default:
      throw notAccepted('primitives', token.type.name)
  }
}

function integerText(value: number | bigint): string {
  if (BigInt.asIntN(64, BigInt(value)) === BigInt(value)) return String(value)
  const sign = value < 0 ? 'negative' : 'positive'
  throw new Malformed(`cbor: cannot unmarshal ${sign} integer into Go value of type int64 (${value} overflows Go's int64)`)
}

/** A whole number that was sent as a float keeps its fraction, so integer fields refuse it. */
function numberText(value: number): string {
  return Number.isInteger(value) && !/e/.test(String(value)) ? `${value}.0` : String(value)
}

function timeText(seconds: number): string {
  const time = new Date(seconds * 1_000)
  if (Number.isNaN(time.getTime())) throw new Malformed('cbor: the seconds of a time are out of range')
  return JSON.stringify(time.toISOString())
}
