import { getOrMake, memo } from '@orch/cel/memo'
import { isJsonObject } from '../json/member.ts'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { isStepEnd, runAtOnce, type Steps } from '../steps.ts'
import { type Comparison, compare, withoutPaths } from './compare.ts'
import { anyOwner, type FoundFields, findCreatedFields, keepCreatedFields } from './created-fields.ts'
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmptySet,
  parseFieldSet,
  printFieldSet,
  recursiveDifference,
  setOfPaths,
  union,
  unionOfAll,
} from './field-set.ts'
import { Unownable } from './list-items.ts'
import { withOwnerInSet } from './only-owner.ts'
import { compareText, fieldElement } from './path-element.ts'
import { reconcileWithShape } from './reconcile.ts'
import type { Shape } from './shape.ts'
import { sharedSet } from './shared-sets.ts'

/** An object in one version. */
export interface Versioned {
  readonly object: unknown
  readonly shape: Shape
}

/** The shape, the version and the conversion by which owners of an object are computed. */
export interface View {
  readonly shape: Shape
  readonly apiVersion: string
  /** Converts the object to another version. Undefined if that version is no longer served; its owners are dropped. */
  readonly convert?: ((object: unknown, apiVersion: string) => Versioned | undefined) | undefined
  /** Paths that this request can never write, such as the status in an update of the main resource. */
  readonly resetFields?: FieldSet | undefined
}

/** Maximum number of entries of operation Update; older ones are merged. */
const updateOwnersMax = 10
/** The manager under which the oldest updates are merged. */
const ancientManager = 'ancient-changes'

/** An object in the version of an owner's write. */
export function inVersion(view: View, object: unknown, apiVersion: string): Versioned | undefined {
  return apiVersion === view.apiVersion ? { object, shape: view.shape } : view.convert?.(object, apiVersion)
}

/** The owners with their sets adapted to the current schema. */
export function* reconcileOwners(view: View, live: unknown, owners: Owners): Steps<Map<string, Owner>> {
  const kept = new Map<string, Owner>()
  let index = 0
  for (const [identity, owner] of owners) {
    if (isStepEnd(index++, owners.size)) yield
    const shape = inVersion(view, live, owner.apiVersion)?.shape
    if (shape !== undefined) kept.set(identity, withSet(owner, reconcile(owner.set, shape)))
  }
  return kept
}

/** Sets that are already adapted to a schema. */
const reconciled = new WeakMap<FieldSet, Shape>()

function reconcile(set: FieldSet, shape: Shape): FieldSet {
  if (reconciled.get(set) === shape) return set
  const kept = reconcileWithShape(set, shape)
  if (kept === set) reconciled.set(set, shape)
  return kept
}

/** The effect of a change on an object's owners. */
export interface Change {
  readonly comparison: Comparison
  /** Fields of other owners whose values change. */
  readonly taken: ReadonlyMap<string, FieldSet>
  /** The owners after the change; the entry of `self` is unchanged. */
  readonly owners: Map<string, Owner>
}

/** Finds the owners that lose fields when an object changes. Each owner is compared in the version of its write. */
export function* changeOf(view: View, owners: Owners, states: { before: unknown; after: unknown; self: string }): Steps<Change> {
  const comparisons = new Map<string, Comparison | undefined>()
  const comparison = compareIn(view, states, view.apiVersion) as Comparison
  yield
  comparisons.set(view.apiVersion, comparison)
  const taken = new Map<string, FieldSet>()
  const left = new Map<string, Owner>()
  let index = 0
  for (const [identity, owner] of owners) {
    if (isStepEnd(index++, owners.size)) yield
    if (identity === states.self) {
      left.set(identity, owner)
      continue
    }
    if (!comparisons.has(owner.apiVersion)) comparisons.set(owner.apiVersion, compareIn(view, states, owner.apiVersion))
    const seen = comparisons.get(owner.apiVersion)
    if (seen === undefined) continue
    const lost = intersection(owner.set, union(seen.modified, seen.added))
    if (!isEmptySet(lost)) taken.set(identity, lost)
    const set = difference(difference(owner.set, lost), seen.removed)
    if (!isEmptySet(set)) left.set(identity, withSet(owner, set))
  }
  return { comparison, taken, owners: left }
}

function compareIn(view: View, { before, after }: { before: unknown; after: unknown }, apiVersion: string): Comparison | undefined {
  const from = inVersion(view, before, apiVersion)
  const to = inVersion(view, after, apiVersion)
  if (from === undefined || to === undefined) return undefined
  const comparison = compare(to.shape, from.object, to.object)
  return view.resetFields === undefined ? comparison : withoutPaths(comparison, view.resetFields)
}

/** The writer, and the time of the write if the entry has one. */
export interface Writer {
  readonly manager: string
  readonly subresource: string
  readonly now: string | undefined
}

/** Records a write other than an apply: the writer becomes the only owner of its changes, and removed fields lose their owners. */
export function* recordUpdate(
  view: View,
  owners: Owners,
  states: { before: unknown; after: unknown },
  writer: Writer,
): Steps<Map<string, Owner>> {
  const fresh: Owner = {
    manager: writer.manager,
    operation: 'Update',
    apiVersion: view.apiVersion,
    subresource: writer.subresource,
    time: writer.now,
    set: emptySet,
  }
  const self = ownerIdentity(fresh)
  const reconciled = yield* reconcileOwners(view, states.before, owners)
  yield
  const change = yield* changeOf(view, reconciled, { ...states, self })
  yield
  const { added, modified, removed } = change.comparison
  const touched = difference(recursiveDifference(union(modified, added), view.resetFields), untracked)
  yield
  const former = change.owners.get(self)
  const owned = union(difference(former?.set ?? emptySet, removed), touched)
  // A new object's fields contain its owner's uid, so its set is not shared with other objects.
  const set = owned === former?.set || owners.size === 0 ? owned : sharedSet(view.shape, owned)
  if (isEmptySet(set)) change.owners.delete(self)
  else change.owners.set(self, { ...(former ?? fresh), set, ...(isEmptySet(touched) ? {} : { time: writer.now }) })
  return capUpdates(change.owners)
}

function withSet(owner: Owner, set: FieldSet): Owner {
  return set === owner.set ? owner : { ...owner, set }
}

/**
 * Merges the oldest updates of each version into one entry until the limit is met. A version needs at least two entries
 * to be merged.
 */
function capUpdates(owners: Map<string, Owner>): Map<string, Owner> {
  if (owners.size <= updateOwnersMax) return owners
  const updates = [...owners].filter(([, owner]) => owner.operation === 'Update')
  let excess = updates.length - updateOwnersMax
  if (excess <= 0) return owners
  const oldestFirst = updates.sort(([left, a], [right, b]) => secondsOf(a) - secondsOf(b) || compareText(left, right))
  const firstOfVersion = new Map<string, string>()
  const gathered = new Map<string, FieldSet[]>()
  for (const [identity, owner] of oldestFirst) {
    if (excess <= 0) break
    const first = firstOfVersion.get(owner.apiVersion)
    if (first === undefined) {
      firstOfVersion.set(owner.apiVersion, identity)
      continue
    }
    putTogether(owners, gathered, first, identity)
    excess--
  }
  for (const [bucket, sets] of gathered) owners.set(bucket, { ...(owners.get(bucket) as Owner), set: unionOfAll(sets) })
  return owners
}

/** Adds an owner to the merged entry of its version, which starts with the oldest owner. All sets are united at the end. */
function putTogether(owners: Map<string, Owner>, gathered: Map<string, FieldSet[]>, first: string, identity: string): void {
  const owner = owners.get(identity) as Owner
  const { apiVersion } = owner
  const old: Owner = { manager: ancientManager, operation: 'Update', apiVersion, subresource: '', time: owner.time, set: emptySet }
  const bucket = ownerIdentity(old)
  const former = owners.get(bucket) ?? owners.get(first)
  getOrMake(gathered, bucket, () => [former?.set ?? emptySet]).push(owner.set)
  if (!owners.has(bucket)) owners.delete(first)
  owners.delete(identity)
  owners.set(bucket, old)
}

/** An object for ownership, of which only `metadata.managedFields` has a special meaning. */
export type OwnedObject = Readonly<Record<string, unknown>>

/** The owner of a write, and the kind of the written object. */
export interface OwnerWrite {
  readonly manager: string
  readonly apiVersion: string
  readonly subresource?: string
  /** The time of the write as text; undefined for an entry without a time. */
  readonly now: string | undefined
  readonly schema: Shape
  /** A new object of the kind, before any field is set. Its fields have no owner unless they are changed. */
  readonly blank?: OwnedObject
  /** Converts the object to another version of the kind. */
  readonly convert?: (object: unknown, apiVersion: string) => Versioned | undefined
  /** Paths that this request cannot write. */
  readonly resetFields?: FieldSet
}

/** A write other than an apply. All states of the object are in the request's version. */
export interface TrackOptions extends OwnerWrite {
  /** The object before the write; undefined for a create. */
  readonly before: OwnedObject | undefined
  /** True if the request contains an empty list of entries, which `after` no longer shows. */
  readonly isReset?: boolean
  /** The object after the write, with `metadata.managedFields` from the request. */
  readonly after: OwnedObject
}

/**
 * The `managedFields` of an object after a create, an update or a patch other than an apply.
 *
 * A request to the main resource may contain entries, and `[]` or `[{}]` resets them. An object that is not tracked yet
 * stays untracked until an apply. If the object cannot be addressed by paths, because items of a list
 * have the same keys or it is too deep, the entries stay unchanged.
 */
export function trackUpdate(options: TrackOptions): ManagedFieldsEntry[] {
  return runAtOnce(trackUpdateInSteps(options))
}

/** Like `trackUpdate`, in steps, for objects with many fields. */
export function* trackUpdateInSteps(options: TrackOptions): Steps<ManagedFieldsEntry[]> {
  const { before, after, manager, apiVersion, subresource = '', now, schema: shape } = options
  const isReset = subresource === '' && (options.isReset === true || isResetRequest(managedFieldsOf(after)))
  const owners: Owners = isReset ? new Map() : yield* startingOwners(options)
  if (owners.size === 0 && before !== undefined && !isReset) return []
  const view: View = { shape, apiVersion, convert: options.convert, resetFields: options.resetFields }
  const { blank = {}, resetFields } = options
  const states = { before: before ?? blank, after }
  // Unchanged entries need no parsing.
  if (managedFieldsOf(before) !== managedFieldsOf(after)) {
    states.before = withoutManagedFields(states.before)
    states.after = withoutManagedFields(after)
  }
  const created = owners.size === 0 && before === undefined ? { shape, object: states.after, blank, resetFields } : undefined
  const known = created === undefined ? undefined : findCreatedFields(created)
  if (known !== undefined) {
    const { fields } = known
    noteSet(known)
    return fields === undefined ? [] : [printEntry({ manager, operation: 'Update', apiVersion, time: now, subresource }, fields)]
  }
  try {
    const recorded = yield* recordUpdate(view, owners, states, { manager, subresource, now })
    yield
    const entries = yield* printOwners(recorded.values())
    if (created !== undefined) keepCreatedFields(created, entries[0]?.fieldsV1)
    return entries
  } catch (error) {
    if (!(error instanceof Unownable)) throw error
    return yield* printOwners(owners.values())
  }
}

/** The entries of the request if they are valid and not empty, otherwise those of the live object. */
function* startingOwners({ before, after, subresource = '' }: TrackOptions): Steps<Owners> {
  const [entries, known] = [managedFieldsOf(after), managedFieldsOf(before)]
  const given = subresource === '' || before === undefined ? yield* parseOwners(entries) : undefined
  if (given === undefined || given.size === 0) return (yield* parseOwners(known)) ?? new Map()
  return entries === known ? given : withoutOtherForms(given, known)
}

/** Owners whose entries a writer has printed in another form, for example with sorted keys, are printed anew. */
function withoutOtherForms(owners: Owners, known: readonly ManagedFieldsEntry[] = []): Owners {
  const own = new Set(known.map(({ fieldsV1 }) => fieldsV1))
  const kept = ({ stored, ...owner }: Owner): Owner => (own.has(stored?.entry.fieldsV1) ? { ...owner, stored } : owner)
  return new Map([...owners].map(([identity, owner]) => [identity, kept(owner)]))
}

/** True for an empty list, or a single empty entry, which ask for a reset. */
function isResetRequest(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries?.length === 0) return true
  return entries?.length === 1 && isJsonObject(entries[0]) && Object.keys(entries[0]).length === 0
}

/** The entries of an object. */
export function managedFieldsOf(object: OwnedObject | undefined): ManagedFieldsEntry[] | undefined {
  const metadata = object?.['metadata']
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(entries) && entries.every(isJsonObject) ? (entries as ManagedFieldsEntry[]) : undefined
}

/** The object without its managedFields, which have no owners. */
export function withoutManagedFields(object: OwnedObject): OwnedObject {
  const metadata = object['metadata']
  if (!isJsonObject(metadata) || !('managedFields' in metadata)) return object
  const { managedFields: _managedFields, ...rest } = metadata
  return { ...object, metadata: rest }
}

/** Maximum length of a manager's name in bytes. */
const managerBytesMax = 128

/** The default manager: the program's name in the user agent, or `unknown`. */
export function managerOfUserAgent(userAgent: string | undefined): string {
  const [program = ''] = (userAgent ?? '').split('/', 1)
  // Almost all names are plain ASCII, which needs no check of each character.
  if (/^[ -~]*$/.test(program)) return program.slice(0, managerBytesMax) || 'unknown'
  const encoder = new TextEncoder()
  let name = ''
  let bytes = 0
  for (const character of program) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue
    bytes += encoder.encode(character).length
    if (bytes > managerBytesMax) break
    name += character
  }
  return name === '' ? 'unknown' : name
}

/** The fields that a manager owns by one operation. `stored` is the managedFields entry that they were parsed from. */
export interface Owner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly set: FieldSet
  readonly stored?: { readonly entry: ManagedFieldsEntry; readonly set: FieldSet }
}

/** All owners of an object, by identity. */
export type Owners = ReadonlyMap<string, Owner>

/** The identity of an owner. For an applier it does not depend on the version of its apply. */
export function ownerIdentity({ manager, operation, apiVersion, subresource }: Omit<Owner, 'time' | 'set'>): string {
  return `${manager}\n${operation}\n${operation === 'Apply' ? '' : apiVersion}\n${subresource}`
}

/** Parses `metadata.managedFields`. Undefined if an entry is malformed. */
export function* parseOwners(entries: readonly ManagedFieldsEntry[] | null | undefined): Steps<Map<string, Owner> | undefined> {
  const owners = new Map<string, Owner>()
  for (const [index, entry] of (entries ?? []).entries()) {
    if (isStepEnd(index, entries?.length ?? 0)) yield
    const { manager = '', operation, apiVersion, subresource = '', fieldsType, time } = entry
    if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined
    const set = setOf(fieldsOf(entry))
    if (set === undefined) return undefined
    const owner: Owner = { manager, operation, apiVersion, subresource, time: time ?? undefined, set, stored: { entry, set } }
    owners.set(ownerIdentity(owner), owner)
  }
  return owners
}

/** Sets by their parsed or printed form, both immutable. Entries that a write keeps are not parsed again by the next write. */
const knownSets = new WeakMap<object, FieldSet>()

function setOf(fields: unknown): FieldSet | undefined {
  if (!isJsonObject(fields)) return undefined
  const known = knownSets.get(fields)
  if (known !== undefined) return known
  const set = parseFieldSet(fields)
  if (set !== undefined) knownSets.set(fields, set)
  return set
}

/** Derives the set of a new object from the set of objects alike, with which it shares almost all parts. */
function noteSet({ fields, alike, owner }: FoundFields): void {
  if (fields === undefined || alike === undefined || owner === undefined || knownSets.has(fields)) return
  const set = setOf(alike)
  if (set !== undefined) knownSets.set(fields, withOwnerInSet(set, anyOwner, owner))
}

/** The printed form of a set, cached: repeated writes of the same fields produce the same set with a new time. */
const printSet = memo((set: FieldSet): Record<string, unknown> => {
  const fields = printFieldSet(set)
  knownSets.set(fields, set)
  return fields
})

/** The set of an entry. Early servers stored it under `fields`. */
function fieldsOf(entry: ManagedFieldsEntry & { readonly fields?: unknown }): unknown {
  return entry.fieldsV1 ?? entry.fields ?? {}
}

/** Prints `metadata.managedFields`: appliers first, then by time, manager, version and subresource. */
export function* printOwners(owners: Iterable<Owner>): Steps<ManagedFieldsEntry[]> {
  const sorted = [...owners].filter(({ set }) => !isEmptySet(set)).sort(compareOwners)
  const entries: ManagedFieldsEntry[] = []
  for (const [index, owner] of sorted.entries()) {
    if (isStepEnd(index, sorted.length)) yield
    entries.push(printOwner(owner))
  }
  return entries
}

function printOwner({ manager, operation, apiVersion, subresource, time, set, stored }: Owner): ManagedFieldsEntry {
  if (stored?.set === set && stored.entry.time === time && stored.entry.apiVersion === apiVersion && stored.entry.fieldsV1)
    return stored.entry
  return printEntry({ manager, operation, apiVersion, subresource, time }, printSet(set))
}

function printEntry(
  { manager, operation, apiVersion, subresource, time }: Omit<Owner, 'set' | 'stored'>,
  fieldsV1: Record<string, unknown>,
): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = { manager, operation, apiVersion }
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = fieldsV1
  if (subresource !== '') entry.subresource = subresource
  return entry
}

function compareOwners(left: Owner, right: Owner): number {
  return (
    compareText(left.operation, right.operation) ||
    secondsOf(left) - secondsOf(right) ||
    compareText(left.manager, right.manager) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource, right.subresource)
  )
}

/** The time of an owner's last write in seconds; 0 if unknown. */
function secondsOf({ time }: Owner): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000)
}

const metadataFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
  'clusterName',
]

const metadata = fieldElement('metadata')
const untracked = setOfPaths([
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [metadata],
  ...metadataFields.map((name) => [metadata, fieldElement(name)]),
])

/** The set without fields that are never owned: those that the server sets or that identify the object. */
export const withoutUntracked: (set: FieldSet) => FieldSet = memo((set: FieldSet) => difference(set, untracked))
