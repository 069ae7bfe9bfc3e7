import type { Steps } from '../steps.ts'
import { difference, type FieldSet, intersection, isEmptySet, union, unionOfAll } from './field-set.ts'
import { inVersion, type Owner, type Owners, type Versioned, type View, withoutUntracked } from './ownership.ts'
import { withNamedFields } from './reconcile.ts'
import { removeItems } from './remove.ts'
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
    const others = sets.get(owner.apiVersion)
    if (others === undefined) sets.set(owner.apiVersion, [owner.set])
    else others.push(owner.set)
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
