import { jsonEqual } from '../json/equal.ts'
import { isJsonObject, memberOf } from '../json/member.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/**
 * All of an object that its owners depend on when it is created: which members it has, the keys of items, and whether a value is the
 * one that an object has before anything is set in it. Two objects of one outline, such as Pods of one template, have the same owned
 * fields, and comparing an object with an outline costs a tenth of finding and printing them.
 */
export type Outline =
  /** A member without a value. */
  | { readonly kind: 'absent' }
  /** Any value, which is owned as a whole. */
  | { readonly kind: 'whole'; readonly blank: Blank | undefined }
  /** Null, where parts could be owned. */
  | { readonly kind: 'null'; readonly blank: Blank | undefined }
  | { readonly kind: 'object'; readonly names: readonly string[]; readonly parts: readonly Outline[] }
  /** Items are identified by the values of these members; undefined: by themselves. */
  | {
      readonly kind: 'list'
      readonly keys: readonly string[] | undefined
      readonly values: readonly unknown[]
      readonly parts: readonly Outline[]
    }

/** What stands at the place before anything is set, and whether the value is the same. */
interface Blank {
  readonly value: unknown
  readonly isSame: boolean
}

/** An outline with more places than that is not made: it would be kept for long. */
const placesMax = 2_000

/** The outline of a value; undefined: it is too large, or has parts that only ownership itself can tell. */
export function outlineOf(shape: Shape, value: unknown, blank: unknown): Outline | undefined {
  return outlineAt(shape, value, { blank, budget: { left: placesMax } })
}

interface Around {
  readonly blank: unknown
  readonly budget: { left: number }
}

function outlineAt(shape: Shape, value: unknown, { blank, budget }: Around): Outline | undefined {
  budget.left -= 1
  if (budget.left < 0) return undefined
  if (value === undefined) return { kind: 'absent' }
  const before = blank === undefined ? undefined : { value: blank, isSame: jsonEqual(value, blank) }
  const object = granularObject(shape, value)
  if (object === undefined) {
    if (shape.kind === 'scalar' || (shape.kind !== 'list' && shape.isAtomic) || (shape.kind === 'list' && shape.listType === 'atomic'))
      return { kind: 'whole', blank: before }
    if (shape.kind === 'list' && Array.isArray(value)) return outlineOfList(shape, value, budget)
    return value === null ? { kind: 'null', blank: before } : undefined
  }
  if (value === null) return { kind: 'null', blank: before }
  return isJsonObject(value) ? outlineOfObject(object, value, { blank, budget }) : undefined
}

function outlineOfObject(shape: ObjectShape, value: Readonly<Record<string, unknown>>, { blank, budget }: Around): Outline | undefined {
  const names: string[] = []
  const parts: Outline[] = []
  for (const name in value) {
    const inner = shape.fields.get(name)?.shape ?? shape.values
    if (inner === undefined) return undefined
    const part = outlineAt(inner, value[name], { blank: isJsonObject(blank) ? memberOf(blank, name) : undefined, budget })
    if (part === undefined) return undefined
    names.push(name)
    parts.push(part)
  }
  return { kind: 'object', names, parts }
}

function outlineOfList(shape: ListShape, items: readonly unknown[], budget: Around['budget']): Outline | undefined {
  const keys = shape.listType === 'map' ? shape.keys : undefined
  const values: unknown[] = []
  const parts: Outline[] = []
  for (const item of items) {
    const part = outlineAt(shape.items, item, { blank: undefined, budget })
    if (part === undefined || (keys !== undefined && !isJsonObject(item))) return undefined
    parts.push(part)
    if (keys === undefined) values.push(item)
    else if (isJsonObject(item)) for (const key of keys) values.push(memberOf(item, key))
  }
  return { kind: 'list', keys, values, parts }
}

/** Whether a value of the same shape has this outline. */
export function hasOutline(outline: Outline, value: unknown): boolean {
  switch (outline.kind) {
    case 'absent':
      return value === undefined
    case 'whole':
      return value !== undefined && isAsBlank(outline.blank, value)
    case 'null':
      return value === null
    case 'object':
      return isJsonObject(value) && hasMembersOf(outline, value)
    case 'list':
      return Array.isArray(value) && hasItemsOf(outline, value)
  }
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
