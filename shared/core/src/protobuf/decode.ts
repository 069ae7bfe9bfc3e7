import { isJsonObject, setMember } from '../json/member.ts'
import { printMicroTime, printTime } from '../meta/time.ts'
import type { Node, ScalarNode, StructNode, VariantNode } from '../schema/node.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import { printBase64 } from './base64.ts'
import { parseEmbeddedJson } from './embedded-json.ts'
import { MalformedProtobuf, Reader, reading, wireTypes } from './reader.ts'
import { type WireField, wireStructOf } from './shape.ts'

/** What became of a message. */
export type ProtobufReading =
  | { readonly kind: 'decoded'; readonly object: Record<string, unknown> }
  | { readonly kind: 'malformed'; readonly message: string }

/**
 * A message of a type as an object in its JSON form, ready for `decoderOf` of that type, which puts the fields in order,
 * checks the values and prints or drops what is empty. Fields that the type does not have are passed over.
 */
export function decodeProtobuf(type: string, bytes: Uint8Array): ProtobufReading {
  const node = resolveStruct(type)
  if (node.hasNoProtobuf) return { kind: 'malformed', message: `${type} has no form in Protobuf` }
  const object: Record<string, unknown> = {}
  return reading(() => {
    fillerOf(node)(new Reader(bytes), object)
    return { kind: 'decoded', object }
  })
}

type Target = Record<string, unknown>
/** Reads the fields of a message up to its end into an object. */
type Fill = (reader: Reader, target: Target) => void
/** Reads one field, whose tag has been read, into its object. */
type ReadField = (reader: Reader, target: Target) => void

interface FieldReader {
  readonly name: string
  readonly wireType: number
  readonly read: ReadField
  /** Reads many values at once, from a field that packs them. */
  readonly readPacked?: ReadField
}

interface ValueReader {
  readonly wireType: number
  /** A value; `before` is the one that the field had already, to which a message adds. */
  readonly read: (reader: Reader, before: unknown) => unknown
  /** What an entry of a map has that names no value. */
  readonly zero: () => unknown
}

const fillers = new WeakMap<StructNode, Fill>()

function fillerOf(node: StructNode): Fill {
  const known = fillers.get(node)
  if (known !== undefined) return known
  let fields: ReadonlyMap<number, FieldReader> | undefined
  const fill: Fill = (reader, target) => {
    fields ??= fieldsOf(node)
    fillFrom(fields, reader, target)
  }
  fillers.set(node, fill)
  return fill
}

function fillFrom(fields: ReadonlyMap<number, FieldReader>, reader: Reader, target: Target): void {
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    const wireType = tag % 8
    const field = fields.get(Math.floor(tag / 8))
    if (field === undefined) reader.skip(wireType)
    else if (field.wireType === wireType) field.read(reader, target)
    else if (field.readPacked !== undefined && wireType === wireTypes.bytes) field.readPacked(reader, target)
    else throw new MalformedProtobuf(`field ${field.name} has the wire type ${wireType} instead of ${field.wireType}`)
  }
}

function fieldsOf(node: StructNode): ReadonlyMap<number, FieldReader> {
  const { fields, groups } = wireStructOf(node)
  const readers = new Map<number, FieldReader>(fields.map((field) => [field.tag, fieldOf(field)]))
  for (const { tag, fields: inner } of groups) readers.set(tag, groupOf(inner))
  return readers
}

/** A message whose fields are flat in JSON. */
function groupOf(inner: readonly WireField[]): FieldReader {
  const fields = new Map(inner.map((field) => [field.tag, fieldOf(field)]))
  const name = inner.map(({ field }) => field.name).join(' or ')
  return { name, wireType: wireTypes.bytes, read: (reader, target) => reader.message(() => fillFrom(fields, reader, target)) }
}

function fieldOf({ field: { name, node: declared } }: WireField): FieldReader {
  const node = resolveNode(declared)
  if (node.kind === 'list' && !node.isWrapped) return repeatedField(name, node.items)
  if (node.kind === 'map') return mapField(name, node.values)
  const { wireType, read } = valueReaderOf(node)
  return singleField(name, wireType, read)
}

function singleField(name: string, wireType: number, read: ValueReader['read']): FieldReader {
  return {
    name,
    wireType,
    read: (reader, target) => {
      target[name] = read(reader, target[name])
    },
  }
}

function repeatedField(name: string, items: Node): FieldReader {
  const { wireType, read } = valueReaderOf(resolveNode(items))
  const add: ReadField = (reader, target) => {
    const value = read(reader, undefined)
    const list = target[name] as unknown[] | undefined
    if (list === undefined) target[name] = [value]
    else list.push(value)
  }
  if (wireType === wireTypes.bytes) return { name, wireType, read: add }
  const readPacked: ReadField = (reader, target) =>
    reader.message(() => {
      while (!reader.isAtEnd) add(reader, target)
    })
  return { name, wireType, read: add, readPacked }
}

function mapField(name: string, values: Node): FieldReader {
  const { wireType, read, zero } = valueReaderOf(resolveNode(values))
  const fields = new Map<number, FieldReader>([
    [1, singleField('key', wireTypes.bytes, (reader) => reader.text())],
    [2, singleField('value', wireType, read)],
  ])
  const readEntry: ReadField = (reader, target) =>
    reader.message(() => {
      const entry: Target = {}
      fillFrom(fields, reader, entry)
      const map = (target[name] ?? {}) as Target
      target[name] = map
      setMember(map, (entry['key'] as string | undefined) ?? '', entry['value'] ?? zero())
    })
  return { name, wireType: wireTypes.bytes, read: readEntry }
}

function valueReaderOf(node: Node): ValueReader {
  switch (node.kind) {
    case 'ref':
      return valueReaderOf(resolveNode(node))
    case 'struct':
      return structValue(node)
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
      return scalarReaders[node.kind]
  }
}

function structValue(node: StructNode): ValueReader {
  const fill = fillerOf(node)
  const read = (reader: Reader, before: unknown): unknown => {
    const target = isJsonObject(before) ? before : {}
    reader.message(() => fill(reader, target))
    return target
  }
  return { wireType: wireTypes.bytes, read, zero: () => ({}) }
}

function wrappedList(items: Node): ValueReader {
  const fields = new Map([[1, repeatedField('items', items)]])
  const read = (reader: Reader): unknown => {
    const target: Target = {}
    reader.message(() => fillFrom(fields, reader, target))
    return target['items'] ?? []
  }
  return { wireType: wireTypes.bytes, read, zero: () => [] }
}

/** One field per form; a message without any of them is null. */
function variantValue({ object, array, boolean }: VariantNode): ValueReader {
  const forms = { object, array, boolean }
  const fields = new Map<number, FieldReader>()
  for (const [name, form] of Object.entries(forms)) {
    if (form !== undefined) fields.set(form.tag, fieldOf({ tag: form.tag, field: { name, node: form.node } }))
  }
  const read = (reader: Reader): unknown => {
    const found: Target = {}
    reader.message(() => fillFrom(fields, reader, found))
    return found['array'] ?? found['object'] ?? found['boolean'] ?? null
  }
  return { wireType: wireTypes.bytes, read, zero: () => null }
}

function scalar(wireType: number, zero: unknown, read: (reader: Reader) => unknown): ValueReader {
  return { wireType, zero: () => zero, read }
}

/** A message with the value in field 1. */
function boxed(zero: unknown, read: (reader: Reader) => unknown): ValueReader {
  const fields = new Map([[1, singleField('value', wireTypes.bytes, read)]])
  return scalar(wireTypes.bytes, zero, (reader) => {
    const target: Target = {}
    reader.message(() => fillFrom(fields, reader, target))
    return target['value'] ?? zero
  })
}

const embedded = boxed(null, (reader) => parseEmbeddedJson(reader.bytes()))

const scalarReaders: Readonly<Record<ScalarNode['kind'] | 'string', ValueReader>> = {
  string: scalar(wireTypes.bytes, '', (reader) => reader.text()),
  boolean: scalar(wireTypes.varint, false, (reader) => reader.boolean()),
  int32: scalar(wireTypes.varint, 0, (reader) => reader.int32()),
  int64: scalar(wireTypes.varint, 0, (reader) => reader.int64()),
  double: scalar(wireTypes.fixed64, 0, readDouble),
  bytes: scalar(wireTypes.bytes, '', (reader) => printBase64(reader.bytes())),
  time: scalar(wireTypes.bytes, null, (reader) => readInstant(reader, printTime)),
  microTime: scalar(wireTypes.bytes, null, (reader) => readInstant(reader, printMicroTime)),
  quantity: boxed('0', (reader) => reader.text()),
  intOrString: scalar(wireTypes.bytes, 0, readIntOrString),
  raw: embedded,
  json: embedded,
  fieldsV1: embedded,
}

/** JSON has no way to write infinity or "not a number". */
function readDouble(reader: Reader): number {
  const value = reader.double()
  if (!Number.isFinite(value)) throw new MalformedProtobuf('a number is not finite')
  return value
}

const instantFields = new Map<number, FieldReader>([
  [1, singleField('seconds', wireTypes.varint, (reader) => reader.int64())],
  [2, singleField('nanos', wireTypes.varint, (reader) => reader.int32())],
])

/** The seconds of the years that four digits can say. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

/** An empty message is no time at all. */
function readInstant(reader: Reader, print: typeof printTime): string | null {
  const parts: Target = {}
  reader.message(() => fillFrom(instantFields, reader, parts))
  const { seconds, nanos: nanoseconds } = parts
  if (seconds === undefined && nanoseconds === undefined) return null
  const instant = { seconds: Number(seconds ?? 0), nanoseconds: Number(nanoseconds ?? 0) }
  const isTime = instant.seconds >= secondsMin && instant.seconds <= secondsMax && instant.nanoseconds >= 0 && instant.nanoseconds < 1e9
  if (!isTime) throw new MalformedProtobuf(`no time has ${seconds} seconds and ${nanoseconds} nanoseconds`)
  return print(instant)
}

const intOrStringFields = new Map<number, FieldReader>([
  [1, singleField('type', wireTypes.varint, (reader) => reader.int64())],
  [2, singleField('intVal', wireTypes.varint, (reader) => reader.int32())],
  [3, singleField('strVal', wireTypes.bytes, (reader) => reader.text())],
])

function readIntOrString(reader: Reader): unknown {
  const parts: Target = {}
  reader.message(() => fillFrom(intOrStringFields, reader, parts))
  const { type = 0, intVal = 0, strVal = '' } = parts
  if (type !== 0 && type !== 1) throw new MalformedProtobuf(`a value that is a number or a text has the type ${String(type)}`)
  return type === 0 ? intVal : strVal
}
