import { isJsonObject } from '../json/member.ts'
import type { ElementText } from './path-element.ts'

/**
 * The shape of a type for ownership: which values are owned as a whole and which by part, and the path elements of parts.
 * Created once per type, from its description or from the schema of a custom resource.
 */
export type Shape = ScalarShape | UntypedShape | ListShape | ObjectShape

export interface ScalarShape {
  readonly kind: 'scalar'
  /** `any` accepts all scalar types. */
  readonly type: 'string' | 'number' | 'boolean' | 'any'
}

/** A value without a schema. Objects are owned by member and lists as a whole; an atomic value is always owned as a whole. */
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
  /** Default values of keys, in the order of `keys`; undefined for a required key. */
  readonly keyDefaults: readonly unknown[]
}

/** The shape of a struct has `fields`, of a map `values`, and of an object that keeps unknown fields both. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, FieldShape>
  /** The shape of undeclared members; undefined if there are none. */
  readonly values: Shape | undefined
}

export interface FieldShape {
  readonly element: ElementText
  readonly shape: Shape
}

export const anyScalar: ScalarShape = Object.freeze({ kind: 'scalar', type: 'any' })
/** Any value, owned as a whole. */
export const atomicShape: UntypedShape = Object.freeze({ kind: 'untyped', isAtomic: true })
/** Any value, with objects owned by member: the shape of a custom resource without a schema. */
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

/** The shape of a value's members; undefined for a leaf. */
export function granularObject(shape: Shape, value: unknown): ObjectShape | undefined {
  switch (shape.kind) {
    case 'object':
      return shape.isAtomic ? undefined : shape
    case 'untyped':
      return shape.isAtomic || !isJsonObject(value) ? undefined : deducedObject
    case 'scalar':
    case 'list':
      return undefined
  }
}
