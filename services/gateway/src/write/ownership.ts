import {
  type ApplyOutcome,
  applyToInSteps,
  fieldSets,
  managerOfUserAgent,
  type OwnedObject,
  trackUpdateInSteps,
  type Versioned,
} from '@orch/core/apply'
import type { Resource } from '@orch/core/catalogue'
import { isJsonObject } from '@orch/core/json'
import { memo } from '@orch/core/memo'
import { type ApiObject, type ManagedFieldsEntry, parseApiVersion, printTime, toInstant } from '@orch/core/meta'
import { subdomainLabel } from '@orch/core/names'
import { runAtOnce, type Steps } from '@orch/core/steps'
import { ConversionError } from '@orch/platform/conversion'
import type { WebhookConversionParts } from '../conversion/by-webhook.ts'
import { toServedObject, toStoredObject } from '../conversion/convert.ts'
import { type ConvertOwned, withOwnedVersions } from '../conversion/owned-versions.ts'
import { advance, callContext } from '../request/index.ts'
import { objectPartOf } from '../strategies/object-part.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Served, ServedResources, Target } from '../target/target.ts'
import type { NewDraft, Plan, Write, WriteStep } from './draft.ts'

/** The dependencies of finding the owners of fields. */
export interface OwnershipParts extends Pick<Surroundings, 'names' | 'level' | 'clock'> {
  /** Finds the versions in which managers have written. */
  readonly served: Pick<ServedResources, 'find'>
  /** Converts objects for ownership by the conversion webhook; undefined without a webhook. */
  readonly convertOwned?: ConvertOwned
}

/** The dependencies of finding the owners for a request. */
export type FindOwnersParts = OwnershipParts & WebhookConversionParts

type Writer = Pick<Write, 'request' | 'target' | 'options'>

/** The owners of the fields after a write that is no apply. `after` has the `managedFields` that the writer has sent. */
export function* ownersAfter(
  writer: Writer,
  { before, after, isReset = false }: { before: ApiObject | undefined; after: ApiObject; isReset?: boolean },
  parts: OwnershipParts,
): Steps<ManagedFieldsEntry[]> {
  if (before !== undefined && !isTracked(writer.target)) return before.metadata.managedFields ?? []
  const { served } = writer.target
  // Fields that the conversion to storage and back adds are the writer's too; a webhook is asked when the object is encoded.
  const staysAsItIs = served.isStoredVersion || served.converted !== undefined
  const kept = staysAsItIs ? after : toServedObject(parts, served, toStoredObject(parts, served, after))
  return yield* trackUpdateInSteps({
    ...viewOf(writer.target.served, writer.target.subresource?.name, parts),
    before,
    after: kept,
    isReset,
    manager: writer.options.fieldManager || managerOfUserAgent(writer.request.exchange.header('user-agent')),
  })
}

/** Finds the owners of fields, unless the verb has: an apply. Fields added from here on have no owner. */
export const findOwners: WriteStep<FindOwnersParts> = async (draft, parts) => {
  const { write, object, live, owners } = draft
  const states = { before: live?.object, after: object, isReset: live !== undefined && namesNoOwners(draft.body) }
  try {
    setOwners(object, owners ?? (await ownVersions(write, parts, (own) => ownersAfter(write, states, own))))
  } catch (error) {
    // If the object cannot be converted to the versions of other managers, entries stay unchanged.
    if (!(error instanceof ConversionError)) throw error
    setOwners(object, live?.object.metadata.managedFields ?? [])
  }
}

/** An empty list of managers in a body forgets all of them; the decoded object no longer tells it from none. */
function namesNoOwners(body: unknown): boolean {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(entries) && entries.length === 0
}

/** Resolves owners that may have written in versions that a webhook converts to. */
export function ownVersions<T>(
  { request, target }: Pick<Write, 'request' | 'target'>,
  parts: FindOwnersParts,
  work: (parts: OwnershipParts) => Steps<T>,
): T | Promise<T> {
  if (target.served.converted === undefined) return advance(request, work(parts), parts)
  const steps = (convertOwned: ConvertOwned) => advance(request, work({ ...parts, convertOwned }), parts)
  return withOwnedVersions(parts, callContext(request, parts), steps)
}

/** The owners of the fields after the server itself has changed the status of an object that is about to be written. */
export function ownersOfStatus(
  served: Served,
  { before, after, manager }: { readonly before: ApiObject; readonly after: ApiObject; readonly manager: string },
  parts: OwnershipParts,
): ManagedFieldsEntry[] {
  const view = viewOf(served, 'status', parts)
  return runAtOnce(trackUpdateInSteps({ ...view, before, after, manager }))
}

/** The managers of an object that the server itself creates. */
export interface BootstrapManagers {
  /** The name of the writer; by default the server's. */
  readonly fieldManager?: string
  /** The name of the writer of the status; by default the status has no owner. */
  readonly statusManager?: { readonly name: string; readonly applies: boolean }
  /** Fields that a separate manager has applied; by default none. */
  readonly applied?: { readonly fieldManager: string; readonly fields: readonly string[] }
}

/** Finds the owners of the fields of an object that the server itself creates. */
export function ownBootstrap({ fieldManager, statusManager, applied }: BootstrapManagers): WriteStep<OwnershipParts, NewDraft<Plan>> {
  return ({ object, write: { target } }, parts) => {
    const manager = fieldManager ?? parts.names.serverManager
    const view = viewOf(target.served, target.subresource?.name, parts)
    const written = Object.fromEntries(Object.entries(object).filter(([field]) => applied?.fields.includes(field) !== true))
    setOwners(object, runAtOnce(trackUpdateInSteps({ ...view, before: undefined, after: written, manager })))
    const { apiVersion, kind, metadata } = object
    const apply = (seen: typeof view, live: object, { fieldManager, fields }: NonNullable<BootstrapManagers['applied']>): void => {
      const given = Object.fromEntries(fields.map((field) => [field, object[field]]))
      const config = { apiVersion, kind, metadata: { name: metadata.name }, ...given }
      const outcome = runAtOnce(applyToInSteps({ ...seen, live: { ...live, metadata }, config, manager: fieldManager, force: true }))
      if (outcome.kind === 'applied') setOwners(object, outcome.managedFields)
    }
    // An object without a status is stored with an empty one, which its creator owns.
    const before = { ...object, status: {} }
    if (statusManager?.applies) {
      apply(viewOf(target.served, 'status', parts), before, { fieldManager: statusManager.name, fields: ['status'] })
    } else if (statusManager !== undefined) {
      setOwners(object, ownersOfStatus(target.served, { before, after: object, manager: statusManager.name }, parts))
    }
    if (applied !== undefined) apply(view, written, applied)
  }
}

/** Applies a configuration to the live object. */
export function applyConfiguration(
  writer: Writer,
  config: OwnedObject,
  live: ApiObject | undefined,
  parts: OwnershipParts,
): Steps<ApplyOutcome> {
  const { options, target } = writer
  const { served, subresource } = target
  const lastAppliedAnnotation = subdomainLabel(parts.names, 'kubectl', 'last-applied-configuration')
  return applyToInSteps({
    ...viewOf(served, subresource?.name, parts),
    live,
    config,
    manager: options.fieldManager,
    force: options.isForced,
    lastAppliedAnnotation,
  })
}

/** An object without owned fields has no entries. */
export function setOwners({ metadata }: ApiObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length > 0) metadata.managedFields = entries
  else delete metadata.managedFields
}

/** A body of another kind, such as a Binding, sent to a subresource makes its writer the owner of no field; a Scale does. */
function isTracked({ served, subresource }: Target): boolean {
  return subresource === undefined || subresource.kind === served.resource.kind || subresource.name === 'scale'
}

/** Through which eyes a write to a target looks at an object. */
function viewOf(served: Served, subresource: string | undefined, parts: OwnershipParts) {
  const { readers, apiVersion } = served.resource
  return {
    apiVersion,
    subresource: subresource ?? '',
    // As in kube-apiserver, an entry of a write through a Scale has no time.
    now: subresource === 'scale' ? undefined : printTime(toInstant(parts.clock.now())),
    schema: readers.shape,
    blank: blankOf(served.resource),
    resetFields: resetFieldsOf(served, subresource, parts.level),
    convert: (object: unknown, version: string) => inVersion(served, object as ApiObject, version, parts),
  }
}

/** The object, which says itself in which version it is, as another one of its kind has it; undefined where the kind does not have that. */
function inVersion(served: Served, object: ApiObject, apiVersion: string, parts: OwnershipParts): Versioned | undefined {
  const from = servedAs(served, object.apiVersion ?? served.resource.apiVersion, parts)
  const to = servedAs(served, apiVersion, parts)
  if (from === undefined || to === undefined) return undefined
  const { shape } = to.resource.readers
  const isSame = from.resource.apiVersion === to.resource.apiVersion
  if (parts.convertOwned !== undefined) return { object: isSame ? object : parts.convertOwned(object, to), shape }
  return { object: toServedObject(parts, to, toStoredObject(parts, from, object)), shape }
}

/**
 * The resource in another version of its group. As in kube-apiserver, managers own fields in versions that a definition has and does not serve; entries
 * of the same resource in another group count as those of unknown versions.
 */
function servedAs(served: Served, apiVersion: string, parts: OwnershipParts): Served | undefined {
  const { resource } = served
  const parsed = parseApiVersion(apiVersion)
  if (parsed?.group !== resource.group) return undefined
  const other = parts.served.find(parsed.group, parsed.version, resource.plural)
  if (other?.resource.stored.prefix === resource.stored.prefix) return other
  const readers = resource.readersOf?.(apiVersion)
  if (readers === undefined) return undefined
  const isStoredVersion = apiVersion === resource.stored.apiVersion
  return { ...served, resource: { ...resource, version: parsed.version, apiVersion, readers }, isStoredVersion }
}

/** An object before anything is set in it: the parts that every object has are owned by no manager. */
const blankOf = memo((resource: Resource): OwnedObject => {
  const decoded = resource.readers.decode({}, { trackUnknown: false })
  return decoded.kind === 'decoded' ? decoded.object : {}
})

const statusField = fieldSets.setOfPaths([['f:status']])

/** The fields that a write to this path cannot change, and so does not own. */
function resetFieldsOf(served: Served, subresource: string | undefined, level: number): fieldSets.FieldSet | undefined {
  const { resource, strategy, hasStatus } = served
  const unmarked = strategy.rules.unmarked?.(subresource, level)
  if (unmarked !== undefined) return unmarked
  if (subresource === undefined) return hasStatus ? statusField : undefined
  if (subresource !== 'status') return undefined
  return fieldsBesideStatus(resource, strategy)
}

/** The fields of a kind that a write of its status cannot change. */
const fieldsBesideStatus = memo((resource: Resource, strategy: Served['strategy']): fieldSets.FieldSet => {
  const { isUntyped, shape } = resource.readers
  // As in kube-apiserver, of a custom resource it is the spec, even if the schema does not name it.
  const others = isUntyped
    ? ['f:spec']
    : [...shape.fields.keys()].filter((name) => name !== 'status' && name !== 'metadata').map((name) => `f:${name}`)
  const { keptMetadata = [] } = objectPartOf(strategy, 'status')
  return fieldSets.setOfPaths([...others.map((element) => [element]), ...keptMetadata.map((field) => ['f:metadata', `f:${field}`])])
})
