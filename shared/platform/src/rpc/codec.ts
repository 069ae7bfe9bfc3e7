import { decodeJson, printJson, type wire } from '@orch/core'
import protobuf from 'protobufjs/minimal.js'

type Reader = protobuf.Reader
type Writer = protobuf.Writer
type Plain = Record<string, unknown>

/** Bytes of a message and back, as its description says. */
export interface Codec {
  encode(message: unknown): Buffer
  decode(bytes: Uint8Array): unknown
}

// biome-ignore lint/suspicious/noExplicitAny: any description will do
type Described = wire.Message<any> | wire.Union<any>

/** The codec of a description, built at first use and kept. */
export function codecOf(description: Described): Codec {
  const known = codecs.get(description)
  if (known !== undefined) return known
  const { write, read } = bodyOf(description)
  const codec: Codec = {
    encode: (message) => {
      const writer = protobuf.Writer.create()
      write(writer, message as Plain)
      return writer.finish() as Buffer
    },
    decode: (bytes) => {
      const reader = protobuf.Reader.create(bytes)
      return read(reader, reader.len, {})
    },
  }
  codecs.set(description, codec)
  return codec
}

const codecs = new WeakMap<Described, Codec>()

/** How a message is written and read, without the length in front of it. */
interface Body {
  write(writer: Writer, message: Plain): void
  /** Adds what is read to a message that is begun already. */
  read(reader: Reader, end: number, message: Plain): Plain
}

const bodies = new WeakMap<Described, Body>()

function bodyOf(description: Described): Body {
  const known = bodies.get(description)
  if (known !== undefined) return known
  const body = description.form === 'message-type' ? messageBody(description.fields) : unionBody(description.variants)
  bodies.set(description, body)
  return body
}

/** How one value is written, its tag included, and read, the tag being read already. */
interface Item {
  readonly wireType: number
  write(writer: Writer, value: unknown): void
  read(reader: Reader): unknown
  /** What a required field is when the wire has none. */
  readonly absent: () => unknown
}

/** How a field is written with its tags, and put into a message when it is read. */
interface Member {
  readonly name: string
  readonly tag: number
  readonly wireType: number
  /** Absent: an optional field, which is not there until it is read. */
  readonly initial: (() => unknown) | undefined
  write(writer: Writer, value: unknown): void
  read(reader: Reader, message: Plain): void
}

function messageBody(fields: wire.Fields): Body {
  const members = Object.entries(fields).map(([name, field]) => memberOf(name, field))
  const byTag: (Member | undefined)[] = []
  for (const member of members) byTag[member.tag] = member
  return {
    write(writer, message) {
      for (const { name, write } of members) {
        const value = message[name]
        if (value !== undefined) write(writer, value)
      }
    },
    read(reader, end, message) {
      for (const { name, initial } of members) if (initial !== undefined) message[name] = initial()
      while (reader.pos < end) {
        const head = reader.uint32()
        const member = byTag[head >>> 3]
        if (member === undefined || member.wireType !== (head & 7)) reader.skipType(head & 7)
        else member.read(reader, message)
      }
      return message
    },
  }
}

function memberOf(name: string, field: wire.Field): Member {
  const item = itemOf(field)
  const { wireType } = item
  const head = (field.tag << 3) | wireType
  const one = (writer: Writer, value: unknown) => item.write(writer.uint32(head), value)
  const common = { name, tag: field.tag, wireType }
  if (field.form === 'map') {
    return {
      ...common,
      initial: () => ({}),
      write(writer, value) {
        for (const pair of Object.entries(value as Plain)) one(writer, pair)
      },
      read(reader, message) {
        const [key, text] = item.read(reader) as [string, string]
        putInto(message[name] as Plain, key, text)
      },
    }
  }
  if (field.presence === 'many') {
    return {
      ...common,
      initial: () => [],
      write(writer, values) {
        for (const value of values as unknown[]) one(writer, value)
      },
      read(reader, message) {
        ;(message[name] as unknown[]).push(item.read(reader))
      },
    }
  }
  return {
    ...common,
    initial: field.presence === 'optional' ? undefined : item.absent,
    write: one,
    read(reader, message) {
      message[name] = item.read(reader)
    },
  }
}

/** A key that is a word of the language's own is a key like any other. */
function putInto(map: Plain, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
  else map[key] = value
}

function unionBody(variants: wire.Variants): Body {
  const kinds = Object.entries(variants).map(([kind, description], index) => ({ kind, tag: index + 1, description }))
  const byKind = new Map(kinds.map((variant) => [variant.kind, variant]))
  return {
    write(writer, message) {
      const variant = byKind.get(String(message['kind']))
      if (variant === undefined) throw new TypeError(`a message of unknown kind ${JSON.stringify(message['kind'])}`)
      bodyOf(variant.description).write(writer.uint32((variant.tag << 3) | lengthDelimited).fork(), message)
      writer.ldelim()
    },
    read(reader, end) {
      let message: Plain | undefined
      while (reader.pos < end) {
        const head = reader.uint32()
        const variant = kinds[(head >>> 3) - 1]
        if (variant === undefined || (head & 7) !== lengthDelimited) reader.skipType(head & 7)
        else message = readNested(reader, bodyOf(variant.description), { kind: variant.kind })
      }
      if (message === undefined) throw new TypeError('a message of a kind that is unknown here')
      return message
    },
  }
}

const varint = 0
const fixed64 = 1
const lengthDelimited = 2

function itemOf(field: wire.Field): Item {
  switch (field.form) {
    case 'scalar':
      return scalarItems[field.wire]
    case 'message':
      return nestedItem(field.message, () => bodyOf(field.message).read(protobuf.Reader.create(noBytes), 0, {}))
    case 'union':
      return nestedItem(field.union, () => undefined)
    case 'map':
      return mapItem
  }
}

const noBytes = new Uint8Array(0)

const scalarItems: Readonly<Record<wire.WireType, Item>> = {
  string: {
    wireType: lengthDelimited,
    write: (writer, value) => writer.string(value as string),
    read: (reader) => reader.string(),
    absent: () => '',
  },
  bytes: {
    wireType: lengthDelimited,
    write: (writer, value) => writer.bytes(value as Uint8Array),
    read: (reader) => reader.bytes(),
    absent: () => noBytes,
  },
  bool: { wireType: varint, write: (writer, value) => writer.bool(value as boolean), read: (reader) => reader.bool(), absent: () => false },
  int64: {
    wireType: varint,
    write: (writer, value) => writer.int64(value as number),
    read: readWhole,
    absent: () => 0,
  },
  double: {
    wireType: fixed64,
    write: (writer, value) => writer.double(value as number),
    read: (reader) => reader.double(),
    absent: () => 0,
  },
  json: {
    wireType: lengthDelimited,
    write: (writer, value) => writer.string(printJson(value, { hasBigIntegers: true })),
    read: (reader) => parseJson(reader.string()),
    absent: () => undefined,
  },
}

const mapItem: Item = {
  wireType: lengthDelimited,
  write(writer, value) {
    const [key, text] = value as [string, string]
    writer.fork().uint32(10).string(key).uint32(18).string(text).ldelim()
  },
  read(reader) {
    const end = reader.uint32() + reader.pos
    const pair = ['', '']
    while (reader.pos < end) {
      const head = reader.uint32()
      if (head === 10) pair[0] = reader.string()
      else if (head === 18) pair[1] = reader.string()
      else reader.skipType(head & 7)
    }
    return pair
  },
  absent: () => undefined,
}

function nestedItem(description: Described, absent: () => unknown): Item {
  let body: Body | undefined
  return {
    wireType: lengthDelimited,
    write(writer, value) {
      body ??= bodyOf(description)
      body.write(writer.fork(), value as Plain)
      writer.ldelim()
    },
    read(reader) {
      body ??= bodyOf(description)
      return readNested(reader, body, {})
    },
    absent,
  }
}

function readNested(reader: Reader, body: Body, message: Plain): Plain {
  const length = reader.uint32()
  return body.read(reader, reader.pos + length, message)
}

/**
 * An int64 without the detour over 64 bits in halves and their decimal digits: revisions stand in every message. Negative
 * numbers, which take all ten bytes, and what ends too early are left to the library.
 */
function readWhole(reader: Reader): number {
  const { buf, len } = reader
  let at = reader.pos
  let value = 0
  for (let factor = 1; factor < wholeFactorMax && at < len; factor *= 128) {
    const byte = buf[at++]!
    value += (byte & 127) * factor
    if (byte < 128) {
      reader.pos = at
      return value
    }
  }
  return Number(reader.int64())
}

/** Behind nine bytes of seven bits. */
const wholeFactorMax = 2 ** 63

function parseJson(text: string): unknown {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') throw new TypeError(`a field with malformed JSON: ${decoded.message}`)
  return decoded.value
}
