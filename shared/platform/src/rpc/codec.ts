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
      return read(reader, reader.len)
    },
  }
  codecs.set(description, codec)
  return codec
}

const codecs = new WeakMap<Described, Codec>()

/** How a message is written and read, without the length in front of it. */
interface Body {
  write(writer: Writer, message: Plain): void
  read(reader: Reader, end: number): Plain
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

function messageBody(fields: wire.Fields): Body {
  const members = Object.entries(fields).map(([name, field]) => ({ name, field, tag: field.tag, item: itemOf(field) }))
  const byTag = new Map(members.map((member) => [member.tag, member]))
  return {
    write(writer, message) {
      for (const { name, field, tag, item } of members) {
        const value = message[name]
        if (value === undefined) continue
        for (const single of valuesOf(field, value)) item.write(writer.uint32((tag << 3) | item.wireType), single)
      }
    },
    read(reader, end) {
      const message: Plain = {}
      for (const { name, field, item } of members) if (field.presence !== 'optional') message[name] = initialOf(field, item)
      while (reader.pos < end) {
        const head = reader.uint32()
        const member = byTag.get(head >>> 3)
        if (member === undefined || member.item.wireType !== (head & 7)) reader.skipType(head & 7)
        else store(message, member.name, member.field, member.item.read(reader))
      }
      return message
    },
  }
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
        else message = { kind: variant.kind, ...readNested(reader, bodyOf(variant.description)) }
      }
      if (message === undefined) throw new TypeError('a message of a kind that is unknown here')
      return message
    },
  }
}

const varint = 0
const fixed64 = 1
const lengthDelimited = 2

function valuesOf(field: wire.Field, value: unknown): Iterable<unknown> {
  if (field.form === 'map') return Object.entries(value as Plain)
  return field.presence === 'many' ? (value as unknown[]) : [value]
}

function initialOf(field: wire.Field, item: Item): unknown {
  if (field.form === 'map') return {}
  return field.presence === 'many' ? [] : item.absent()
}

function store(message: Plain, name: string, field: wire.Field, value: unknown): void {
  if (field.form === 'map') {
    const [key, text] = value as [string, string]
    Object.defineProperty(message[name], key, { value: text, enumerable: true, configurable: true, writable: true })
  } else if (field.presence === 'many') (message[name] as unknown[]).push(value)
  else message[name] = value
}

function itemOf(field: wire.Field): Item {
  switch (field.form) {
    case 'scalar':
      return scalarItems[field.wire]
    case 'message':
      return nestedItem(field.message, () => bodyOf(field.message).read(protobuf.Reader.create(noBytes), 0))
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
    read: (reader) => Number(reader.int64()),
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
  return {
    wireType: lengthDelimited,
    write(writer, value) {
      bodyOf(description).write(writer.fork(), value as Plain)
      writer.ldelim()
    },
    read: (reader) => readNested(reader, bodyOf(description)),
    absent,
  }
}

function readNested(reader: Reader, body: Body): Plain {
  const length = reader.uint32()
  return body.read(reader, reader.pos + length)
}

function parseJson(text: string): unknown {
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') throw new TypeError(`a field with malformed JSON: ${decoded.message}`)
  return decoded.value
}
