import { memo } from '@orch/cel/memo'
import { isScalar, type Node, type StructNode, type VariantNode } from '../description/node.ts'
import { isJsonObject, setMember } from '../json/member.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import {
  type FieldReader,
  type FieldReaders,
  fillFrom,
  type ReadField,
  singleField,
  type Target,
  type ValueReader,
} from './field-reader.ts'
import { Reader, reading, wireTypes } from './reader.ts'
import { scalarReaders } from './scalar-reader.ts'
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
