import { isJsonObject } from '../json/member.ts'
import { fieldElement } from './path-element.ts'
import {
  anyScalar,
  atomicShape,
  deducedObject,
  deducedShape,
  type FieldShape,
  listShape,
  mapShape,
  type ObjectShape,
  type ScalarShape,
  type Shape,
} from './shape.ts'
import { shapeOfType } from './type-shape.ts'

type Schema = Readonly<Record<string, unknown>>

const texts: ScalarShape = { kind: 'scalar', type: 'string' }
const numbers: ScalarShape = { kind: 'scalar', type: 'number' }
const truths: ScalarShape = { kind: 'scalar', type: 'boolean' }

/**
 * The shape of a custom resource's object, from its structural schema. `apiVersion`, `kind` and `metadata` are those of
 * every object, whatever the schema says. Without a schema all that is known of the rest is deduced from the values.
 */
export function shapeOfCustomObject(schema: Schema | undefined): ObjectShape {
  const inner = schema === undefined ? deducedObject : shapeOfStructural({ ...schema, 'x-kubernetes-map-type': undefined })
  const known = inner.kind === 'object' ? inner : deducedObject
  return { ...known, fields: new Map([...known.fields, ...objectFields()]) }
}

/** The shape of a part of a structural schema. */
export function shapeOfStructural(schema: Schema): Shape {
  if (schema['x-kubernetes-int-or-string'] === true) return anyScalar
  switch (schema['type']) {
    case 'object':
      return shapeOfObject(schema)
    case 'array':
      return shapeOfArray(schema)
    case 'string':
      return texts
    case 'integer':
    case 'number':
      return numbers
    case 'boolean':
      return truths
    default:
      return schema['x-kubernetes-preserve-unknown-fields'] === true ? deducedShape : atomicShape
  }
}

function shapeOfObject(schema: Schema): Shape {
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic'
  const { properties, additionalProperties } = schema
  if (isJsonObject(additionalProperties)) return mapShape(shapeOfStructural(additionalProperties), { isAtomic })
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true || !isJsonObject(properties)
  const fields = new Map<string, FieldShape>(schema['x-kubernetes-embedded-resource'] === true ? objectFields() : [])
  for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (isJsonObject(property) && !fields.has(name)) fields.set(name, { element: fieldElement(name), shape: shapeOfStructural(property) })
  }
  return { kind: 'object', isAtomic, fields, values: keepsUnknown ? deducedShape : undefined }
}

function shapeOfArray(schema: Schema): Shape {
  const itemSchema = isJsonObject(schema['items']) ? schema['items'] : {}
  const items = shapeOfStructural(itemSchema)
  const keys = schema['x-kubernetes-list-map-keys']
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return listShape({ listType: 'set', items })
    case 'map':
      return listShape({ listType: 'map', items, keys: Array.isArray(keys) ? keys.map(String) : [], defaultOf: keyDefaults(itemSchema) })
    default:
      return listShape({ listType: 'atomic', items })
  }
}

function keyDefaults(itemSchema: Schema): (key: string) => unknown {
  const properties = isJsonObject(itemSchema['properties']) ? itemSchema['properties'] : {}
  return (key) => (isJsonObject(properties[key]) ? properties[key]['default'] : undefined)
}

function objectFields(): [string, FieldShape][] {
  return [
    ['apiVersion', { element: fieldElement('apiVersion'), shape: texts }],
    ['kind', { element: fieldElement('kind'), shape: texts }],
    ['metadata', { element: fieldElement('metadata'), shape: shapeOfType('meta/v1.ObjectMeta') }],
  ]
}
