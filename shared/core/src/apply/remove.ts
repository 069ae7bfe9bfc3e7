import { isJsonObject, setMember } from '../json/member.ts'
import { type FieldSet, isEmptySet } from './field-set.ts'
import { itemElement } from './list-items.ts'
import { fieldElement } from './path-element.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/** The value without the paths of a set. A container that becomes empty becomes null. */
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
