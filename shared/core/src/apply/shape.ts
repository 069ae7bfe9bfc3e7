import type { ElementText } from './path-element.ts'

/**
 * The shape of a type for ownership: the values owned as a whole, those owned by part, and the path elements of parts.
 * Made once for each type, from its description or from the schema of a custom resource.
 */
export type Shape = ScalarShape | UntypedShape | ListShape | ObjectShape

export interface ScalarShape {
  readonly kind: 'scalar'
  /** `any` accepts all scalar types. */
  readonly type: 'string' | 'number' | 'boolean' | 'any'
}

/** A value without schema. Its objects are owned by member and its lists as a whole, unless it is atomic. */
export interface UntypedShape {
  readonly kind: 'untyped'
  readonly isAtomic: boolean
}

export interface ListShape {
  readonly kind: 'list'
  readonly listType: 'atomic' | 'set' | 'map'
  readonly items: Shape
  /** Fields that identify an item of a `map`, sorted by name. */
  readonly keys: readonly string[]
  /** Default values of keys, in the order of `keys`; undefined: the key is required. */
  readonly keyDefaults: readonly unknown[]
}

/** A struct has `fields`, a map has `values`, and an object that keeps unknown fields has both. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, FieldShape>
  /** Shape of the values of undeclared keys; undefined: none are allowed. */
  readonly values: Shape | undefined
}

export interface FieldShape {
  readonly element: ElementText
  readonly shape: Shape
}

/** Any scalar. */
export const anyScalar: ScalarShape = Object.freeze({ kind: 'scalar', type: 'any' })
/** Any value, owned as a whole. */
export const atomicShape: UntypedShape = Object.freeze({ kind: 'untyped', isAtomic: true })
/** Any value, its objects owned by member: the shape of a custom resource without a schema. */
export const deducedShape: UntypedShape = Object.freeze({ kind: 'untyped', isAtomic: false })

const noFields: ReadonlyMap<string, FieldShape> = new Map()
/** An object whose members have no schema. */
export const deducedObject: ObjectShape = Object.freeze({ kind: 'object', isAtomic: false, fields: noFields, values: deducedShape })

/** Makes a list shape, with sorted keys. */
export function listShape(options: {
  listType: ListShape['listType']
  items: Shape
  keys?: readonly string[]
  defaultOf?: (key: string) => unknown
}): ListShape {
  const keys = [...(options.keys ?? [])].sort()
  return { kind: 'list', listType: options.listType, items: options.items, keys, keyDefaults: keys.map((key) => options.defaultOf?.(key)) }
}

/** Makes the shape of a map. */
export function mapShape(values: Shape, { isAtomic }: { isAtomic: boolean }): ObjectShape {
  return { kind: 'object', isAtomic, fields: noFields, values }
}

/** The shape by which the members of a value are owned; undefined for a leaf. */
export function granularObject(shape: Shape, value: unknown): ObjectShape | undefined {
  switch (shape.kind) {
    case 'object':
      return shape.isAtomic ? undefined : shape
    case 'untyped':
      return shape.isAtomic || !isObject(value) ? undefined : deducedObject
    case 'scalar':
    case 'list':
      return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
