import { encode, Token, Type } from 'cborg'
import { decodeOwnJson } from '../json/scan.ts'
import { parseBase64 } from '../meta/base64.ts'
import { type ByteFields, byteFieldsIn } from './byte-fields.ts'

/**
 * Encodes the server's JSON as CBOR in kube-apiserver's form: texts and member names are byte strings, bytes have the tag for expected base64,
 * and the result has the tag of self-described CBOR. Members keep their order, so that equal JSON gives equal bytes.
 */
export function jsonToCbor(json: Uint8Array, fields?: ByteFields): Uint8Array {
  return written([selfDescribed, ...tokensOf(decodeOwnJson(json).value, fields)])
}

/** Like `jsonToCbor`, without the tag of self-described CBOR, for an item of a list. */
export function jsonToCborItem(json: Uint8Array, fields?: ByteFields): Uint8Array {
  return written(tokensOf(decodeOwnJson(json).value, fields))
}

/** The item inside self-described CBOR. */
export function itemOfCbor(whole: Uint8Array): Uint8Array {
  return whole.subarray(selfDescribedBytes)
}

/** The bytes before and after the items of a list. The list has indefinite length, so that items can be sent as they are made. */
export function cborListFrame(list: { readonly kind: string; readonly apiVersion: string; readonly metadata: object }): {
  readonly front: Uint8Array
  readonly back: Uint8Array
} {
  // `items` is the last member; an empty list is one byte.
  const empty = written([selfDescribed, ...tokensOf({ ...list, items: [] }, undefined)])
  empty[empty.length - 1] = openList
  return { front: empty, back: Uint8Array.of(endOfOpen) }
}

/** A watch event around an object that `jsonToCbor` has encoded. */
export function cborEvent(type: string, object: Uint8Array): Uint8Array {
  const front = written([selfDescribed, new Token(Type.map, 2), bytesOf('type'), bytesOf(type), bytesOf('object')])
  const event = new Uint8Array(front.length + object.length)
  event.set(front)
  event.set(object, front.length)
  return event
}

const openList = 0x9f
const endOfOpen = 0xff
const selfDescribed = new Token(Type.tag, 55799)
/** Length of the tag. */
const selfDescribedBytes = 3
const laterBase64 = new Token(Type.tag, 22)
const encoder = new TextEncoder()

/** Encodes tokens: the library would call itself for each level of a value, and objects may be deeper than the call stack. */
function written(tokens: Token[]): Uint8Array {
  return encode(tokens, { typeEncoders: { Array: () => tokens } })
}

/** An open container; a list has no `keys`. */
interface Frame {
  readonly values: readonly unknown[]
  readonly keys: readonly string[] | undefined
  readonly fields: ByteFields | undefined
  next: number
}

function tokensOf(value: unknown, fields: ByteFields | undefined): Token[] {
  const tokens: Token[] = []
  const open: Frame[] = []
  begin(value, fields)
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { values, keys, fields: around, next } = frame
    if (next === values.length) {
      open.pop()
      continue
    }
    const member = keys?.[next] ?? next
    frame.next += 1
    if (typeof member === 'string') tokens.push(bytesOf(member))
    begin(values[next], byteFieldsIn(around, member))
  }
  return tokens

  function begin(item: unknown, inner: ByteFields | undefined): void {
    if (typeof item !== 'object' || item === null) {
      tokens.push(...scalarTokens(item, inner))
      return
    }
    const isList = Array.isArray(item)
    const values = isList ? item : Object.values(item)
    tokens.push(new Token(isList ? Type.array : Type.map, values.length))
    open.push({ values, keys: isList ? undefined : Object.keys(item), fields: inner, next: 0 })
  }
}

function scalarTokens(value: unknown, fields: ByteFields | undefined): readonly Token[] {
  switch (typeof value) {
    case 'string': {
      const bytes = fields?.kind === 'bytes' ? parseBase64(value) : undefined
      return bytes === undefined ? [bytesOf(value)] : [laterBase64, new Token(Type.bytes, bytes)]
    }
    case 'number':
      return [Number.isSafeInteger(value) ? integer(value) : new Token(Type.float, value)]
    case 'bigint':
      return [value > int64Max || value < int64Min ? new Token(Type.float, Number(value)) : integer(value)]
    case 'boolean':
      return [value ? yes : no]
    default:
      return [nothing]
  }
}

function integer(value: number | bigint): Token {
  return new Token(value < 0 ? Type.negint : Type.uint, value)
}

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)
const yes = new Token(Type.true, true)
const no = new Token(Type.false, false)
const nothing = new Token(Type.null, null)

function bytesOf(text: string): Token {
  return new Token(Type.bytes, encoder.encode(text))
}
