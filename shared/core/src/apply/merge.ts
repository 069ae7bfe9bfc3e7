import { at } from '@orch/cel/at'
import { isJsonObject, jsonEqual, memberOf, setMember } from '../json/index.ts'
import { itemElement, itemProblem, itemsByElement, Unownable } from './list-items.ts'
import type { ElementText } from './path-element.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'

/**
 * Merges an applied object into the live one: objects by member, lists of type set and map by item; any other value is replaced.
 * Members that the applied object omits stay. The inputs are never changed and share parts with the result: an unchanged part is
 * the part of the live object itself.
 */
export function mergeApply(shape: Shape, live: unknown, config: unknown): unknown {
  if (config === undefined) return live
  if (live === undefined) return config
  const object = granularObject(shape, config ?? live)
  if (object !== undefined) return mergeObjects(object, live, config)
  if (shape.kind === 'list' && shape.listType !== 'atomic') return mergeLists(shape, live, config)
  return jsonEqual(live, config) ? live : config
}

/** Two empty objects are treated as a leaf, so that null and `{}` keep their applied form. */
function mergeObjects(shape: ObjectShape, live: unknown, config: unknown): unknown {
  if (isEmptyObject(live) && isEmptyObject(config)) return config
  const earlier = isJsonObject(live) ? live : {}
  const later = isJsonObject(config) ? config : {}
  let merged: Record<string, unknown> | undefined
  for (const key in later) {
    const inner = shape.fields.get(key)?.shape ?? shape.values
    const before = memberOf(earlier, key)
    const after = inner === undefined ? later[key] : mergeApply(inner, before, later[key])
    if (after === before && after !== undefined) continue
    merged ??= { ...earlier }
    setMember(merged, key, after)
  }
  return merged ?? earlier
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
  if (haveSameItems(shape, earlier, later)) return mergePairs(shape, earlier, later)
  const to = itemsByElement(shape, later).byElement
  const from = liveItems(shape, earlier, to)
  const merged = mergeOrder([...from.keys()], [...to.keys()]).map((element) => mergeApply(shape.items, from.get(element), to.get(element)))
  return merged.length === earlier.length && merged.every((item, index) => item === earlier[index]) ? earlier : merged
}

/**
 * The items of a live list by path element. If several items have the same element, an applied item replaces them all at the first position,
 * without a merge; otherwise they stay.
 */
function liveItems(shape: ListShape, items: readonly unknown[], applied: ReadonlyMap<ElementText, unknown>): Map<ElementText, unknown> {
  const found = new Map<ElementText, unknown>()
  for (const [index, item] of items.entries()) {
    const element = itemElement(shape, item)
    if (element === undefined) throw new Unownable(itemProblem(shape, item))
    if (!found.has(element)) found.set(element, item)
    else if (applied.has(element)) found.set(element, undefined)
    else found.set(`${element}\n${index}`, item)
  }
  return found
}

/** True if both lists have the same items in the same order; does not create path elements. */
function haveSameItems({ listType, keys }: ListShape, earlier: readonly unknown[], later: readonly unknown[]): boolean {
  if (listType !== 'map' || earlier.length !== later.length) return false
  return earlier.every((item, index) => {
    const other = later[index]
    if (!isJsonObject(item) || !isJsonObject(other)) return false
    return keys.every((key) => {
      const value = memberOf(item, key)
      return value !== undefined && value !== null && value === memberOf(other, key)
    })
  })
}

/** Merges lists with the same items in the same order. Keys are unique, since both lists were checked. */
function mergePairs(shape: ListShape, earlier: readonly unknown[], later: readonly unknown[]): unknown {
  let merged: unknown[] | undefined
  for (let index = 0; index < earlier.length; index++) {
    const item = mergeApply(shape.items, earlier[index], later[index])
    if (item === earlier[index]) continue
    merged ??= [...earlier]
    merged[index] = item
  }
  return merged ?? earlier
}

/**
 * Merges the order of two lists. Applied items keep their order. Items of only the live list stay before the item that
 * followed them.
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
    // A shared item that is not the next applied item is skipped in the live list.
    if (element !== undefined && element !== shared[turn]) {
      left++
      continue
    }
    const next = at(applied, right)
    merged.push(next)
    right++
    if (next === shared[turn]) turn++
    if (next === element) left++
  }
  return merged
}
