import type { ElementText } from './path-element.ts'

/**
 * What ownership needs to know of a type: what is owned as a whole, what by its parts, and by which name a part goes.
 * Made once per type from its description, or from the schema of a custom resource.
 */
export type Shape = ScalarShape | UntypedShape | ListShape | ObjectShape

export interface ScalarShape {
  readonly kind: 'scalar'
  /** `any` takes each of the others. */
  readonly type: 'string' | 'number' | 'boolean' | 'any'
}

/** No schema says what is in it. Its objects are owned member by member and its lists whole, or it is atomic altogether. */
export interface UntypedShape {
  readonly kind: 'untyped'
  readonly isAtomic: boolean
}

export interface ListShape {
  readonly kind: 'list'
  readonly listType: 'atomic' | 'set' | 'map'
  readonly items: Shape
  /** Fields that name an item of a `map`, sorted by name. */
  readonly keys: readonly string[]
  /** Values of keys that an item may leave out, in the order of `keys`; undefined: it may not. */
  readonly keyDefaults: readonly unknown[]
}

/** A struct has `fields`, a map has `values`, and an object that keeps unknown fields has both. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, FieldShape>
  /** What stands under a key that is no declared field; undefined: there is no such key. */
  readonly values: Shape | undefined
}

export interface FieldShape {
  readonly element: ElementText
  readonly shape: Shape
}

/** Any value without parts. */
export const anyScalar: ScalarShape = Object.freeze({ kind: 'scalar', type: 'any' })
/** Anything at all, owned as a whole. */
export const atomicShape: UntypedShape = Object.freeze({ kind: 'untyped', isAtomic: true })
/** Anything at all, its objects owned member by member: what a custom resource without a schema is. */
export const deducedShape: UntypedShape = Object.freeze({ kind: 'untyped', isAtomic: false })

const noFields: ReadonlyMap<string, FieldShape> = new Map()
/** An object whose members nothing is known of. */
export const deducedObject: ObjectShape = Object.freeze({ kind: 'object', isAtomic: false, fields: noFields, values: deducedShape })

/** A list shape with its keys in order. */
export function listShape(options: {
  listType: ListShape['listType']
  items: Shape
  keys?: readonly string[]
  defaultOf?: (key: string) => unknown
}): ListShape {
  const keys = [...(options.keys ?? [])].sort()
  return { kind: 'list', listType: options.listType, items: options.items, keys, keyDefaults: keys.map((key) => options.defaultOf?.(key)) }
}

/** A map whose values are all of one shape. */
export function mapShape(values: Shape, { isAtomic }: { isAtomic: boolean }): ObjectShape {
  return { kind: 'object', isAtomic, fields: noFields, values }
}

/** Whether an untyped value goes member by member, or an object shape does: the shape to walk it by, undefined for a leaf. */
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
