import { parseInstant } from '../meta/time.ts'
import type { Alternative, Field, Node, ScalarNode, StructNode, VariantNode } from '../schema/node.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import { writeBase64 } from './base64.ts'
import { printEmbeddedJson } from './embedded-json.ts'
import { wireTypes } from './reader.ts'
import { type WireField, wireStructOf } from './shape.ts'
import type { Writer } from './writer.ts'

/** Writes an object's message in front of what the writer holds. */
export function writeMessage(type: string, target: Writer, object: object): void {
  const node = resolveStruct(type)
  if (node.hasNoProtobuf) throw new Error(`${type} has no form in Protobuf`)
  messageOf(node)(target, object as Source)
}

type Source = Readonly<Record<string, unknown>>
/** Writes the fields of a message, without length. */
type WriteMessage = (writer: Writer, source: Source) => void
/** Writes a value that is there, with its length where it has one, without the field's number. */
type WriteValue = (writer: Writer, value: never) => void
/** Writes one field of a message, or nothing. */
type WriteField = (writer: Writer, source: Source) => void

interface ValueWriter {
  readonly wireType: number
  readonly write: (writer: Writer, value: unknown) => void
  /** What is written for a field that has no value and is no pointer; undefined: nothing. */
  readonly zero: unknown
}

function tagOf(number: number, wireType: number): number {
  return number * 8 + wireType
}

const messages = new WeakMap<StructNode, WriteMessage>()

function messageOf(node: StructNode): WriteMessage {
  const known = messages.get(node)
  if (known !== undefined) return known
  let writeFields: readonly WriteField[] | undefined
  const write: WriteMessage = (target, source) => {
    writeFields ??= fieldsOf(node)
    for (let index = 0; index < writeFields.length; index++) (writeFields[index] as WriteField)(target, source)
  }
  messages.set(node, write)
  return write
}

/** The fields from the last number to the first, because writing goes from the end to the start. */
function fieldsOf(node: StructNode): readonly WriteField[] {
  const { fields, groups } = wireStructOf(node)
  const members = [
    ...fields.map((field) => ({ tag: field.tag, write: fieldOf(field) })),
    ...groups.map((group) => ({ tag: group.tag, write: groupOf(group.tag, group.fields) })),
  ]
  return members.sort((left, right) => right.tag - left.tag).map(({ write }) => write)
}

function groupOf(number: number, fields: readonly WireField[]): WriteField {
  const tag = tagOf(number, wireTypes.bytes)
  const writeFields = [...fields].sort((left, right) => right.tag - left.tag).map(fieldOf)
  return (target, source) => {
    const before = target.length
    for (const write of writeFields) write(target, source)
    target.varint(target.length - before)
    target.varint(tag)
  }
}

function fieldOf({ tag: number, field }: WireField): WriteField {
  const node = resolveNode(field.node)
  if (node.kind === 'list' && !node.isWrapped) return repeatedField(field.name, number, node.items)
  if (node.kind === 'map') return mapField(field.name, number, node.values)
  return singleField(field, number, valueWriterOf(node))
}

function singleField({ name, pointer }: Field, number: number, { wireType, write, zero }: ValueWriter): WriteField {
  const tag = tagOf(number, wireType)
  const substitute = pointer ? undefined : zero
  return (target, source) => {
    const value = source[name] ?? substitute
    if (value === undefined) return
    write(target, value)
    target.varint(tag)
  }
}

function repeatedField(name: string, number: number, items: Node): WriteField {
  const { wireType, write, zero } = valueWriterOf(resolveNode(items))
  const tag = tagOf(number, wireType)
  return (target, source) => {
    const list = source[name]
    if (!Array.isArray(list)) return
    for (let index = list.length - 1; index >= 0; index--) {
      write(target, list[index] ?? zero)
      target.varint(tag)
    }
  }
}

/** Entries in the order of their keys, so that equal maps have equal bytes. */
function mapField(name: string, number: number, values: Node): WriteField {
  const { wireType, write, zero } = valueWriterOf(resolveNode(values))
  const tag = tagOf(number, wireTypes.bytes)
  const keyTag = tagOf(1, wireTypes.bytes)
  const valueTag = tagOf(2, wireType)
  return (target, source) => {
    const map = source[name] as Source | null | undefined
    if (map === undefined || map === null) return
    const keys = Object.keys(map).sort()
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index] as string
      const before = target.length
      write(target, map[key] ?? zero)
      target.varint(valueTag)
      target.text(key)
      target.varint(keyTag)
      target.varint(target.length - before)
      target.varint(tag)
    }
  }
}

function valueWriterOf(node: Node): ValueWriter {
  switch (node.kind) {
    case 'ref':
      return valueWriterOf(resolveNode(node))
    case 'struct':
      return lengthPrefixed(messageOf(node), {})
    case 'list':
      return wrappedList(node.items)
    case 'variant':
      return variantValue(node)
    case 'map':
      throw new Error('a map has no form in Protobuf but as a field')
    case 'string':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'double':
    case 'bytes':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return scalarWriters[node.kind]
  }
}

/** A list that is a message of its own; without a value it is left out, as a list is. */
function wrappedList(items: Node): ValueWriter {
  const write = repeatedField('items', 1, items)
  return lengthPrefixed((target, list) => write(target, { items: list }), undefined)
}

/** One field per form. A schema that stands where a boolean may says `true` beside itself. */
function variantValue(node: VariantNode): ValueWriter {
  const object = alternativeField(node.object)
  const array = node.array === undefined ? undefined : alternativeField(node.array)
  const boolean = node.boolean === undefined ? undefined : alternativeField(node.boolean)
  const write = (target: Writer, value: unknown): void => {
    const isBoolean = typeof value === 'boolean'
    if (Array.isArray(value)) array?.(target, { value })
    else if (!isBoolean) object(target, { value })
    boolean?.(target, { value: isBoolean ? value : true })
  }
  return lengthPrefixed(write as WriteMessage, undefined)
}

function alternativeField({ tag, node }: Alternative): WriteField {
  return fieldOf({ tag, field: { name: 'value', node, pointer: true } })
}

function lengthPrefixed(write: WriteMessage, zero: unknown): ValueWriter {
  return {
    wireType: wireTypes.bytes,
    zero,
    write: (target, value) => {
      const before = target.length
      write(target, value as Source)
      target.varint(target.length - before)
    },
  }
}

function scalar(wireType: number, zero: unknown, write: WriteValue): ValueWriter {
  return { wireType, zero, write: write as ValueWriter['write'] }
}

/** What stands for a value that is a message and has nothing in it. */
const nothing = Symbol('nothing')

const textTag = tagOf(1, wireTypes.bytes)
const embedded = (zero: unknown): ValueWriter =>
  scalar(wireTypes.bytes, zero, (target: Writer, value: unknown) => {
    const before = target.length
    if (value !== nothing) {
      target.text(printEmbeddedJson(value))
      target.varint(textTag)
    }
    target.varint(target.length - before)
  })

const instant = scalar(wireTypes.bytes, nothing, (target: Writer, value: string | typeof nothing) => {
  const before = target.length
  if (value !== nothing) writeInstant(target, value)
  target.varint(target.length - before)
})

const scalarWriters: Readonly<Record<ScalarNode['kind'] | 'string', ValueWriter>> = {
  string: scalar(wireTypes.bytes, '', (target: Writer, value: string) => target.text(value)),
  boolean: scalar(wireTypes.varint, false, (target: Writer, value: boolean) => target.varint(value ? 1 : 0)),
  int32: scalar(wireTypes.varint, 0, (target: Writer, value: number) => target.integer(value)),
  int64: scalar(wireTypes.varint, 0, (target: Writer, value: number | bigint) => target.integer(value)),
  double: scalar(wireTypes.fixed64, 0, (target: Writer, value: number) => target.double(value)),
  bytes: scalar(wireTypes.bytes, undefined, (target: Writer, value: string | undefined) => writeBase64(target, value ?? '')),
  time: instant,
  microTime: instant,
  quantity: scalar(wireTypes.bytes, '0', writeQuantity),
  intOrString: scalar(wireTypes.bytes, 0, writeIntOrString),
  raw: embedded(nothing),
  json: embedded(nothing),
  fieldsV1: embedded(nothing),
}

const secondsTag = tagOf(1, wireTypes.varint)
const nanosecondsTag = tagOf(2, wireTypes.varint)
const wholeSecondLength = '2026-01-02T03:04:05Z'.length

function writeInstant(target: Writer, text: string): void {
  const { seconds, nanoseconds } = instantOf(text)
  target.integer(nanoseconds)
  target.varint(nanosecondsTag)
  target.integer(seconds)
  target.varint(secondsTag)
}

function instantOf(text: string): { seconds: number; nanoseconds: number } {
  if (text.length === wholeSecondLength) {
    const milliseconds = Date.parse(text)
    if (!Number.isNaN(milliseconds)) return { seconds: milliseconds / 1000, nanoseconds: 0 }
  }
  const parsed = parseInstant(text)
  if (parsed === undefined) throw new TypeError(`an object to be encoded has the time ${JSON.stringify(text)}`)
  return parsed
}

function writeQuantity(target: Writer, value: string): void {
  const before = target.length
  target.text(String(value))
  target.varint(textTag)
  target.varint(target.length - before)
}

const intFormTag = tagOf(1, wireTypes.varint)
const intTag = tagOf(2, wireTypes.varint)
const stringTag = tagOf(3, wireTypes.bytes)

/** All three parts are always there: which of the two is meant (0: the number), the number, the text. */
function writeIntOrString(target: Writer, value: number | string): void {
  const before = target.length
  const isText = typeof value === 'string'
  target.text(isText ? value : '')
  target.varint(stringTag)
  target.integer(isText ? 0 : value)
  target.varint(intTag)
  target.varint(isText ? 1 : 0)
  target.varint(intFormTag)
  target.varint(target.length - before)
}
