import { isJsonObject, setMember } from '../json/member.ts'
import { type FieldSet, isEmptySet } from './field-set.ts'
import { itemElement } from './list-items.ts'
import { fieldElement } from './path-element.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/** The value without the parts that a set names. A container that loses all it has becomes null. */
export function removeItems(shape: Shape, value: unknown, set: FieldSet): unknown {
  if (isEmptySet(set)) return value
  return prune(shape, value, set)
}

function prune(shape: Shape, value: unknown, set: FieldSet): unknown {
  const object = granularObject(shape, value)
  if (object !== undefined) return isJsonObject(value) ? pruneObject(object, value, set) : null
  if (shape.kind !== 'list') return value
  return shape.listType !== 'atomic' && Array.isArray(value) ? pruneList(shape, value, set) : null
}

function pruneObject(shape: ObjectShape, value: Record<string, unknown>, set: FieldSet): unknown {
  const kept: Record<string, unknown> = {}
  let isEmpty = true
  for (const key of Object.keys(value)) {
    const field = shape.fields.get(key)
    const node = set.children?.get(field?.element ?? fieldElement(key))
    if (node?.isMember === true) continue
    const inner = field?.shape ?? shape.values
    const isTouched = node !== undefined && inner !== undefined
    setMember(kept, key, isTouched ? prune(inner, value[key], node) : value[key])
    isEmpty = false
  }
  return isEmpty ? null : kept
}

function pruneList(shape: ListShape, items: readonly unknown[], set: FieldSet): unknown {
  const kept: unknown[] = []
  for (const item of items) {
    const element = itemElement(shape, item)
    const node = element === undefined ? undefined : set.children?.get(element)
    if (node?.isMember === true) continue
    kept.push(node === undefined ? item : prune(shape.items, item, node))
  }
  return kept.length === 0 ? null : kept
}

/** Only the parts of the value that a set names, and the keys by which their items go. Undefined: there are none. */
export function extract(shape: Shape, value: unknown, set: FieldSet): unknown {
  const object = granularObject(shape, value)
  if (object !== undefined) return isJsonObject(value) ? extractObject(object, value, set) : undefined
  if (shape.kind === 'list' && shape.listType !== 'atomic') return Array.isArray(value) ? extractList(shape, value, set) : undefined
  return value
}

function extractObject(shape: ObjectShape, value: Record<string, unknown>, set: FieldSet): unknown {
  const taken: Record<string, unknown> = {}
  let isEmpty = true
  for (const key of Object.keys(value)) {
    const field = shape.fields.get(key)
    const node = set.children?.get(field?.element ?? fieldElement(key))
    if (node === undefined) continue
    const inner = field?.shape ?? shape.values
    setMember(taken, key, (inner === undefined ? value[key] : extract(inner, value[key], node)) ?? null)
    isEmpty = false
  }
  return isEmpty ? undefined : taken
}

function extractList(shape: ListShape, items: readonly unknown[], set: FieldSet): unknown {
  const taken: unknown[] = []
  for (const item of items) {
    const element = itemElement(shape, item)
    const node = element === undefined ? undefined : set.children?.get(element)
    if (node === undefined) continue
    const part = extract(shape.items, item, node)
    taken.push(isJsonObject(item) ? { ...keysOf(shape, item), ...(isJsonObject(part) ? part : {}) } : item)
  }
  return taken.length === 0 ? undefined : taken
}

function keysOf({ keys }: ListShape, item: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => item[key] !== undefined).map((key) => [key, item[key]]))
}
