import type { wire } from '@orch/core/contracts'
import { decodeOwnJson, printJson, setMember } from '@orch/core/json'
import { memo } from '@orch/core/memo'
import { Reader, Writer, wireTypes } from '@orch/core/protobuf-wire'
import { messageOf } from './error-message.ts'

type Plain = Record<string, unknown>

/** Encodes and decodes a message by its description. */
export interface Codec<Message = unknown> {
  encode(message: Message): Buffer
  decode(bytes: Uint8Array): Message
}

// biome-ignore lint/suspicious/noExplicitAny: any description will do
type Described = wire.Message<any> | wire.Union<any>

/** One writer for all messages, since an encoding ends before the next one begins. */
const writer = new Writer()

/** The codec of a description, built at first use and cached. */
export function codecOf<D extends Described>(description: D): Codec<wire.Static<D>>
export function codecOf(description: Described): Codec {
  return keptCodecOf(description)
}

/** The codec of a description. */
const keptCodecOf = memo((description: Described): Codec => {
  const { write, read } = bodyOf(description)
  const codec: Codec = {
    encode: (message: Plain) => {
      writer.reset()
      write(message)
      const { buffer, byteOffset, byteLength } = writer.finish()
      return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
    },
    decode: (bytes) => read(new Reader(bytes), {}),
  }
  return codec
})

/** The codec of a message without a length prefix. Messages are written backwards. */
interface Body {
  write(message: Plain): void
  /** Adds the fields up to the reader's end to a partial message. */
  read(reader: Reader, message: Plain): Plain
}

/** The codec of a message without a length prefix. */
const bodyOf = memo(
  (description: Described): Body =>
    description.kind === 'message-type' ? messageBody(description.fields) : unionBody(description.variants),
)

/** The codec of a value without a tag. */
interface Item {
  readonly wireType: number
  write(value: unknown): void
  read(reader: Reader): unknown
  /** The value of a required field that is missing on the wire. */
  readonly absent: () => unknown
}

/** The codec of a field with its tags, and the field's name in the message. */
interface Member {
  readonly name: string
  readonly tag: number
  readonly wireType: number
  /** Undefined for an optional field, which is absent until it is read. */
  readonly initial: (() => unknown) | undefined
  write(value: unknown): void
  read(reader: Reader, message: Plain): void
}

function messageBody(fields: wire.Fields): Body {
  const members = Object.entries(fields).flatMap(([name, field]) => (field.kind === 'local' ? [] : [memberOf(name, field)]))
  const backwards = members.toReversed()
  const byTag: (Member | undefined)[] = []
  for (const member of members) byTag[member.tag] = member
  return {
    write(message) {
      for (const { name, write } of backwards) {
        const value = message[name]
        if (value !== undefined) write(value)
      }
    },
    read(reader, message) {
      for (const { name, initial } of members) if (initial !== undefined) message[name] = initial()
      while (!reader.isAtEnd) {
        const head = reader.tag()
        const member = byTag[head >>> 3]
        if (member === undefined || member.wireType !== (head & 7)) reader.skip(head & 7)
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
  const one = (value: unknown) => {
    item.write(value)
    writer.varint(head)
  }
  const common = { name, tag: field.tag, wireType }
  if (field.kind === 'map') {
    return {
      ...common,
      initial: () => ({}),
      write(value: Plain) {
        for (const pair of Object.entries(value).reverse()) one(pair)
      },
      read(reader, message) {
        const [key, text] = item.read(reader) as [string, string]
        setMember(message[name] as Plain, key, text)
      },
    }
  }
  if (field.presence === 'many') {
    return {
      ...common,
      initial: () => [],
      write(values: readonly unknown[]) {
        for (let index = values.length - 1; index >= 0; index--) one(values[index])
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

function unionBody(variants: wire.Variants): Body {
  const kinds = Object.entries(variants).map(([kind, description], index) => ({ kind, tag: index + 1, description }))
  const byKind = new Map(kinds.map((variant) => [variant.kind, variant]))
  return {
    write(message) {
      const variant = byKind.get(String(message['kind']))
      if (variant === undefined) throw new TypeError(`a message of unknown kind ${JSON.stringify(message['kind'])}`)
      writeNested(bodyOf(variant.description), message)
      writer.varint((variant.tag << 3) | wireTypes.bytes)
    },
    read(reader) {
      let message: Plain | undefined
      while (!reader.isAtEnd) {
        const head = reader.tag()
        const variant = kinds[(head >>> 3) - 1]
        if (variant === undefined || (head & 7) !== wireTypes.bytes) reader.skip(head & 7)
        else message = readNested(reader, bodyOf(variant.description), { kind: variant.kind })
      }
      if (message === undefined) throw new TypeError('a message of an unknown kind')
      return message
    },
  }
}

function itemOf(field: wire.Field): Item {
  switch (field.kind) {
    case 'scalar':
      return scalarItems[field.wire]
    case 'message':
      return nestedItem(field.message, () => bodyOf(field.message).read(new Reader(noBytes), {}))
    case 'union':
      return nestedItem(field.union, () => undefined)
    case 'map':
      return mapItem
  }
}

const noBytes = new Uint8Array(0)

const scalarItems: Readonly<Record<wire.WireType, Item>> = {
  string: {
    wireType: wireTypes.bytes,
    write: (value: string) => writer.text(value),
    read: (reader) => reader.text(),
    absent: () => '',
  },
  bytes: {
    wireType: wireTypes.bytes,
    write: (bytes: Uint8Array) => {
      writer.raw(bytes)
      writer.varint(bytes.length)
    },
    read: (reader) => reader.bytes(),
    absent: () => noBytes,
  },
  bool: {
    wireType: wireTypes.varint,
    write: (value) => writer.varint(value === true ? 1 : 0),
    read: (reader) => reader.boolean(),
    absent: () => false,
  },
  int64: {
    wireType: wireTypes.varint,
    write: (value: number) => writer.integer(value),
    read: (reader) => Number(reader.int64()),
    absent: () => 0,
  },
  double: {
    wireType: wireTypes.fixed64,
    write: (value: number) => writer.double(value),
    read: (reader) => reader.double(),
    absent: () => 0,
  },
  json: {
    wireType: wireTypes.bytes,
    write: (value) => writer.text(printJson(value)),
    read: (reader) => parseJson(reader.text()),
    absent: () => undefined,
  },
}

const keyHead = (1 << 3) | wireTypes.bytes
const valueHead = (2 << 3) | wireTypes.bytes

const mapItem: Item = {
  wireType: wireTypes.bytes,
  write([key, text]: [string, string]) {
    const { length } = writer
    writer.text(text)
    writer.varint(valueHead)
    writer.text(key)
    writer.varint(keyHead)
    writer.varint(writer.length - length)
  },
  read(reader) {
    const pair = ['', '']
    reader.message(() => {
      while (!reader.isAtEnd) {
        const head = reader.tag()
        if (head === keyHead) pair[0] = reader.text()
        else if (head === valueHead) pair[1] = reader.text()
        else reader.skip(head & 7)
      }
    })
    return pair
  },
  absent: () => undefined,
}

function nestedItem(description: Described, absent: () => unknown): Item {
  let body: Body | undefined
  return {
    wireType: wireTypes.bytes,
    write(value: Plain) {
      body ??= bodyOf(description)
      writeNested(body, value)
    },
    read(reader) {
      body ??= bodyOf(description)
      return readNested(reader, body, {})
    },
    absent,
  }
}

function writeNested(body: Body, message: Plain): void {
  const { length } = writer
  body.write(message)
  writer.varint(writer.length - length)
}

function readNested(reader: Reader, body: Body, begun: Plain): Plain {
  const outerEnd = reader.enter()
  const message = body.read(reader, begun)
  reader.leave(outerEnd)
  return message
}

function parseJson(text: string): unknown {
  try {
    return decodeOwnJson(text).value
  } catch (error) {
    throw new TypeError(`a field with malformed JSON: ${messageOf(error)}`, { cause: error })
  }
}
