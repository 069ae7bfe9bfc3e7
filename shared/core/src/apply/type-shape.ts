import { type Field, isScalar, type Node, type ScalarNode, type StructNode, scalarZeros } from '../description/node.ts'
import { memberOf } from '../json/member.ts'
import { resolveNode, resolveStruct } from '../schema/resolve.ts'
import { fieldElement } from './path-element.ts'
import {
  anyScalar,
  atomicShape,
  deducedObject,
  type FieldShape,
  listShape,
  mapShape,
  type ObjectShape,
  type ScalarShape,
  type Shape,
} from './shape.ts'

const stringShape: ScalarShape = { kind: 'scalar', type: 'string' }
const numberShape: ScalarShape = { kind: 'scalar', type: 'number' }
const booleanShape: ScalarShape = { kind: 'scalar', type: 'boolean' }

const scalarShapes: Readonly<Record<ScalarNode['kind'], Shape>> = {
  boolean: booleanShape,
  int32: numberShape,
  int64: numberShape,
  double: numberShape,
  bytes: stringShape,
  time: anyScalar,
  microTime: anyScalar,
  quantity: anyScalar,
  intOrString: anyScalar,
  raw: atomicShape,
  json: atomicShape,
  fieldsV1: deducedObject,
}

type Topology = Pick<Field, 'listType' | 'listMapKeys' | 'mapType' | 'structType' | 'patchStrategy' | 'patchMergeKey'>

const structShapes = new WeakMap<StructNode, ObjectShape>()

/** The shape of a type such as `core/v1.Pod`, created at first use and cached. */
export function shapeOfType(name: string): ObjectShape {
  return shapeOfStruct(resolveStruct(name))
}

/** The shape of any described type; `topology` comes from the field that contains it. */
export function shapeOfNode(node: Node, topology: Topology = {}): Shape {
  const target = resolveNode(node)
  if (isScalar(target)) return scalarShapes[target.kind]
  switch (target.kind) {
    case 'ref':
      return shapeOfNode(target, topology)
    case 'list':
      return shapeOfList(target.items, topology)
    case 'map':
      return mapShape(shapeOfNode(target.values), { isAtomic: topology.mapType === 'atomic' })
    case 'struct':
      return withStructType(shapeOfStruct(target), topology)
    case 'string':
      return stringShape
    case 'variant':
      return atomicShape
  }
}

/** The shape is registered before its fields are created, since a type may contain itself. */
function shapeOfStruct(node: StructNode): ObjectShape {
  const known = structShapes.get(node)
  if (known !== undefined) return known
  const fields = new Map<string, FieldShape>()
  const shape: ObjectShape = { kind: 'object', isAtomic: node.structType === 'atomic', fields, values: undefined }
  structShapes.set(node, shape)
  for (const field of node.fields) fields.set(field.name, new TypedField(field))
  return shape
}

/** A field of a struct. Most values lack most fields, so the getter makes the shape for the first one, and a property replaces it. */
class TypedField implements FieldShape {
  readonly element: FieldShape['element']
  readonly #field: Field

  constructor(field: Field) {
    this.element = fieldElement(field.name)
    this.#field = field
  }

  get shape(): Shape {
    const value = shapeOfNode(this.#field.node, this.#field)
    Object.defineProperty(this, 'shape', { value })
    return value
  }
}

/** A topology declared by a field overrides that of its type. */
function withStructType(shape: ObjectShape, { structType, mapType }: Topology): ObjectShape {
  const said = structType ?? mapType
  const isAtomic = said === undefined ? shape.isAtomic : said === 'atomic'
  return isAtomic === shape.isAtomic ? shape : { ...shape, isAtomic }
}

/** Without a declared list type, a list is a map if strategic merge has a key for it, and a set if strategic merge merges its items without a key. */
function shapeOfList(itemNode: Node, { listType, listMapKeys, patchStrategy, patchMergeKey }: Topology): Shape {
  const items = shapeOfNode(itemNode)
  if (listType === undefined && (patchStrategy === 'merge' || patchStrategy === 'merge,retainKeys')) {
    if (patchMergeKey === undefined) return listShape({ listType: 'set', items })
    return listShape({ listType: 'map', items, keys: [patchMergeKey], defaultOf: keyDefaults(itemNode) })
  }
  return listShape({
    listType: listType ?? 'atomic',
    items,
    ...(listMapKeys === undefined ? {} : { keys: listMapKeys, defaultOf: keyDefaults(itemNode) }),
  })
}

function keyDefaults(itemNode: Node): (key: string) => unknown {
  const item = resolveNode(itemNode)
  return (key) => {
    const field = item.kind === 'struct' ? item.fields.find(({ name }) => name === key) : undefined
    return field === undefined ? undefined : keyDefault(field)
  }
}

/** The declared default, or the zero that OpenAPI gives to a field that is always printed. */
function keyDefault(field: Field): unknown {
  if (field.default !== undefined || field.pointer || !(field.required || field.keepEmpty)) return field.default
  return memberOf(scalarZeros, resolveNode(field.node).kind)
}
