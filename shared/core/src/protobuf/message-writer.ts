import { memo } from '@orch/cel/memo'
import { type Alternative, type Field, isScalar, type Node, type StructNode, type VariantNode } from '../description/node.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import { wireTypes } from './reader.ts'
import { lengthPrefixed, scalarWriters, tagOf, type ValueWriter } from './scalar-writer.ts'
import { type WireField, type WireStruct, wireStructOf } from './shape.ts'
import type { Writer } from './writer.ts'

/** Writes an object's message before the bytes already written. */
export function writeMessage(type: string, target: Writer, object: object): void {
  const node = resolveStruct(type)
  if (node.hasNoProtobuf) throw new Error(`${type} has no form in Protobuf`)
  messageOf(node)(target, object as Source)
}

type Source = Readonly<Record<string, unknown>>
/** Writes the fields of a message, without its length. */
type WriteMessage = (writer: Writer, source: Source) => void
/** Writes one field of a message, or nothing. */
type WriteField = (writer: Writer, source: Source) => void

/** The writer of a type's message. */
const messageOf = memo((node: StructNode): WriteMessage => {
  let writeFields: readonly WriteField[] | undefined
  const write: WriteMessage = (target, source) => {
    writeFields ??= writersOf(wireStructOf(node))
    for (let index = 0; index < writeFields.length; index++) writeFields[index]!(target, source)
  }
  return write
})

/** The writers of fields from the last number to the first, since writing is backwards. */
function writersOf({ fields, groups }: WireStruct): readonly WriteField[] {
  const members = [
    ...fields.map((field) => ({ tag: field.tag, write: fieldOf(field) })),
    ...groups.map((group) => ({ tag: group.tag, write: groupOf(group.tag, group) })),
  ]
  return members.sort((left, right) => right.tag - left.tag).map(({ write }) => write)
}

function groupOf(number: number, group: WireStruct): WriteField {
  const tag = tagOf(number, wireTypes.bytes)
  const writeFields = writersOf(group)
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

/** Map entries sorted by key, so that equal maps have equal bytes. */
function mapField(name: string, number: number, values: Node): WriteField {
  const { wireType, write, zero } = valueWriterOf(resolveNode(values))
  const tag = tagOf(number, wireTypes.bytes)
  const keyTag = tagOf(1, wireTypes.bytes)
  const valueTag = tagOf(2, wireType)
  return (target, source) => {
    const map = source[name] as Source | null | undefined
    if (map === undefined || map === null) return
    const keys = sortedKeys(map)
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index]!
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

/** Most maps are already sorted, and checking is cheaper than sorting. */
function sortedKeys(map: Source): readonly string[] {
  const keys = Object.keys(map)
  for (let index = 1; index < keys.length; index++) {
    if (keys[index]! < keys[index - 1]!) return keys.sort()
  }
  return keys
}

/** The writer of a node's values. */
export function valueWriterOf(node: Node): ValueWriter {
  if (isScalar(node)) return scalarWriters[node.kind]
  switch (node.kind) {
    case 'ref':
      return valueWriterOf(resolveNode(node))
    case 'struct':
      return lengthPrefixed({}, messageOf(node))
    case 'list':
      return wrappedList(node.items)
    case 'variant':
      return variantValue(node)
    case 'map':
      throw new Error('a map has no form in Protobuf but as a field')
    case 'string':
      return scalarWriters[node.kind]
  }
}

/** A list in a separate message; omitted without a value, like any list. */
function wrappedList(items: Node): ValueWriter {
  const write = repeatedField('items', 1, items)
  return lengthPrefixed(undefined, (target, list: unknown) => write(target, { items: list }))
}

/** One field per form. A schema in place of a boolean also has `true`. */
function variantValue(node: VariantNode): ValueWriter {
  const object = alternativeField(node.object)
  const array = node.array === undefined ? undefined : alternativeField(node.array)
  const boolean = node.boolean === undefined ? undefined : alternativeField(node.boolean)
  return lengthPrefixed(undefined, (target, value: unknown) => {
    const isBoolean = typeof value === 'boolean'
    if (Array.isArray(value)) array?.(target, { value })
    else if (!isBoolean) object(target, { value })
    boolean?.(target, { value: isBoolean ? value : true })
  })
}

function alternativeField({ tag, node }: Alternative): WriteField {
  return fieldOf({ tag, field: { name: 'value', node, pointer: true } })
}
