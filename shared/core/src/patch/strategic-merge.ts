import { memo } from '@orch/cel/memo'
import { plainNameOf } from '../description/levels.ts'
import { looseTypeName, printLoosely } from '../json/go-text.ts'
import { cannotUnmarshal, isJsonObject, memberOf, printJson, setMember } from '../json/index.ts'
import { badRequest, failed } from '../meta/status.ts'
import { type Field, type Node, resolveNode, type StructNode } from '../schema/index.ts'
import type { MergeOutcome } from './merge-patch.ts'
import {
  BadPatch,
  deletePrefix,
  isDeletion,
  type JsonObject,
  keyOf,
  listOf,
  MalformedPatch,
  orderPrefix,
  patchMarker,
  retainMarker,
  withoutDirectives,
} from './strategic-merge-directives.ts'

/**
 * Merges a patch by the strategies of fields: lists by key of their items or as a whole. Supports these
 * directives in the patch:
 *
 *   $patch: replace | delete              of the object, or of the item or list that contains it
 *   $retainKeys: [a, b]                   only these members stay in the object
 *   $deleteFromPrimitiveList/x: [1]       values to remove from the list x
 *   $setElementOrder/x: [2, 1]            the order of the list x; other items keep their relative position
 *
 * The inputs are not changed, and parts that the patch does not touch are shared.
 */
export function strategicMerge(original: unknown, given: unknown, schema: Node): MergeOutcome {
  // A null patch changes nothing.
  const patch = given === null ? {} : given
  if (!isJsonObject(patch)) return { kind: 'refused', error: badRequest(cannotUnmarshal(patch, 'map[string]interface {}')) }
  if (isDeeper(patch, patchDepthMax))
    return { kind: 'refused', error: badRequest(`the patch is nested deeper than ${patchDepthMax} levels`) }
  try {
    return { kind: 'patched', value: mergeMap(isJsonObject(original) ? original : {}, patch, { schema, repetitions: new Repetitions() }) }
  } catch (error) {
    if (error instanceof MalformedPatch) return { kind: 'refused', error: badRequest(error.message) }
    if (error instanceof BadPatch) return { kind: 'refused', error: failed(422, 'Invalid', error.message) }
    throw error
  }
}

/** Maximum size of the items that a patch merges again. Each merge takes as long as its item is large, and many small changes make an item large. */
const repeatedBytesMax = 2 * 1024 * 1024

/** Counts the items that a patch merges again, because several of its items have one key. */
class Repetitions {
  #bytes = 0

  add(item: JsonObject): void {
    this.#bytes += printJson(item, { hasBigIntegers: true }).length
    if (this.#bytes > repeatedBytesMax)
      throw new MalformedPatch(`the patch repeats items with one key: together they may have ${repeatedBytesMax} bytes`)
  }
}

/** A value in the object that is patched. */
interface Place {
  readonly schema: Node | undefined
  readonly repetitions: Repetitions
}

/** Maximum depth of a patch, since the functions below are recursive. */
const patchDepthMax = 1_000

/** True if a value is deeper than a maximum. It proceeds level by level, since the value may be deeper than the call stack. */
function isDeeper(value: unknown, depthMax: number): boolean {
  const isContainer = (item: unknown): item is object => typeof item === 'object' && item !== null
  let level: readonly object[] = [value].filter(isContainer)
  for (let depth = 0; depth <= depthMax; depth += 1) {
    if (level.length === 0) return false
    level = level.flatMap((item) => Object.values(item).filter(isContainer))
  }
  return true
}

/** The order of steps matters: retained keys, then ordered lists, then everything else. */
function mergeMap(original: JsonObject, given: JsonObject, place: Place): JsonObject {
  if (Object.hasOwn(given, patchMarker)) return directed(given)
  const [retained, patch] = withoutMarker(given)
  const merged = retained === undefined ? { ...original } : retain(original, patch, retained)
  for (const key of Object.keys(patch)) if (key.startsWith(orderPrefix)) mergeOrdered(merged, patch, key, place)
  for (const key of Object.keys(patch)) mergeMember(merged, key, patch[key], place)
  return merged
}

/** An object whose patch is not merged. */
function directed(given: JsonObject): JsonObject {
  const { [patchMarker]: directive, ...patch } = given
  if (directive === 'replace') return patch
  if (directive === 'delete') return {}
  throw unknownDirective(directive, given)
}

/** The retained keys, and the patch without this directive. A patch without directives is not copied, since it may be large. */
function withoutMarker(given: JsonObject): [retained: unknown, patch: JsonObject] {
  if (!Object.keys(given).some((key) => key.startsWith('$'))) return [undefined, given]
  const { [retainMarker]: retained, ...patch } = given
  return [retained, patch]
}

/** Go's `%s` of a text is the text; other values are printed with a complaint. */
function unknownDirective(directive: unknown, patch: JsonObject): BadPatch {
  const type = looseTypeName(directive)
  const shown = directive === null ? `%!s(${type})` : typeof directive === 'string' ? directive : `%!s(${type}=${printLoosely(directive)})`
  return new BadPatch(`unknown patch type: ${shown} in map: ${printLoosely(patch)}`)
}

function retain(original: JsonObject, patch: JsonObject, retained: unknown): JsonObject {
  if (!Array.isArray(retained)) throw new MalformedPatch('invalid patch format of retainKeys')
  const kept = new Set<unknown>(retained)
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(deletePrefix) || key.startsWith(orderPrefix)
    if (patch[key] !== null && !isDirective && !kept.has(key)) throw new MalformedPatch('invalid patch format of retainKeys')
  }
  const result: JsonObject = {}
  for (const key of Object.keys(original)) if (kept.has(key)) setMember(result, key, original[key])
  return result
}

/** Merges a list and orders it as the patch states; then removes both the list and the directive from the patch. */
function mergeOrdered(merged: JsonObject, patch: JsonObject, directive: string, { schema, repetitions }: Place): void {
  const key = keyOf(directive, orderPrefix)
  const order = listOf(patch[directive])
  delete patch[directive]
  const isLive = Object.hasOwn(merged, key) && merged[key] !== null
  const isPatched = Object.hasOwn(patch, key)
  const live = isLive ? listOf(merged[key]) : []
  const changes = isPatched ? listOf(patch[key]) : []
  requireField(schema, key)
  const strategy = strategyOf(schema, key)
  requireOrder(changes, order, strategy.mergeKey)
  delete patch[key]
  if (!isLive && !isPatched) return
  if (strategy.mergeKey !== undefined) requireMaps(order)
  const contents =
    isLive && isPatched ? mergeList(live, changes, strategy, repetitions) : isLive ? live : (withoutDirectives(changes) as unknown[])
  const places = placesAfter(live, changes, strategy.mergeKey)
  setMember(merged, key, inOrder({ items: contents, order, live: places, mergeKey: strategy.mergeKey }))
}

function mergeMember(merged: JsonObject, name: string, value: unknown, { schema, repetitions }: Place): void {
  if (name.startsWith(deletePrefix)) {
    const key = keyOf(name, deletePrefix)
    const live = memberOf(merged, key)
    if (value === null) delete merged[key]
    else if (Array.isArray(live) && Array.isArray(value)) setMember(merged, key, withoutItems(live, value))
    return
  }
  if (value === null) {
    // Removing an absent member is much slower than looking for it.
    if (name in merged) delete merged[name]
    return
  }
  const live = memberOf(merged, name)
  if (isJsonObject(live) && isJsonObject(value)) {
    const strategy = strategyOf(schema, name)
    setMember(merged, name, strategy.kind === 'replace' ? value : mergeMap(live, value, { schema: strategy.schema, repetitions }))
  } else if (Array.isArray(live) && Array.isArray(value)) {
    setMember(merged, name, mergeList(live, value, strategyOf(schema, name), repetitions))
  } else {
    const whole = withoutDirectives(value)
    if (whole === undefined) delete merged[name]
    else setMember(merged, name, whole)
  }
}

function mergeList(live: readonly unknown[], patch: readonly unknown[], strategy: FieldStrategy, repetitions: Repetitions): unknown[] {
  if (strategy.kind !== 'merge') return [...patch]
  if (live.length === 0 && patch.length === 0) return []
  if (requireOneKind(live, patch) === 'scalar') return mergeScalars(live, patch)
  const { mergeKey } = strategy
  if (mergeKey === undefined) throw new BadPatch('cannot merge lists without merge key')
  return mergeItems(live as readonly JsonObject[], patch as readonly JsonObject[], mergeKey, { schema: strategy.schema, repetitions })
}

/** Requires either only objects or only scalars; lists are not allowed. */
function requireOneKind(live: readonly unknown[], patch: readonly unknown[]): 'object' | 'scalar' {
  const items = [...live, ...patch]
  if (Array.isArray(items[0])) throw new BadPatch('lists of lists are not supported')
  const objects = items.filter(isJsonObject).length
  if ((objects !== 0 && objects !== items.length) || items.some((item) => Array.isArray(item)))
    throw new BadPatch(`list element types are not identical: ${printLoosely([live, patch])}`)
  return objects === 0 ? 'scalar' : 'object'
}

function mergeScalars(live: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const items = new Map<string, unknown>()
  for (const item of [...live, ...patch]) {
    const identity = identityOf(item, undefined)
    if (!items.has(identity)) items.set(identity, item)
  }
  return inOrder({ items: [...items.values()], order: patch, live, mergeKey: undefined })
}

function mergeItems(live: readonly JsonObject[], patch: readonly JsonObject[], mergeKey: string, place: Place): unknown[] {
  const changes = patch.filter((item) => !Object.hasOwn(item, patchMarker))
  for (const item of patch) if (Object.hasOwn(item, patchMarker)) requireItemDirective(item, mergeKey)
  if (patch.some(isReplacement)) return changes
  for (const change of changes) requireKey(change, mergeKey)
  const kept = withoutItems(live, patch.filter(isDeletion), mergeKey)
  const items = [...kept]
  const places = firstPlaces(items, mergeKey)
  const changed = new Set<number>()
  for (const change of changes) {
    const identity = identityOf(change, mergeKey)
    const index = places.get(identity) ?? items.length
    places.set(identity, index)
    const before = items[index]
    if (before !== undefined && changed.has(index)) place.repetitions.add(before)
    changed.add(index)
    items[index] = before === undefined ? change : mergeMap(before, change, place)
  }
  return inOrder({ items, order: changes, live: kept, mergeKey })
}

function isReplacement(item: JsonObject): boolean {
  return memberOf(item, patchMarker) === 'replace'
}

/** A deletion names its item by the key, and a replacement is for the list. */
function requireItemDirective(item: JsonObject, mergeKey: string): void {
  if (isReplacement(item)) return
  if (isDeletion(item)) requireKey(item, mergeKey)
  else if (item[patchMarker] === 'merge') throw new BadPatch('merging lists cannot yet be specified in the patch')
  else throw unknownDirective(item[patchMarker], item)
}

function requireMaps(order: readonly unknown[]): void {
  const index = order.findIndex((item) => !isJsonObject(item))
  if (index >= 0) throw new BadPatch(`value for key ${index} is not a map`)
}

function requireKey(item: JsonObject, mergeKey: string): void {
  if (Object.hasOwn(item, mergeKey)) return
  throw new BadPatch(`map: ${printLoosely(item)} does not contain declared merge key: ${mergeKey}`)
}

/** The merge strategy of a member, and the schema inside it. */
interface FieldStrategy {
  /** `merge` merges lists by item. By default, objects are merged and lists are replaced. */
  readonly kind: 'merge' | 'replace' | 'default'
  readonly mergeKey: string | undefined
  /** The type of the member, or of its list items; undefined if unknown. */
  readonly schema: Node | undefined
}

const unknownField: FieldStrategy = { kind: 'default', mergeKey: undefined, schema: undefined }
/** The strategy of a member of an object. */
function strategyOf(schema: Node | undefined, name: string): FieldStrategy {
  const node = schema === undefined ? undefined : resolveNode(schema)
  if (node?.kind === 'map') return { ...unknownField, schema: insideOf(node.values) }
  return node?.kind === 'struct' ? (fieldsOf(node).get(name) ?? unknownField) : unknownField
}

/** Refuses an order of a list that is no field of the type. */
function requireField(schema: Node | undefined, name: string): void {
  const node = schema === undefined ? undefined : resolveNode(schema)
  if (node?.kind !== 'struct' || fieldsOf(node).has(name)) return
  const type = schema?.kind === 'ref' ? plainNameOf(schema.name) : ''
  const struct = type.slice(type.lastIndexOf('.') + 1)
  throw new BadPatch(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(name)}`)
}

/** The strategies of the fields of a type, by name. */
const fieldsOf = memo(
  (node: StructNode): ReadonlyMap<string, FieldStrategy> => new Map(node.fields.map((field) => [field.name, strategyOfField(field)])),
)

/** The patch itself states which keys are retained, so the server ignores that part of the strategy. */
function strategyOfField({ node, patchStrategy, patchMergeKey }: Field): FieldStrategy {
  const kind = patchStrategy === 'replace' ? 'replace' : patchStrategy?.startsWith('merge') ? 'merge' : 'default'
  return { kind, mergeKey: patchMergeKey, schema: insideOf(node) }
}

function insideOf(node: Node): Node {
  const target = resolveNode(node)
  return target.kind === 'list' ? target.items : node
}

/** A merged list, and the two orders that it must follow. */
interface Ordering {
  readonly items: readonly unknown[]
  /** The order in the patch. */
  readonly order: readonly unknown[]
  /** The order in the live list. */
  readonly live: readonly unknown[]
  readonly mergeKey: string | undefined
}

/**
 * Items that the patch names have its order. Other items keep their live order, and such an item stays before
 * an item of the patch that followed it in the live list.
 *
 *   live 1 2 9 3 4   order 2 1 4 3   →   2 1 9 4 3
 */
function inOrder({ items, order, live, mergeKey }: Ordering): unknown[] {
  const wanted = firstPlaces(order, mergeKey)
  const present = firstPlaces(live, mergeKey)
  const placed = items.map((item) => {
    const identity = identityOf(item, mergeKey)
    return { item, wanted: wanted.get(identity), live: present.get(identity) ?? -1 }
  })
  const named = placed.filter((place) => place.wanted !== undefined).sort((a, b) => (a.wanted as number) - (b.wanted as number))
  const others = placed.filter((place) => place.wanted === undefined).sort((a, b) => a.live - b.live)
  const result: unknown[] = []
  let next = 0
  for (const place of named) {
    for (let other = others[next]; other !== undefined && other.live < place.live; other = others[next]) {
      result.push(other.item)
      next++
    }
    result.push(place.item)
  }
  return [...result, ...others.slice(next).map(({ item }) => item)]
}

/** The first index of each item. */
function firstPlaces(list: readonly unknown[], mergeKey: string | undefined): Map<string, number> {
  const places = new Map<string, number>()
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, mergeKey)
    if (!places.has(identity)) places.set(identity, index)
  }
  return places
}

/** Checks that the patch's own items have the order that it asks for. */
function requireOrder(items: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const kept = items.filter((item) => !isDeletion(item))
  let next = 0
  for (const wanted of order) if (next < kept.length && identityOf(kept[next], mergeKey) === identityOf(wanted, mergeKey)) next++
  if (next === kept.length || order.length === 0) return
  throw new BadPatch(`The order in patch list:\n${printLoosely(items)}\n doesn't match ${orderPrefix} list:\n${printLoosely(order)}\n`)
}

/**
 * The live order after the patch has deleted items by key: new items take the free positions at the end.
 *
 *   live 1 2 4   delete 1, add 3   →   2 4 3        live 1 2   add 3   →   1 2
 */
function placesAfter(live: readonly unknown[], patch: readonly unknown[], mergeKey: string | undefined): readonly unknown[] {
  if (mergeKey === undefined) return live
  const deleted = patch.filter(isDeletion)
  if (deleted.length === 0) return live
  const left = withoutItems(live, deleted, mergeKey)
  const known = new Set(left.map((item) => identityOf(item, mergeKey)))
  const fresh = patch.filter((item) => !isDeletion(item) && !known.has(identityOf(item, mergeKey)))
  return [...left, ...fresh].slice(0, live.length)
}

/** The list without items of the other list. */
function withoutItems<Item>(list: readonly Item[], others: readonly unknown[], mergeKey?: string): Item[] {
  const gone = new Set(others.map((item) => identityOf(item, mergeKey)))
  return list.filter((item) => !gone.has(identityOf(item, mergeKey)))
}

/** The identity of an item in a merge: its key, or its whole value. */
function identityOf(item: unknown, mergeKey: string | undefined): string {
  const value = mergeKey !== undefined && isJsonObject(item) ? memberOf(item, mergeKey) : item
  return typeof value === 'object' ? printJson(value, { hasBigIntegers: true }) : `${typeof value} ${value}`
}
