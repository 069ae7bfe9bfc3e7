import type { Behaviour } from '@orch/core/catalogue'
import { printJson } from '@orch/core/json'
import { type ApiObject, badRequest, carryOverMeta, generateName, invalid, type ObjectMeta, printTime, toInstant } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { decodeFailureText } from '@orch/core/schema'
import { isSame } from '@orch/core/validation'
import type { Clock } from '@orch/platform'
import { isCurrent } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import type { Draws } from '../request/draws.ts'
import { objectPartOf } from '../strategies/object-part.ts'
import type { Target } from '../target/target.ts'
import { type Described, sharedOf } from './candidate.ts'
import type { ChangeDraft, Draft, GateParts, NewDraft, Plan, PlannedWrite, WriteStep } from './draft.ts'
import type { Live } from './live.ts'

/** The dependencies of defaults. */
export type DefaultsParts = Pick<GateParts, 'isGateOn'> & {
  readonly names: Names
  readonly clock: Clock
}

/** The dependencies of preparing an object. */
export type PrepareParts = GateParts &
  DefaultsParts & {
    readonly draws: Pick<Draws, 'name' | 'uid'>
  }

/** Entries of managedFields are checked one by one, from any manager. As many as there are already may stay. */
export const limitOwners: WriteStep<unknown> = ({ write: { target }, given, live }) => {
  const { managedFields } = given.metadata
  const max = Math.max(limits.managedFieldsMax, live?.object.metadata.managedFields?.length ?? 0)
  if (managedFields === undefined || managedFields.length <= max) return
  const message = `Too many: ${managedFields.length}: must have at most ${max} items`
  throw invalid(target.served.kind, target.info.name, [{ reason: 'FieldValueTooMany', field: 'metadata.managedFields', message }])
}

/** Removes the metadata that only the server sets from a new object, and the status unless the kind keeps it. */
export const clearNew: WriteStep<unknown, NewDraft<Plan>> = (draft) => {
  const object: ApiObject = { ...draft.given }
  const { hasStatus, strategy } = draft.write.target.served
  if (hasStatus && strategy.rules.keepsGivenStatus !== true) delete object.status
  object.metadata = newMetadata(object.metadata, undefined)
  draft.object = object
}

/** An object of the server's own begins with a status. */
export function giveStatus(status: ApiObject['status']): WriteStep<unknown, NewDraft<Plan>> {
  return (draft) => {
    if (status !== undefined) draft.object = { ...draft.object, status }
  }
}

/** The writer's part, which the path names, with the rest of the live object. */
export const keepLive: WriteStep<PrepareParts, ChangeDraft> = (draft, { clock }) => {
  const { given, live } = draft
  const { served, subresource } = draft.write.target
  if (subresource === undefined) {
    draft.object = keepOutsideOfMain(served, given, live.object)
    return
  }
  const now = printTime(toInstant(clock.now()))
  const before = sharedOf(live) ?? live.object
  const kept = subresource.dropsWrites === true ? { ...given, status: before.status } : given
  const base = { ...before, metadata: { ...before.metadata } }
  draft.object = objectPartOf(served.strategy, subresource.name).merge(kept, base, now)
}

function keepOutsideOfMain(served: Target['served'], given: ApiObject, live: ApiObject): ApiObject {
  const { generation: _generation, selfLink: _selfLink, ...written } = carryOverMeta(given.metadata, live.metadata)
  const { generation, resourceVersion } = live.metadata
  const object: ApiObject = { ...given, metadata: { ...written, ...(generation === undefined ? {} : { generation }) } }
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
  if (served.hasStatus) {
    if (live.status === undefined) delete object.status
    else object.status = live.status
  }
  served.strategy.rules.prepareUpdate?.(object, live)
  return object
}

/** Sets the defaults, and brings the fields into the order of the type. */
export const fillDefaults: WriteStep<PrepareParts, Draft<Live | undefined, Plan>> = (draft, parts) => {
  const { live, write } = draft
  const { served } = write.target
  const { readers } = served.resource
  const given = { ...draft.object }
  // Parts equal to the live object's are those of the live object, and frozen: parts that defaults reach in them are copied to the draft.
  setDefaults(served, draft.object, parts)
  // Unchanged parts are shared with the live object from here on, so that comparing the two costs little. Neither is changed within.
  const known = live !== undefined && isCurrent(served, live.entry) ? live.object : undefined
  const complete = inOrder(served.resource, draft.object, { known, sharesAll: true })
  const object = readers.isUntyped && live !== undefined ? keepUnwritten(complete, given, write.target) : complete
  draft.object = known === undefined ? object : { ...object, metadata: { ...object.metadata } }
}

/** Sets the defaults and missing times of an object in place, as kube-apiserver does when it reads a body or a stored object. */
export function setDefaults({ resource, strategy }: Target['served'], object: ApiObject, { names, isGateOn, clock }: DefaultsParts): void {
  resource.readers.applyDefaults?.(object, names, isGateOn)
  strategy.rules.fillTimes?.(object, printTime(toInstant(clock.now())))
}

/** If a schema has gained defaults since an object was stored, they apply only to the written part. */
function keepUnwritten(complete: ApiObject, given: ApiObject, { served, subresource }: Target): ApiObject {
  const isWritten = (name: string): boolean =>
    subresource === undefined ? name !== 'status' || !served.hasStatus : name === 'metadata' || name === subresource.name
  const object: ApiObject = { ...complete }
  for (const name in complete) {
    if (isWritten(name) || complete[name] === given[name]) continue
    if (Object.hasOwn(given, name)) object[name] = given[name]
    else delete object[name]
  }
  return object
}

/** Objects whose parts the ordered object may share. */
export interface OrderOptions {
  /** An object in order; parts shared with it are not checked again. */
  readonly known?: ApiObject | undefined
  /** True if the write owns the object, so that ordered parts are not copied. */
  readonly sharesAll?: boolean
}

/** The object with its fields in the order of its type, so that equal objects have equal bytes. */
export function inOrder({ readers, kind, version, apiVersion }: Described, object: unknown, options: OrderOptions = {}): ApiObject {
  // When the body was read, members that it may not have were dropped, and too many defaults were refused.
  const decoded = readers.decode(object, { trackUnknown: false, keepsNulls: true, old: object, ...options })
  if (decoded.kind === 'mismatch') throw badRequest(decodeFailureText(kind, version, decoded))
  const read = decoded.object
  if (read.kind === kind && read.apiVersion === apiVersion) return read
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = read
  return { kind, apiVersion, metadata, ...rest }
}

/** Drops the fields of features that are off, unless the object has them already. */
export const dropDisabled: WriteStep<PrepareParts> = (draft, { isGateOn }) => {
  const { readers } = draft.write.target.served.resource
  draft.object = readers.dropDisabledFields?.(draft.object, draft.live?.object, isGateOn) ?? draft.object
}

/**
 * Sets the metadata that the server alone sets on a new object, and its name if one is generated. As in kube-apiserver,
 * mutating admission comes before and sees none of it. Then the kind derives its own members, some of them from the name or the uid.
 */
export const completeNew: WriteStep<PrepareParts, NewDraft<Plan>> = (
  { object, write: { target, request } },
  { clock, names, draws, level, isGateOn },
) => {
  const { behaviour, rules } = target.served.strategy
  object.metadata = newMetadata(object.metadata, {
    draws,
    generation: behaviour.countsGenerations && rules.countsOnly === undefined ? 1 : undefined,
    creationTimestamp: printTime(toInstant(clock.now())),
  })
  rules.deriveNew?.(object, { names, level, isGateOn, warn: (text) => request.warn(text) })
  rules.prepareCreate?.(object, names, request.user, level)
}

interface ServersPart {
  readonly draws: PrepareParts['draws']
  readonly generation: number | undefined
  readonly creationTimestamp: string
}

/** In the order of the type, so that equal objects have equal bytes; one field after the other, as rest parameters are slow. */
function newMetadata(given: ObjectMeta, own: ServersPart | undefined): ObjectMeta {
  const metadata: ObjectMeta = {}
  if (own !== undefined && !given.name && given.generateName) metadata.name = generateName(given.generateName, own.draws.name)
  else if (given.name !== undefined) metadata.name = given.name
  if (given.generateName !== undefined) metadata.generateName = given.generateName
  if (given.namespace !== undefined) metadata.namespace = given.namespace
  if (own !== undefined) metadata.uid = own.draws.uid()
  // A kind that counts no changes keeps what its writer says.
  const generation = own?.generation ?? given.generation
  if (generation) metadata.generation = generation
  if (own !== undefined) metadata.creationTimestamp = own.creationTimestamp
  if (given.labels !== undefined) metadata.labels = given.labels
  if (given.annotations !== undefined) metadata.annotations = given.annotations
  if (given.ownerReferences !== undefined) metadata.ownerReferences = given.ownerReferences
  if (given.finalizers !== undefined) metadata.finalizers = given.finalizers
  if (given.managedFields !== undefined) metadata.managedFields = given.managedFields
  return metadata
}

/** The kind derives its members from the change, and the generation counts it. */
export const completeChange: WriteStep<Pick<PrepareParts, 'names' | 'level' | 'clock' | 'isGateOn'>, ChangeDraft> = (
  draft,
  { names, level, clock, isGateOn },
) => {
  const { object, live, write } = draft
  const { target } = write
  const { served, subresource } = target
  const { behaviour, rules } = served.strategy
  rules.completeUpdate?.(object, live.object, { names, subresource: subresource?.name, level, clock, isGateOn, body: draft.body })
  const isWanted = subresource === undefined || objectPartOf(served.strategy, subresource.name).isWanted === true
  if (!behaviour.countsGenerations || !isWanted || rules.keepsGeneration) return
  const isCounted =
    rules.countsOnly?.(object, live.object, level) ??
    (!isSameCounted(object, live.object, behaviour) || rules.countsChange?.(object, live.object) === true)
  if (isCounted) object.metadata.generation = (live.object.metadata.generation ?? 0) + 1
}

/** Compares the parts that the generation counts: all but metadata and, for most kinds, the status. */
function isSameCounted(object: ApiObject, before: ApiObject, { countsStatus }: Pick<Behaviour, 'countsStatus'>): boolean {
  const counted = ({ metadata: _metadata, status, ...rest }: ApiObject) => (countsStatus ? { ...rest, status } : rest)
  return isSame(counted(object), counted(before))
}

type Owners = NonNullable<ObjectMeta['ownerReferences']>

/**
 * Merges owners that are listed twice, before the owners of fields are found: a list with two entries of one key has no owners.
 * For a patch they are reported where kube-apiserver first looks at one, after mutating admission.
 */
export const mergeOwners: WriteStep<unknown> = (draft) => {
  mergeOwnersOf(draft, draft.write.request.method === 'PATCH' ? afterAdmission : '')
}

/** As `mergeOwners`, after mutating admission. */
export const mergeAdmittedOwners: WriteStep<unknown> = (draft) => {
  // The early verdict is about the object before it.
  if (mergeOwnersOf(draft, afterAdmission)) draft.mutation = undefined
}

const afterAdmission = ' after mutating admission happens'

function mergeOwnersOf(draft: Draft<Live | undefined, PlannedWrite>, when: string): boolean {
  const { ownerReferences } = draft.object.metadata
  if (ownerReferences === undefined || ownerReferences.length < 2) return false
  const { merged, doubled } = mergeDoubled(ownerReferences)
  if (doubled.length === 0) return false
  draft.write.request.warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${doubled.join(', ')}`,
  )
  draft.object = withOwners(draft.object, merged)
  if (draft.given.metadata.ownerReferences === ownerReferences) draft.given = withOwners(draft.given, merged)
  return true
}

/** The first of equal entries, and the uid of each further one. Entries that differ in anything stay. Their members are in one order. */
function mergeDoubled(owners: Owners): { readonly merged: Owners; readonly doubled: readonly string[] } {
  const merged: Owners = []
  const doubled: string[] = []
  const seen = new Set<string>()
  for (const owner of owners) {
    const text = printJson(owner)
    if (seen.has(text)) doubled.push(owner.uid)
    else merged.push(owner)
    seen.add(text)
  }
  return { merged, doubled }
}

function withOwners(object: ApiObject, ownerReferences: Owners): ApiObject {
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}
