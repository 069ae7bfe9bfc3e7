import { memo } from '@orch/cel/memo'
import { decodeJson, isJsonObject, setMember } from '../json/index.ts'
import { printMicroTime, printTime } from '../meta/time.ts'
import { isScalar, type Node, resolveNode, resolveStruct, type ScalarNode, type StructNode, type VariantNode } from '../schema/index.ts'
import { printBase64 } from './base64.ts'
import {
  type FieldReader,
  type FieldReaders,
  fillFrom,
  type ReadField,
  singleField,
  type Target,
  type ValueReader,
} from './field-reader.ts'
import { MalformedProtobuf, Reader, reading, wireTypes } from './reader.ts'
import { type WireField, type WireStruct, wireStructOf } from './shape.ts'

/** The result of reading a message. */
export type ProtobufReading =
  | { readonly kind: 'decoded'; readonly object: Record<string, unknown> }
  | { readonly kind: 'malformed'; readonly message: string }

/**
 * Decodes a message of a type to its JSON form, as input for `decoderOf` of that type, which orders fields,
 * checks values, and prints or drops empty ones. Unknown fields are ignored.
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

/** Reads the fields of a message into an object. */
type Fill = (reader: Reader, target: Target) => void

/** The reader of a type's message. */
const fillerOf = memo((node: StructNode): Fill => {
  let fields: FieldReaders | undefined
  const fill: Fill = (reader, target) => {
    fields ??= readersOf(wireStructOf(node))
    fillFrom(fields, reader, target)
  }
  return fill
})

function readersOf({ fields, groups }: WireStruct): FieldReaders {
  const readers = new Map<number, FieldReader>(fields.map((field) => [field.tag, fieldOf(field)]))
  for (const group of groups) readers.set(group.tag, groupOf(group))
  return readers
}

/** A message whose fields are flat in JSON. */
function groupOf(group: WireStruct): FieldReader {
  const fields = readersOf(group)
  const name = namesIn(group).join(' or ')
  return { name, wireType: wireTypes.bytes, read: (reader, target) => reader.message(() => fillFrom(fields, reader, target)) }
}

function namesIn({ fields, groups }: WireStruct): string[] {
  return [...fields.map(({ field }) => field.name), ...groups.flatMap(namesIn)]
}

function fieldOf({ field: { name, node: declared } }: WireField): FieldReader {
  const node = resolveNode(declared)
  if (node.kind === 'list' && !node.isWrapped) return repeatedField(name, node.items)
  if (node.kind === 'map') return mapField(name, node.values)
  const { wireType, read } = valueReaderOf(node)
  return singleField(name, wireType, read)
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
  if (isScalar(node)) return scalarReaders[node.kind]
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

/** One field per form; a message without a field is null. */
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

/** A message with a value in field 1. */
function boxed(zero: unknown, read: (reader: Reader) => unknown): ValueReader {
  const fields = new Map([[1, singleField('value', wireTypes.bytes, read)]])
  return scalar(wireTypes.bytes, zero, (reader) => {
    const target: Target = {}
    reader.message(() => fillFrom(fields, reader, target))
    return target['value'] ?? zero
  })
}

const embedded = boxed(null, (reader) => parseEmbeddedJson(reader.bytes()))

/** One reader per kind of scalar. */
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
  fieldsV1: { ...boxed('', (reader) => parseOwnedFields(reader.bytes())), zero: () => null },
}

/** Infinity and NaN have no JSON form. */
function readDouble(reader: Reader): number {
  const value = reader.double()
  if (!Number.isFinite(value)) throw new MalformedProtobuf('a number is not finite')
  return value
}

const instantFields: FieldReaders = new Map([
  [1, singleField('seconds', wireTypes.varint, (reader) => reader.int64())],
  [2, singleField('nanos', wireTypes.varint, (reader) => reader.int32())],
])

/** The range of seconds in years with four digits. */
const secondsMin = Date.parse('0000-01-01T00:00:00Z') / 1000
const secondsMax = Date.parse('9999-12-31T23:59:59Z') / 1000

/** An empty message is an absent time. */
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

const intOrStringFields: FieldReaders = new Map([
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

/** Owned fields are not parsed by kube-apiserver's decoder: a text that is not JSON, such as an empty one, is no set of fields, and resets the owners. */
function parseOwnedFields(bytes: Uint8Array): unknown {
  const decoded = decodeJson(bytes)
  return decoded.kind === 'malformed' ? new TextDecoder().decode(bytes) : (decoded.value ?? {})
}

/** Parses JSON in a field of a message; an empty text is null. */
function parseEmbeddedJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null
  const decoded = decodeJson(bytes)
  switch (decoded.kind) {
    case 'json':
      return decoded.value
    case 'malformed':
      throw new MalformedProtobuf(`a value that is passed through is not JSON: ${decoded.message}`)
  }
}
