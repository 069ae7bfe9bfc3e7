import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { isStepEnd, type Steps } from '../steps.ts'
import { difference, type FieldSet, isEmptySet, parseFieldSet, printFieldSet, setOfPaths } from './field-set.ts'
import { compareText, fieldElement } from './path-element.ts'

/** The fields that a manager owns by one operation. `stored` is the managedFields entry from which they were parsed. */
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

/** The identity of an owner. That of an applier does not depend on the version in which it applies. */
export function ownerIdentity({ manager, operation, apiVersion, subresource }: Omit<Owner, 'time' | 'set'>): string {
  return [manager, operation, operation === 'Apply' ? '' : apiVersion, subresource].join('\n')
}

/** Parses `metadata.managedFields`. Undefined: an entry is malformed. */
export function* parseOwners(entries: readonly ManagedFieldsEntry[] | null | undefined): Steps<Map<string, Owner> | undefined> {
  const owners = new Map<string, Owner>()
  for (const [index, entry] of (entries ?? []).entries()) {
    if (isStepEnd(index, entries?.length ?? 0)) yield
    const { manager = '', operation, apiVersion, subresource = '', fieldsType, time } = entry
    if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined
    const set = parseFieldSet(fieldsOf(entry))
    if (set === undefined) return undefined
    const owner: Owner = { manager, operation, apiVersion, subresource, time: time ?? undefined, set, stored: { entry, set } }
    owners.set(ownerIdentity(owner), owner)
  }
  return owners
}

/** Early entries have the set under `fields`. */
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
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: printFieldSet(set),
    ...(subresource === '' ? {} : { subresource }),
  }
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

/** Time of an owner's last write, in seconds; 0 when unknown. */
export function secondsOf({ time }: Owner): number {
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

/** The set without fields that have no owner: those that the server sets, and those that identify the object. */
export function withoutUntracked(set: FieldSet): FieldSet {
  return difference(set, untracked)
}
