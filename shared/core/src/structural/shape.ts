import { fieldElement } from '../apply/path-element.ts'
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
} from '../apply/shape.ts'
import { shapeOfType } from '../apply/type-shape.ts'
import type { StructuralSchema } from './schema.ts'

const texts: ScalarShape = { kind: 'scalar', type: 'string' }
const numbers: ScalarShape = { kind: 'scalar', type: 'number' }
const truths: ScalarShape = { kind: 'scalar', type: 'boolean' }

/**
 * The shape of a custom resource's objects, from its structural schema. `apiVersion`, `kind` and `metadata` have the shape of
 * every object, whatever the schema. Without a schema, everything else is deduced from values.
 */
export function shapeOfCustomObject(schema: StructuralSchema | undefined): ObjectShape {
  const inner = schema === undefined ? deducedObject : shapeOfObject(schema, { isAtomic: false })
  return { ...inner, fields: new Map([...inner.fields, ...objectFields()]) }
}

/** The shape of a subschema. */
export function shapeOfStructural(schema: StructuralSchema): Shape {
  if (schema.isIntOrString === true) return anyScalar
  switch (schema.type) {
    case 'object':
      return shapeOfObject(schema, { isAtomic: schema.mapType === 'atomic' })
    case 'array':
      return shapeOfArray(schema)
    case 'string':
      return texts
    case 'integer':
    case 'number':
      return numbers
    case 'boolean':
      return truths
    case undefined:
      return schema.preservesUnknownFields === true ? deducedShape : atomicShape
  }
}

function shapeOfObject(schema: StructuralSchema, { isAtomic }: { readonly isAtomic: boolean }): ObjectShape {
  const { properties, additionalProperties } = schema
  if (typeof additionalProperties === 'object') return mapShape(shapeOfStructural(additionalProperties), { isAtomic })
  const keepsUnknown = schema.preservesUnknownFields === true || additionalProperties === true || properties === undefined
  const fields = new Map<string, FieldShape>(schema.isEmbeddedResource === true ? objectFields() : [])
  for (const [name, property] of properties ?? []) {
    if (!fields.has(name)) fields.set(name, { element: fieldElement(name), shape: shapeOfStructural(property) })
  }
  return { kind: 'object', isAtomic, fields, values: keepsUnknown ? deducedShape : undefined }
}

function shapeOfArray({ items = {}, listType = 'atomic', listMapKeys = [] }: StructuralSchema): Shape {
  const shape = shapeOfStructural(items)
  if (listType !== 'map') return listShape({ listType, items: shape })
  return listShape({ listType, items: shape, keys: listMapKeys, defaultOf: (key) => items.properties?.get(key)?.default?.value })
}

function objectFields(): [string, FieldShape][] {
  return [
    ['apiVersion', { element: fieldElement('apiVersion'), shape: texts }],
    ['kind', { element: fieldElement('kind'), shape: texts }],
    ['metadata', { element: fieldElement('metadata'), shape: shapeOfType('meta/v1.ObjectMeta') }],
  ]
}
