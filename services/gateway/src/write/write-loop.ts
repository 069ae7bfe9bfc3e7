import { randomUUID } from 'node:crypto'
import { sameOwners } from '@orch/core/apply'
import { dropDisabledFields, validateObject, warningsOf } from '@orch/core/catalogue'
import { type CallContext, UnknownOutcomeError } from '@orch/core/contracts'
import {
  type ApiObject,
  alreadyExists,
  carryOverMeta,
  conflict,
  type FieldError,
  invalid,
  printTime,
  StatusError,
  toInstant,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@orch/core/meta'
import type { Steps } from '@orch/core/steps'
import type { TimerWheel } from '@orch/platform'
import type { Allocator, Reservation } from '../allocation/allocator.ts'
import { type RoleParts, refuseEscalation } from '../authorization/escalation.ts'
import { requestLate } from '../body.ts'
import { callContext, remainingMs } from '../call-context.ts'
import { limits } from '../limits.ts'
import { advance, pause } from '../pace.ts'
import { requireMayCreate } from '../steps/authorize.ts'
import { objectPartOf } from '../strategies/object-part.ts'
import { keyOf, type Target } from '../target.ts'
import { type AdmittingParts, admitDeletion, both, mutated, validated } from './admitting.ts'
import { type Candidate, type CandidateParts, complete, inOrder } from './candidate.ts'
import { type CommitParts, type Condition, commitObject, commitRemoval, encodeWrite, type ObjectWrite, previewObject } from './commit.ts'
import { type Live, type LiveParts, readLive } from './live.ts'
import { bareFinalizersOf, clearMetadata, differsInSubstance, fillMetadata, type MetadataParts } from './metadata.ts'
import { type OwnershipParts, ownersAfter, setOwners } from './ownership.ts'
import { openSettlement, type Settlement, type SettlementParts } from './settlement.ts'
import type { EndTurn, Turns } from './turns.ts'
import type { PlannedWrite, Write, Written } from './write.ts'

/** What a write needs. */
export type WriteParts = LiveParts &
  CandidateParts &
  OwnershipParts &
  MetadataParts &
  AdmittingParts &
  SettlementParts &
  RoleParts &
  CommitParts & {
    readonly allocator: Pick<Allocator, 'reserve' | 'release'>
    /** Writers that meet at one object write one after the other. */
    readonly turns: Pick<Turns, 'take'>
    readonly wheel: TimerWheel
  }

/**
 * The loop that every write goes through: read, the verb's own step, complete, admit, judge, commit; again when someone
 * else was faster. A refusal never rests on an object that may have been old: it is read at the latest revision first.
 */
export async function write(wanted: Write, parts: WriteParts): Promise<Written> {
  const plan: PlannedWrite = { ...wanted, id: randomUUID() }
  const first = await attempt(plan, parts, false)
  if (first.kind !== 'again') return first
  if (plan.name === '') return attemptsLeft(plan, parts)
  const endTurn = await takeTurn(plan, parts)
  try {
    return await attemptsLeft(plan, parts)
  } finally {
    endTurn()
  }
}

/** Those who met at one object go on one after the other. */
async function takeTurn({ request, target, name }: Write, parts: WriteParts): Promise<EndTurn> {
  const late = Promise.withResolvers<void>()
  const timer = parts.wheel.after(remainingMs(request, parts), { due: () => late.resolve() })
  const end = await parts.turns.take(keyOf(target, name), late.promise)
  timer.cancel()
  if (end === undefined) throw requestLate()
  return end
}

/** Each attempt wants time to be left, so a crowd at one object ends with the deadline of the request at the latest. */
async function attemptsLeft(plan: PlannedWrite, parts: WriteParts): Promise<Written> {
  const attemptsMax = plan.name === '' ? limits.generatedNamesMax : limits.writeAttemptsMax
  let refusal = conflict(plan.target.served.name, plan.name)
  for (let count = 2; count <= attemptsMax; count++) {
    const outcome = await attempt(plan, parts, true)
    if (outcome.kind !== 'again') return outcome
    refusal = outcome.refusal ?? refusal
  }
  throw refusal
}

async function attempt(plan: PlannedWrite, parts: WriteParts, isLatest: boolean): Promise<Attempt> {
  const live = plan.name === '' ? undefined : await read(plan, parts, isLatest)
  plan.request.isLarge ||= live !== undefined && live.entry.value.length >= limits.largeBytesMin
  try {
    return await attemptWrite(plan, live, parts)
  } catch (error) {
    if (isLatest || plan.name === '' || !(error instanceof StatusError)) throw error
    // Nothing was refused, and what may have been written is not written again.
    if (error instanceof UnknownOutcomeError) throw error
    if ((await latestRevision(plan, parts)) === live?.entry.revision) throw error
    return { kind: 'again' }
  }
}

function read(plan: Write, parts: WriteParts, isLatest: boolean): Promise<Live | undefined> {
  const { target, name } = plan
  const context = timely(plan, parts)
  return readLive(keyOf(target, name), target.served, parts, { read: isLatest ? { kind: 'latest' } : { kind: 'any' }, ...context })
}

/** The object's revision of now, for which the object need not be looked into; undefined: it is gone. */
async function latestRevision(plan: Write, parts: WriteParts): Promise<number | undefined> {
  const key = keyOf(plan.target, plan.name)
  const { entry } = await parts.storage.get({ key, read: { kind: 'latest' } }, timely(plan, parts))
  return entry?.revision
}

/** What calls are told, as long as there is time for them. */
function timely({ request }: Write, parts: WriteParts): CallContext {
  const context = callContext(request, parts)
  if (context.timeoutMs === 0) throw requestLate()
  return context
}

/** `refusal` is the answer when no attempt is left; absent: a conflict. */
type Attempt = Written | { readonly kind: 'again'; readonly refusal?: StatusError }

async function attemptWrite(plan: PlannedWrite, live: Live | undefined, parts: WriteParts): Promise<Attempt> {
  const intent = await plan.step(live)
  switch (intent.kind) {
    case 'create':
      return attemptCreate(plan, intent.take, parts)
    case 'update':
      return attemptUpdate(plan, intent.candidate, live as Live, parts)
    case 'mark':
      return attemptMark(plan, intent.object, live as Live, parts)
    case 'remove':
      return attemptRemove(plan, live as Live, parts)
    case 'nothing':
      return unchanged(live as Live)
  }
}

async function attemptCreate(plan: PlannedWrite, take: () => Promise<Candidate>, parts: WriteParts): Promise<Attempt> {
  const { served } = plan.target
  await requireMayCreate(plan.request, plan.name, parts)
  const { request } = plan
  const { object: given, hasBigIntegers, body, owners } = await take()
  refuseManyOwners(plan, given)
  await pause(request, parts)
  const draft: ApiObject = { ...given }
  if (served.hasStatus) delete draft.status
  clearMetadata(draft)
  const completed = complete(served.resource, draft, parts)
  await pause(request, parts)
  setOwners(completed, owners ?? (await advance(request, ownersAfter(plan, { before: undefined, after: completed }, parts), parts)))
  await pause(request, parts)
  // What is added from here on is nobody's.
  const change = { operation: 'CREATE', live: undefined } as const
  const mutation = await mutated(plan, { ...change, object: completed }, parts)
  const object = dropDisabledFields(served.resource.type, mutation.object, undefined, parts.catalogue.isGateOn)
  await pause(request, parts)
  fillMetadata(object, served, parts)
  // Some of what is derived is derived from the name or the uid.
  served.strategy.rules.prepareCreate?.(object, parts.names, plan.request.user)
  await refuseEscalation({ user: plan.request.user, target: plan.target, object, live: undefined }, parts)
  await pause(request, parts)
  refuseInvalid(plan, object, await advance(request, judgeNew(object, body, plan, parts), parts))
  await pause(request, parts)
  warn(plan, object, undefined, parts)
  const { object: whole, release } = await parts.allocator.reserve(plan, object, undefined)
  // Not within the call of `both`: what stands beside an `await` is kept until the function ends.
  const validation = await orRelease(validated(plan, { ...change, object: whole }, mutation, parts), { release })
  const admitted = both(mutation, validation)
  using settlement = openSettlement(plan, admitted, parts)
  const { name = '', uid = '' } = object.metadata
  const isNameGenerated = !given.metadata.name && !!given.metadata.generateName
  const key = keyOf(plan.target, name)
  const write = { served, object: whole, hasBigIntegers, key, expected: 0, conditions: admitted.conditions }
  const { warning } = served.strategy.rules
  if (warning !== undefined) plan.request.warn(warning)
  if (plan.options.isDryRun) {
    const existing = await readLive(key, served, parts, { read: { kind: 'latest' }, ...callContext(plan.request, parts) })
    if (existing !== undefined) throw alreadyExists(served.name, name)
    return { kind: 'created', json: previewObject(write, parts, 0), uid }
  }
  // Here nobody needs the object any more: objects that wait for the disk are what the garbage collector copies most.
  const outcome = await settlement.commit(orRelease(commitObject(write, plan.request, parts), { release }, true))
  if (outcome.kind === 'written') return { kind: 'created', json: outcome.json, uid }
  await release()
  // A PUT that creates has met one that was faster; now it replaces.
  if (outcome.kind === 'unmet' || plan.name !== '') return { kind: 'again' }
  if (!isNameGenerated) throw alreadyExists(served.name, name)
  return { kind: 'again', refusal: generatedNameTaken(plan, name) }
}

/** Gives back what was reserved for an object when a step of its write fails, but for a commit that may have happened. */
async function orRelease<T>(step: Promise<T>, { release }: Pick<Reservation, 'release'>, isCommit = false): Promise<T> {
  try {
    return await step
  } catch (error) {
    if (!isCommit || !(error instanceof UnknownOutcomeError)) await release()
    throw error
  }
}

/** A generated name that is taken is nobody's mistake: after some attempts the client is asked to try again. */
function generatedNameTaken({ target }: Write, name: string): StatusError {
  const { status } = alreadyExists(target.served.name, name)
  return new StatusError({
    ...status,
    message: `${status.message}, the server was not able to generate a unique name for the object`,
    details: { ...status.details, retryAfterSeconds: 1 },
  })
}

async function attemptUpdate(plan: PlannedWrite, candidate: Candidate, live: Live, parts: WriteParts): Promise<Attempt> {
  const { object: given, hasBigIntegers, body } = candidate
  const { request } = plan
  const { served, subresource } = plan.target
  refuseManyOwners(plan, given, live.object)
  await pause(request, parts)
  const draft = prepareUpdate(plan, given, live, parts)
  const completed = complete(served.resource, draft, parts)
  await pause(request, parts)
  const owners = candidate.owners ?? (await advance(request, ownersAfter(plan, { before: live.object, after: completed }, parts), parts))
  setOwners(completed, owners)
  await pause(request, parts)
  const { managedFields } = completed.metadata
  const metadataErrors = validateObjectMetaUpdate({ ...given.metadata, managedFields }, live.object.metadata, {
    bareFinalizers: bareFinalizersOf(served, parts.names, live.object),
  })
  const change = { operation: 'UPDATE', live: live.object } as const
  const mutation = await mutated(plan, { ...change, object: completed }, parts)
  const object = dropDisabledFields(served.resource.type, mutation.object, live.object, parts.catalogue.isGateOn)
  await pause(request, parts)
  served.strategy.rules.completeUpdate?.(object, live.object)
  await refuseEscalation({ user: plan.request.user, target: plan.target, object, live: live.object }, parts)
  const isWanted = subresource === undefined || objectPartOf(served.resource, subresource.name).isWanted === true
  if (served.strategy.behaviour.countsGenerations && isWanted) countGeneration(object, live.object, served)
  await pause(request, parts)
  refuseInvalid(plan, object, [...metadataErrors, ...(await advance(request, judgeChanged(object, body, live.object, plan, parts), parts))])
  await pause(request, parts)
  if (subresource === undefined) warn(plan, object, live.object, parts)
  const reserved = await parts.allocator.reserve(plan, object, live.object)
  const validation = await orRelease(validated(plan, { ...change, object: reserved.object }, mutation, parts), reserved)
  const admitted = both(mutation, validation)
  using settlement = openSettlement(plan, admitted, parts)
  const isBig = hasBigIntegers || live.hasBigIntegers
  const isApplied = candidate.owners !== undefined
  const update = { object: reserved.object, hasBigIntegers: isBig, conditions: admitted.conditions, settlement, isApplied }
  const outcome = await orRelease(commitUpdate(plan, update, live, parts), reserved, true)
  if (outcome.kind === 'updated') await reserved.settle()
  else await reserved.release()
  return outcome
}

type Update = Pick<ObjectWrite, 'object' | 'hasBigIntegers' | 'conditions'> & {
  readonly isApplied: boolean
  readonly settlement: Settlement
}

async function commitUpdate(
  plan: PlannedWrite,
  { isApplied, settlement, ...update }: Update,
  live: Live,
  parts: WriteParts,
): Promise<Attempt> {
  const { key, revision } = live.entry
  const write = { ...update, served: plan.target.served, key, expected: revision }
  const uid = update.object.metadata.uid ?? ''
  await pause(plan.request, parts)
  const encoding = encodeWrite(write, parts)
  await pause(plan.request, parts)
  const preview = previewObject(write, parts, revision, encoding)
  if (Buffer.compare(preview, live.entry.value) === 0) return confirmUnchanged(plan, live, parts)
  await pause(plan.request, parts)
  if (isApplied && differsInTimesOnly(write, preview, live, parts)) return confirmUnchanged(plan, live, parts)
  if (isDeletedByUpdate(update.object, live.object, plan))
    return removeLive(plan, { json: preview, live, conditions: [], settlement }, parts)
  if (plan.options.isDryRun) return { kind: 'updated', json: preview, uid }
  const outcome = await settlement.commit(commitObject(write, plan.request, parts, encoding))
  return outcome.kind === 'written' ? { kind: 'updated', json: outcome.json, uid } : { kind: 'again' }
}

/** An apply may have given a value in other words, such as `1000m` for `1`: then the object is as it was but for its owners' times. */
function differsInTimesOnly(write: ObjectWrite, preview: Uint8Array, { object, entry }: Live, parts: WriteParts): boolean {
  const { metadata } = write.object
  // Times are all of one length.
  if (preview.length !== entry.value.length || metadata.managedFields === undefined) return false
  if (!endsDifferingInTime(preview, entry.value)) return false
  const { managedFields = [] } = object.metadata
  if (!sameOwners(metadata.managedFields, managedFields)) return false
  const before = { ...write, object: { ...write.object, metadata: { ...metadata, managedFields } } }
  return Buffer.compare(previewObject(before, parts, entry.revision), entry.value) === 0
}

/** Whether the last byte in which two texts differ is one of a time; most changes end elsewhere, and need no closer look. */
function endsDifferingInTime(left: Uint8Array, right: Uint8Array): boolean {
  let last = left.length - 1
  while (last >= 0 && left[last] === right[last]) last--
  const label = '"time":"'
  const before = Buffer.from(left.subarray(Math.max(0, last - label.length - timeLength), Math.max(0, last))).toString('latin1')
  return before.includes(label)
}

/** Characters of a time such as `2006-01-02T15:04:05Z`. */
const timeLength = 20

/** "Nothing to change" may not rest on an old object either. */
async function confirmUnchanged(plan: Write, live: Live, parts: WriteParts): Promise<Attempt> {
  return (await latestRevision(plan, parts)) === live.entry.revision ? unchanged(live) : { kind: 'again' }
}

function unchanged({ entry, object }: Live): Written {
  return { kind: 'unchanged', json: entry.value, uid: object.metadata.uid ?? '' }
}

/** The part that the path names comes from the writer, everything else stays as it is. */
function prepareUpdate({ target }: Write, given: ApiObject, { object: live }: Live, { clock }: WriteParts): ApiObject {
  const { served, subresource } = target
  if (subresource !== undefined) {
    const now = printTime(toInstant(clock.now()))
    const kept = subresource.dropsWrites === true ? { ...given, status: live.status } : given
    return objectPartOf(served.resource, subresource.name).merge(kept, { ...live, metadata: { ...live.metadata } }, now)
  }
  const { generation: _generation, selfLink: _selfLink, ...written } = carryOverMeta(given.metadata, live.metadata)
  const { generation } = live.metadata
  const object: ApiObject = { ...given, metadata: { ...written, ...(generation === undefined ? {} : { generation }) } }
  if (live.metadata.resourceVersion !== undefined) object.metadata.resourceVersion = live.metadata.resourceVersion
  if (served.hasStatus) {
    if (live.status === undefined) delete object.status
    else object.status = live.status
  }
  served.strategy.rules.prepareUpdate?.(object, live)
  return object
}

function countGeneration(object: ApiObject, live: ApiObject, { strategy }: Target['served']): void {
  const { countsOnly, countsChange, keepsGeneration } = strategy.rules
  if (keepsGeneration) return
  const isCounted = countsOnly?.(object, live) ?? (differsInSubstance(object, live) || countsChange?.(object, live) === true)
  if (isCounted) object.metadata.generation = (live.metadata.generation ?? 0) + 1
}

function* judgeNew(
  object: ApiObject,
  body: unknown,
  { target: { served } }: Write,
  { names, catalogue: { isGateOn } }: WriteParts,
): Steps<FieldError[]> {
  const { resource, strategy } = served
  const rules = {
    isNamespaced: resource.isNamespaced,
    nameKind: strategy.behaviour.nameKind,
    bareFinalizers: bareFinalizersOf(served, names),
  }
  const ofMetadata = validateObjectMeta(object.metadata, rules)
  yield
  const ofKind = validateObject({ type: resource.type, body, object, part: 'main', names, isGateOn })
  yield
  return [...ofMetadata, ...(strategy.rules.validate?.(object, undefined) ?? []), ...ofKind]
}

function* judgeChanged(
  object: ApiObject,
  body: unknown,
  live: ApiObject,
  { target: { served, subresource } }: Write,
  { names, catalogue: { isGateOn } }: WriteParts,
): Steps<FieldError[]> {
  const { resource, strategy } = served
  const part = subresource === undefined ? undefined : objectPartOf(resource, subresource.name)
  if (part?.validate !== undefined) return [...part.validate(object, live)]
  if (part !== undefined && part.isWanted !== true) {
    const ofPart = validateObject({ type: resource.type, body, object, live, part: 'status', names, isGateOn })
    return [...ofPart, ...(part.validateToo?.(object, live) ?? [])]
  }
  const ofKind = validateObject({ type: resource.type, body, object, live, part: 'main', names, isGateOn })
  yield
  return [...ofKind, ...(strategy.rules.validate?.(object, live) ?? [])]
}

/** Entries are looked through one by one, whoever has written them. As many as there are already may stay. */
function refuseManyOwners(plan: Write, { metadata: { managedFields } }: ApiObject, live?: ApiObject): void {
  const max = Math.max(limits.managedFieldsMax, live?.metadata.managedFields?.length ?? 0)
  if (managedFields === undefined || managedFields.length <= max) return
  const message = `Too many: ${managedFields.length}: must have at most ${max} items`
  throw invalid(plan.target.served.kind, plan.target.info.name, [{ reason: 'FieldValueTooMany', field: 'metadata.managedFields', message }])
}

function warn({ request, target: { served } }: Write, object: ApiObject, live: ApiObject | undefined, { names }: WriteParts): void {
  for (const text of warningsOf(served.resource.type, object, live, names)) request.warn(text)
}

function refuseInvalid({ target: { served } }: Write, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(served.kind, object.metadata.name ?? '', errors.slice(0, limits.fieldErrorsMax))
}

/** An update that takes the last thing that held a going object is its end. */
function isDeletedByUpdate(object: ApiObject, live: ApiObject, { target: { served } }: Write): boolean {
  if (live.metadata.deletionTimestamp == null || (live.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return (object.metadata.finalizers ?? []).length === 0 && served.strategy.rules.isHeld?.(object) !== true
}

async function attemptMark(plan: PlannedWrite, object: ApiObject, live: Live, parts: WriteParts): Promise<Attempt> {
  const admitted = await admitDeletion(plan, live.object, parts)
  using settlement = openSettlement(plan, admitted, parts)
  const write = {
    served: plan.target.served,
    object,
    hasBigIntegers: live.hasBigIntegers,
    key: live.entry.key,
    expected: live.entry.revision,
    conditions: admitted.conditions,
  }
  const uid = object.metadata.uid ?? ''
  if (plan.options.isDryRun) return { kind: 'marked', json: previewObject(write, parts, live.entry.revision), uid }
  const outcome = await settlement.commit(commitObject(write, plan.request, parts))
  return outcome.kind === 'written' ? { kind: 'marked', json: outcome.json, uid } : { kind: 'again' }
}

async function attemptRemove(plan: PlannedWrite, live: Live, parts: WriteParts): Promise<Attempt> {
  const admitted = await admitDeletion(plan, live.object, parts)
  using settlement = openSettlement(plan, admitted, parts)
  return await removeLive(plan, { json: live.entry.value, live, conditions: admitted.conditions, settlement }, parts)
}

interface Removal {
  /** What is answered. */
  readonly json: Uint8Array
  readonly live: Live
  readonly conditions: readonly Condition[]
  readonly settlement: Settlement
}

async function removeLive(plan: PlannedWrite, { json, live, conditions, settlement }: Removal, parts: WriteParts): Promise<Attempt> {
  const removed: Written = { kind: 'removed', json, uid: live.object.metadata.uid ?? '' }
  if (plan.options.isDryRun) return removed
  const removal = { key: live.entry.key, expected: live.entry.revision, conditions }
  const outcome = await settlement.commit(commitRemoval(removal, plan.request, parts))
  if (outcome.kind !== 'written') return { kind: 'again' }
  await parts.allocator.release(plan.target.served, live.object)
  return removed
}

/** The end of the year 9999; later times cannot be written. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59)

/** The object as it is while its deletion is under way. */
export function markedObject(
  { object: live }: Live,
  seconds: number,
  beganMs: number,
  { strategy, resource }: Target['served'],
  finalizers: readonly string[],
): ApiObject {
  const metadata = {
    ...live.metadata,
    deletionTimestamp: printTime(toInstant(Math.min(beganMs + seconds * 1000, lastMs))),
    deletionGracePeriodSeconds: seconds,
  }
  if (finalizers.length > 0) metadata.finalizers = [...finalizers]
  else delete metadata.finalizers
  if (metadata.generation !== undefined && live.metadata.deletionTimestamp == null) metadata.generation += 1
  const object: ApiObject = { ...live, metadata }
  strategy.rules.prepareDeletion?.(object)
  return inOrder(resource, object)
}
