import { memo } from '@orch/cel/memo'
import { type Field, isScalar, type Node, resolveNode, type StructNode } from '../schema/index.ts'
import { valueWriterOf } from './message-writer.ts'
import { wireTypes } from './reader.ts'
import { scalarWriters, tagOf, type ValueWriter } from './scalar-writer.ts'
import { type WireStruct, wireStructOf } from './shape.ts'
import { Writer } from './writer.ts'

type ShapeKind = 'text' | 'boolean' | 'integer' | 'time' | 'quantity' | 'intOrString' | 'embedded' | 'message' | 'list' | 'map' | 'other'

/**
 * A plan for reading and writing a value, as data, so that few functions interpret it and are compiled soon. `other` has no fast
 * writer and uses the general one, like unusual values of every kind.
 */
export class Shape {
  readonly kind: ShapeKind
  /** The general writer. A list has that of its items, a map that of its values. */
  readonly byValue: ValueWriter
  /** The shape of a list's items, or of a map's values. */
  readonly items: Shape | undefined
  readonly #node: StructNode | undefined
  #plan: Plan | undefined

  constructor(kind: ShapeKind, byValue: ValueWriter, { items, node }: { readonly items?: Shape; readonly node?: StructNode } = {}) {
    this.kind = kind
    this.byValue = byValue
    this.items = items
    this.#node = node
  }

  /** The plan of a message, created at first use. */
  get plan(): Plan {
    if (this.#plan !== undefined) return this.#plan
    if (this.#node === undefined) throw new Error('only a message has a plan')
    this.#plan = toPlan(this.#node)
    return this.#plan
  }
}

/** The plan for writing a field. */
export interface Step {
  /** The tag of the field; for a map, of an entry. */
  readonly tag: number
  /** The index of its value among the message's values. */
  readonly place: number
  readonly shape: Shape
  /** The bytes of a field without a value. */
  readonly substitute: Uint8Array
  /** The tag of a map's values. */
  readonly valueTag: number
  /** The fields of a separate message; undefined for a single field. */
  readonly group: readonly Step[] | undefined
}

/** The plan for reading and writing a struct. */
export interface Plan {
  /** The field names in printed order, including the quote and colon after them. */
  readonly names: readonly Uint8Array[]
  /** The shapes of these fields. */
  readonly shapes: readonly Shape[]
  /** Ordered from the last field number to the first. */
  readonly steps: readonly Step[]
}

const nothing = new Uint8Array()

/** The shape of an object, shared by all fields of its type. */
export const messageShape: (node: StructNode) => Shape = memo((node) => new Shape('message', valueWriterOf(node), { node }))

function toPlan(node: StructNode): Plan {
  const fields = node.fields.filter(({ tag }) => tag !== undefined)
  const names = fields.map(({ name }) => new TextEncoder().encode(`${name}":`))
  const values = fields.map((field) => fieldShape(resolveNode(field.node)))
  const places = new Map(fields.map(({ name }, place) => [name, place]))
  const stepOf = (number: number, field: Field): Step => {
    const place = places.get(field.name) ?? 0
    return fieldStep(number, field, place, values[place] ?? noShape)
  }
  return { names, shapes: values, steps: stepsOf(wireStructOf(node), stepOf) }
}

function stepsOf({ fields, groups }: WireStruct, stepOf: (number: number, field: Field) => Step): readonly Step[] {
  const steps = fields.map(({ tag, field }) => ({ number: tag, step: stepOf(tag, field) }))
  for (const group of groups) {
    const tag = tagOf(group.tag, wireTypes.bytes)
    const step = { tag, place: 0, shape: noShape, substitute: nothing, valueTag: 0, group: stepsOf(group, stepOf) }
    steps.push({ number: group.tag, step })
  }
  return steps.sort((left, right) => right.number - left.number).map(({ step }) => step)
}

function fieldStep(number: number, { pointer }: Field, place: number, shape: Shape): Step {
  const { wireType, zero } = shape.byValue
  const isSingle = shape.kind !== 'list' && shape.kind !== 'map'
  const tag = tagOf(number, shape.kind === 'map' ? wireTypes.bytes : wireType)
  const substitute = isSingle && pointer !== true && zero !== undefined ? zeroField(shape.byValue, tag) : nothing
  return { tag, place, shape, substitute, valueTag: tagOf(2, wireType), group: undefined }
}

/** The bytes of a field with the zero value of its type. */
function zeroField({ write, zero }: ValueWriter, tag: number): Uint8Array {
  const writer = new Writer(64)
  write(writer, zero)
  writer.varint(tag)
  return writer.finish()
}

/** The shape of a field; a list or map has several values. */
function fieldShape(node: Node): Shape {
  if (node.kind !== 'map' && (node.kind !== 'list' || node.isWrapped === true)) return shapeOf(node)
  const items = shapeOf(resolveNode(node.kind === 'map' ? node.values : node.items))
  return new Shape(node.kind, items.byValue, { items })
}

function shapeOf(node: Node): Shape {
  return node.kind === 'struct' ? messageShape(node) : new Shape(kindOf(node), valueWriterOf(node))
}

/** The shape of a group, which has no value itself. */
const noShape = new Shape('other', scalarWriters.string)

function kindOf(node: Node): ShapeKind {
  if (node.kind === 'string') return 'text'
  if (!isScalar(node)) return 'other'
  switch (node.kind) {
    case 'boolean':
    case 'time':
    case 'quantity':
    case 'intOrString':
      return node.kind
    case 'int32':
    case 'int64':
      return 'integer'
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return 'embedded'
    case 'double':
    case 'bytes':
    case 'microTime':
      return 'other'
  }
}
