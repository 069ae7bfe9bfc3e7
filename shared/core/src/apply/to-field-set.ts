import { isJsonObject } from '../json/member.ts'
import { emptySet, type FieldSet, nodeOf } from './field-set.ts'
import { itemElement } from './list-items.ts'
import { type ElementText, fieldElement } from './path-element.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/**
 * The paths that an applied object sets: its leaves, the keys of its maps and the items of its lists. A struct is owned through its
 * fields; only an empty or null struct is a path itself.
 */
export function toFieldSet(shape: Shape, value: unknown): FieldSet {
  return nodeOf(false, childrenOf(shape, value)) ?? emptySet
}

/** The paths below a value; undefined for a leaf or an empty value. */
function childrenOf(shape: Shape, value: unknown): ReadonlyMap<ElementText, FieldSet> | undefined {
  const object = granularObject(shape, value)
  if (object !== undefined) return isJsonObject(value) ? membersOf(object, value) : undefined
  return shape.kind === 'list' && shape.listType !== 'atomic' && Array.isArray(value) ? itemsOf(shape, value) : undefined
}

function membersOf(shape: ObjectShape, value: Record<string, unknown>): ReadonlyMap<ElementText, FieldSet> {
  const children = new Map<ElementText, FieldSet>()
  for (const key in value) {
    const field = shape.fields.get(key)
    const inner = field?.shape ?? shape.values
    const member = value[key]
    if (inner === undefined || member === undefined) continue
    const below = childrenOf(inner, member)
    const node = nodeOf(field === undefined || isOwnedItself(inner, member), below)
    if (node !== undefined) children.set(field?.element ?? fieldElement(key), node)
  }
  return children
}

/** True if a struct's field is a path itself, because no path can be below it. An empty list that is owned by item sets no path. */
function isOwnedItself(shape: Shape, value: unknown): boolean {
  if (value === null) return true
  switch (shape.kind) {
    case 'scalar':
      return true
    case 'list':
      return shape.listType === 'atomic'
    case 'object':
      return shape.isAtomic || isEmptyObject(value)
    case 'untyped':
      return shape.isAtomic || !isJsonObject(value) || isEmptyObject(value)
  }
}

function isEmptyObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  for (const _key in value) return false
  return true
}

function itemsOf(shape: ListShape, items: readonly unknown[]): ReadonlyMap<ElementText, FieldSet> {
  const children = new Map<ElementText, FieldSet>()
  for (const item of items) {
    const element = itemElement(shape, item)
    if (element === undefined) continue
    const node = nodeOf(true, childrenOf(shape.items, item))
    if (node !== undefined) children.set(element, node)
  }
  return children
}
