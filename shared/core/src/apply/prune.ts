import { getOrMake } from '@orch/cel/memo'
import { isJsonObject, setMember } from '../json/member.ts'
import type { Steps } from '../steps.ts'
import { difference, type FieldSet, intersection, isEmptySet, union, unionOfAll } from './field-set.ts'
import { itemElement } from './list-items.ts'
import { inVersion, type Owner, type Owners, type Versioned, type View, withoutUntracked } from './ownership.ts'
import { fieldElement } from './path-element.ts'
import { withNamedFields } from './reconcile.ts'
import { granularObject, type ListShape, type ObjectShape, type Shape } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'

/** A merged object, and its owners. */
interface Merged {
  readonly merged: unknown
  /** The applier before this apply. */
  readonly last: Owner | undefined
  /** All owners; the applier has its new set. */
  readonly owners: Owners
  /** The fields of the applied configuration. */
  readonly applied: FieldSet
}

/**
 * Removes from the merged object the fields that the applier applied before but no longer applies, unless another manager owns them. An item
 * stays if another manager owns fields in it, or if it was never applied.
 */
export function* pruneDropped(view: View, { merged, last, owners, applied }: Merged): Steps<unknown> {
  if (last === undefined || isEmptySet(last.set)) return merged
  const isSubset = last.set === withoutUntracked(applied) || isEmptySet(difference(last.set, applied))
  if (last.apiVersion === view.apiVersion && isSubset) return merged
  const full = inVersion(view, merged, last.apiVersion)
  if (full === undefined) return merged
  const bare = removeItems(full.shape, full.object, withNamedFields(last.set, full.shape))
  yield
  const owned = yield* addBackOwned(view, { full, bare, apiVersion: last.apiVersion }, owners)
  yield
  const keptSet = withNamedFields(toFieldSet(full.shape, owned), full.shape)
  yield
  const fullSet = withNamedFields(toFieldSet(full.shape, full.object), full.shape)
  yield
  const dropped = intersection(difference(fullSet, keptSet), withNamedFields(last.set, full.shape))
  yield
  const pruned = removeItems(full.shape, full.object, dropped)
  return last.apiVersion === view.apiVersion ? pruned : view.convert?.(pruned, view.apiVersion)?.object
}

/** Both objects are in `apiVersion`. */
interface Pruning {
  readonly full: Versioned
  readonly bare: unknown
  readonly apiVersion: string
}

/** Adds all owned fields back to the pruned object, version by version, starting with the object's version. */
function* addBackOwned(view: View, { full, bare, apiVersion }: Pruning, owners: Owners): Steps<unknown> {
  const sets = new Map<string, FieldSet[]>([[apiVersion, []]])
  for (const owner of owners.values()) {
    getOrMake(sets, owner.apiVersion, () => []).push(owner.set)
  }
  let kept = bare
  for (const [version, ofVersion] of sets) {
    yield
    const set = unionOfAll(ofVersion)
    const there = fromVersion(view, { object: full.object, apiVersion }, version)
    const keptThere = fromVersion(view, { object: kept, apiVersion }, version)
    if (there === undefined || keptThere === undefined) continue
    const { shape } = there
    const fullSet = withNamedFields(toFieldSet(shape, there.object), shape)
    yield
    const wanted = union(withNamedFields(toFieldSet(shape, keptThere.object), shape), withNamedFields(set, shape))
    yield
    const result = removeItems(shape, there.object, difference(fullSet, wanted))
    const back = fromVersion(view, { object: result, apiVersion: version }, apiVersion)
    if (back !== undefined) kept = back.object
  }
  return kept
}

/** Converts between two versions by way of the request's version. */
function fromVersion(view: View, { object, apiVersion }: { object: unknown; apiVersion: string }, target: string): Versioned | undefined {
  if (apiVersion === view.apiVersion) return inVersion(view, object, target)
  return view.convert?.(object, target)
}

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
