import { isJsonObject } from '../json/member.ts'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { runAtOnce, type Steps } from '../steps.ts'
import type { FieldSet } from './field-set.ts'
import { Unownable } from './list-items.ts'
import { type Owners, parseOwners, printOwners } from './owners.ts'
import { recordUpdate, type Versioned, type View } from './ownership.ts'
import type { Shape } from './shape.ts'

/** An object as ownership sees it: only `metadata.managedFields` has a meaning of its own. */
export type OwnedObject = Readonly<Record<string, unknown>>

/** A write that is no apply. All states of the object are in the request's version. */
export interface TrackOptions {
  /** The object before the write; undefined: it is created. */
  readonly before: OwnedObject | undefined
  /** The object after it, with `metadata.managedFields` as the request has them. */
  readonly after: OwnedObject
  readonly manager: string
  readonly apiVersion: string
  readonly subresource?: string
  /** Time of the write, as it is printed; undefined: the entry has none. */
  readonly now: string | undefined
  readonly schema: Shape
  /** What an object of the kind is before anything is set in it. Fields that it has are not owned for being there. */
  readonly blank?: OwnedObject
  readonly convert?: (object: unknown, apiVersion: string) => Versioned | undefined
  readonly resetFields?: FieldSet
}

/**
 * The `managedFields` of an object after a create, an update or a patch that is no apply.
 *
 * The request may bring entries of its own through the main resource, and `[{}]` starts anew. An object that no manager
 * has tracked yet stays so until it is applied to. Where the object cannot be looked into, because items of a list
 * have the same keys or it is too deep, the entries stay as they were.
 */
export function trackUpdate(options: TrackOptions): ManagedFieldsEntry[] {
  return runAtOnce(trackUpdateInSteps(options))
}

/** As `trackUpdate`, for objects of many fields. */
export function* trackUpdateInSteps(options: TrackOptions): Steps<ManagedFieldsEntry[]> {
  const { before, after, manager, apiVersion, subresource = '', now, schema: shape } = options
  const isReset = subresource === '' && isResetRequest(managedFieldsOf(after))
  const owners: Owners = isReset ? new Map() : yield* startingOwners(options)
  if (owners.size === 0 && before !== undefined && !isReset) return []
  const view: View = { shape, apiVersion, convert: options.convert, resetFields: options.resetFields }
  const states = { before: withoutManagedFields(before ?? options.blank ?? {}), after: withoutManagedFields(after) }
  try {
    const recorded = yield* recordUpdate(view, owners, states, { manager, subresource, now })
    yield
    return yield* printOwners(recorded.values())
  } catch (error) {
    if (!(error instanceof Unownable) && !(error instanceof RangeError)) throw error
    return yield* printOwners(owners.values())
  }
}

/** Entries of the request count when they can be read and are any; else those of the live object. */
function* startingOwners({ before, after, subresource = '' }: TrackOptions): Steps<Owners> {
  const given = subresource === '' || before === undefined ? yield* parseOwners(managedFieldsOf(after)) : undefined
  if (given !== undefined && given.size > 0) return given
  return (yield* parseOwners(managedFieldsOf(before))) ?? new Map()
}

/** One entry without anything in it asks for a new start. */
function isResetRequest(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  return entries?.length === 1 && isJsonObject(entries[0]) && Object.keys(entries[0]).length === 0
}

/** The entries of an object. */
export function managedFieldsOf(object: OwnedObject | undefined): ManagedFieldsEntry[] | undefined {
  const metadata = object?.['metadata']
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(entries) && entries.every(isJsonObject) ? (entries as ManagedFieldsEntry[]) : undefined
}

/** The object as its owners see it: their own entries are no part of it. */
export function withoutManagedFields(object: OwnedObject): OwnedObject {
  const metadata = object['metadata']
  if (!isJsonObject(metadata) || !('managedFields' in metadata)) return object
  const { managedFields: _managedFields, ...rest } = metadata
  return { ...object, metadata: rest }
}
