import { isJsonObject, memberOf, setMember } from '../json/member.ts'
import { itemsByElement } from './list-items.ts'
import type { ElementText } from './path-element.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/**
 * Merges an applied object into the live one: objects by member, lists of type set and map by item; any other value is replaced.
 * What the applied object leaves out stays. The result shares parts of the inputs, which are never changed.
 */
export function mergeApply(shape: Shape, live: unknown, config: unknown): unknown {
  if (config === undefined) return live
  if (live === undefined) return config
  const object = granularObject(shape, config ?? live)
  if (object !== undefined) return mergeObjects(object, live, config)
  return shape.kind === 'list' && shape.listType !== 'atomic' ? mergeLists(shape, live, config) : config
}

/** Two empty objects are a leaf, so that null and `{}` are kept as they were applied. */
function mergeObjects(shape: ObjectShape, live: unknown, config: unknown): unknown {
  if (isEmptyObject(live) && isEmptyObject(config)) return config
  const merged: Record<string, unknown> = {}
  const later = isJsonObject(config) ? config : {}
  if (isJsonObject(live)) {
    for (const key of Object.keys(live)) setMember(merged, key, live[key])
  }
  for (const key of Object.keys(later)) {
    const inner = shape.fields.get(key)?.shape ?? shape.values
    setMember(merged, key, inner === undefined ? later[key] : mergeApply(inner, memberOf(merged, key), later[key]))
  }
  return merged
}

function isEmptyObject(value: unknown): boolean {
  if (!isJsonObject(value)) return true
  for (const _key in value) return false
  return true
}

function mergeLists(shape: ListShape, live: unknown, config: unknown): unknown {
  const earlier = Array.isArray(live) ? live : []
  const later = Array.isArray(config) ? config : []
  if (earlier.length === 0) return config
  const from = itemsByElement(shape, earlier)
  const to = itemsByElement(shape, later)
  return mergeOrder([...from.keys()], [...to.keys()]).map((element) => mergeApply(shape.items, from.get(element), to.get(element)))
}

/**
 * Merges the order of two lists. Applied items keep their order. Items of the live list alone stay before the item that they
 * preceded.
 *
 *   live a b c d   applied a a' c c'   →   a b a' c d c'
 *   live a b c     applied c a         →   b c a
 */
export function mergeOrder(live: readonly ElementText[], applied: readonly ElementText[]): ElementText[] {
  const inLive = new Set(live)
  const inApplied = new Set(applied)
  const shared = applied.filter((element) => inLive.has(element))
  const merged: ElementText[] = []
  let left = 0
  let right = 0
  let turn = 0
  while (left < live.length || right < applied.length) {
    const element = live[left]
    if (element !== undefined && !inApplied.has(element)) {
      merged.push(element)
      left++
      continue
    }
    // A shared item that is not next in the applied list is skipped in the live list.
    if (element !== undefined && element !== shared[turn]) {
      left++
      continue
    }
    const next = applied[right]!
    merged.push(next)
    right++
    if (next === shared[turn]) turn++
    if (next === element) left++
  }
  return merged
}
