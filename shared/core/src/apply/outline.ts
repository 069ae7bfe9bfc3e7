import { isJsonObject, jsonEqual, memberOf } from '../json/index.ts'
import { findUnownable } from './check.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/**
 * Everything about a new object that determines its owned fields: its members, the keys of items, and which values equal those
 * of an unset object. Two objects with the same outline, such as Pods of one template, have the same owned
 * fields. Comparing an object with an outline costs a tenth of computing and printing its fields.
 */
export type Outline =
  /** A member without a value. */
  | { readonly kind: 'absent' }
  /** Null or a scalar of this type. */
  | { readonly kind: 'scalar'; readonly type: string; readonly blank: Blank | undefined }
  /** Any value that is owned as a whole, at this depth in the object. */
  | { readonly kind: 'whole'; readonly shape: Shape; readonly depth: number; readonly blank: Blank | undefined }
  /** Null in place of a value with ownable parts. */
  | { readonly kind: 'null'; readonly blank: Blank | undefined }
  | { readonly kind: 'object'; readonly names: readonly string[]; readonly parts: readonly Outline[] }
  /** Items are identified by the values of these members; undefined if by the items themselves. */
  | {
      readonly kind: 'list'
      readonly keys: readonly string[] | undefined
      readonly values: readonly unknown[]
      readonly parts: readonly Outline[]
    }

/** The value in an unset object, and true if the current value equals it. */
interface Blank {
  readonly value: unknown
  readonly isSame: boolean
}

/** Maximum number of places in an outline: a larger one would take too much memory. */
const placesMax = 2_000

/** The outline of a value; undefined if it is too large or has parts that an outline cannot describe. */
export function outlineOf(shape: Shape, value: unknown, blank: unknown): Outline | undefined {
  return outlineAt(shape, value, { blank, depth: 0, budget: { left: placesMax } })
}

interface Around {
  readonly blank: unknown
  readonly depth: number
  readonly budget: { left: number }
}

function outlineAt(shape: Shape, value: unknown, { blank, depth, budget }: Around): Outline | undefined {
  budget.left -= 1
  if (budget.left < 0) return undefined
  if (value === undefined) return { kind: 'absent' }
  const before = blank === undefined ? undefined : { value: blank, isSame: jsonEqual(value, blank) }
  const isLeaf = shape.kind === 'scalar' || (shape.kind === 'untyped' && !shape.isAtomic && value !== null && isScalar(value))
  if (isLeaf) return isScalar(value) ? { kind: 'scalar', type: scalarType(value), blank: before } : undefined
  if (shape.kind === 'list' ? shape.listType === 'atomic' : shape.isAtomic) return { kind: 'whole', shape, depth, blank: before }
  if (value === null) return { kind: 'null', blank: before }
  const around = { blank, depth: depth + 1, budget }
  if (shape.kind === 'list') return Array.isArray(value) ? outlineOfList(shape, value, around) : undefined
  const object = granularObject(shape, value)
  return object !== undefined && isJsonObject(value) ? outlineOfObject(object, value, around) : undefined
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function scalarType(value: unknown): string {
  return value === null ? 'null' : typeof value
}

function outlineOfObject(
  shape: ObjectShape,
  value: Readonly<Record<string, unknown>>,
  { blank, depth, budget }: Around,
): Outline | undefined {
  const names: string[] = []
  const parts: Outline[] = []
  for (const name in value) {
    const inner = shape.fields.get(name)?.shape ?? shape.values
    if (inner === undefined) return undefined
    const before = isJsonObject(blank) ? memberOf(blank, name) : undefined
    const part = outlineAt(inner, value[name], { blank: before, depth, budget })
    if (part === undefined) return undefined
    names.push(name)
    parts.push(part)
  }
  return { kind: 'object', names, parts }
}

function outlineOfList(shape: ListShape, items: readonly unknown[], { depth, budget }: Around): Outline | undefined {
  const keys = shape.listType === 'map' ? shape.keys : undefined
  const values: unknown[] = []
  const parts: Outline[] = []
  for (const item of items) {
    const part = outlineAt(shape.items, item, { blank: undefined, depth, budget })
    if (part === undefined || (keys !== undefined && !isJsonObject(item))) return undefined
    parts.push(part)
    if (keys === undefined) values.push(item)
    else if (isJsonObject(item)) for (const key of keys) values.push(memberOf(item, key))
  }
  return { kind: 'list', keys, values, parts }
}

/** True if a value of the same shape has this outline. */
export function hasOutline(outline: Outline, value: unknown): boolean {
  switch (outline.kind) {
    case 'absent':
      return value === undefined
    case 'scalar':
      return scalarType(value) === outline.type && isAsBlank(outline.blank, value)
    case 'whole':
      return value !== undefined && isOwnable(outline, value) && isAsBlank(outline.blank, value)
    case 'null':
      return value === null
    case 'object':
      return isJsonObject(value) && hasMembersOf(outline, value)
    case 'list':
      return Array.isArray(value) && hasItemsOf(outline, value)
  }
}

/** True if a value that is owned as a whole is ownable, so that values of one outline are all ownable or all not. */
function isOwnable({ shape, depth }: Extract<Outline, { kind: 'whole' }>, value: unknown): boolean {
  return findUnownable(shape, value, depth).length === 0
}

function isAsBlank(blank: Blank | undefined, value: unknown): boolean {
  return blank === undefined || jsonEqual(value, blank.value) === blank.isSame
}

function hasMembersOf({ names, parts }: Extract<Outline, { kind: 'object' }>, value: Readonly<Record<string, unknown>>): boolean {
  let index = 0
  for (const name in value) {
    if (name !== names[index]) return false
    const part = parts[index]
    if (part === undefined || !hasOutline(part, value[name])) return false
    index += 1
  }
  return index === names.length
}

function hasItemsOf({ keys, values, parts }: Extract<Outline, { kind: 'list' }>, items: readonly unknown[]): boolean {
  if (items.length !== parts.length) return false
  let at = 0
  for (let index = 0; index < items.length; index++) {
    const item: unknown = items[index]
    if (keys === undefined) {
      if (item !== values[at++]) return false
    } else {
      if (!isJsonObject(item)) return false
      for (const key of keys) if (memberOf(item, key) !== values[at++]) return false
    }
    const part = parts[index]
    if (part === undefined || !hasOutline(part, item)) return false
  }
  return true
}
