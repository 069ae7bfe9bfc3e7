import { sameOwners } from '@orch/core/apply'
import { type CommitOutcome, type CommitRequest, isValueTooLarge, UnknownOutcomeError } from '@orch/core/contracts'
import { type ApiObject, alreadyExists, badRequest, parseRevision, StatusError } from '@orch/core/meta'
import { type EncodedObject, encodeExactly, encodeStoredObject, fillRevision, fillVersionText, toWriteId } from '@orch/core/stored'
import { isSame } from '@orch/core/validation'
import { toStoredByWebhook } from '../conversion/by-webhook.ts'
import { type ConversionParts, needsWebhook, type ReadObject, toCurrentBytes, toStoredObject } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import { callContext, type Draws, pause } from '../request/index.ts'
import type { GatewayMetrics } from '../server/metrics.ts'
import type { Target } from '../target/target.ts'
import type { ChangeDraft, Draft, Encoding, NewDraft, Origin, Plan, WriteStep, Written } from './draft.ts'
import { type Live, type LiveParts, latestRevision, readLive } from './live.ts'
import { findLostCommit, type LostCommitParts } from './lost-commit.ts'
import { isAsRead, type RecentObjects } from './recent-objects.ts'

/** The dependencies of a commit. */
export type CommitParts = LostCommitParts &
  LiveParts & {
    /** Lifetime of Events; undefined if they do not expire. */
    readonly eventTtlMs: number | undefined
    readonly recent: RecentObjects
    readonly draws: Pick<Draws, 'writeId'>
    readonly metrics: Pick<GatewayMetrics, 'countIssued'>
  }

/** A draft of any object. */
export type AnyDraft = Draft<Live | undefined, Plan>

/** Encodes the object, once for all steps that follow. */
export const encode: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => {
  if (needsEncoding(draft)) return encodeConverted(draft, parts)
  draft.encoding = encodeDraft(draft, parts)
}

/** Encodes the object where a webhook converts it to the stored version. */
export const encodeByWebhook: WriteStep<CommitParts, AnyDraft> = (draft, parts) => {
  if (needsEncoding(draft)) return encodeConverted(draft, parts)
}

/** True if a webhook makes the stored version of the written object. */
function needsEncoding({ write: { target } }: AnyDraft): boolean {
  const { resource, isStoredVersion } = target.served
  return resource.conversion !== undefined && !isStoredVersion
}

async function encodeConverted(draft: AnyDraft, parts: CommitParts): Promise<void> {
  const { write, object, hasBigIntegers } = draft
  const { request, target } = write
  const stored = await toStoredByWebhook(parts, target.served, { object, hasBigIntegers }, callContext(request, parts))
  draft.encoding = encodeStored(target, stored)
}

/** Stores a new object. */
export const commitNew: WriteStep<CommitParts, NewDraft<Plan>> = (draft, parts) => {
  const { write, given, object } = draft
  const { name = '', uid = '' } = object.metadata
  const key = `${write.target.keyPrefix}${name}`
  if (write.options.isDryRun) return previewNew(draft, key, parts)
  // A PUT or an apply creates an object with any version in it, and so does a version that is no number.
  if (write.name === '' && (parseRevision(given.metadata.resourceVersion ?? '') ?? 0) !== 0) {
    throw badRequest('resourceVersion should not be set on objects to be created')
  }
  return storeNew(draft, { key, name, uid, nameOrigin: nameOriginOf(given) }, parts)
}

type NameOrigin = 'given' | 'generated' | 'givenBesideGenerateName'

function nameOriginOf({ metadata: { name, generateName } }: ApiObject): NameOrigin {
  if (!generateName) return 'given'
  return name ? 'givenBesideGenerateName' : 'generated'
}

async function previewNew(draft: NewDraft<Plan>, key: string, parts: CommitParts): Promise<void> {
  const { write, object } = draft
  const { request, target } = write
  const { name = '', uid = '' } = object.metadata
  const { generateName, resourceVersion } = draft.given.metadata
  const existing = await readLive(key, target.served, parts, { read: { kind: 'latest' }, ...callContext(request, parts) })
  if (existing !== undefined) throw nameTaken(target, name, { isGenerated: Boolean(generateName), existing })
  const { json, hole } = (draft.encoding ?? encodeDraft(draft, parts)).encoded
  // The store alone would replace the writer's version.
  draft.outcome = { kind: 'created', json: resourceVersion ? fillVersionText(json, hole, resourceVersion) : json, uid }
}

interface NewName {
  readonly key: string
  readonly name: string
  readonly uid: string
  readonly nameOrigin: NameOrigin
}

async function storeNew(draft: NewDraft<Plan>, { key, name, uid, nameOrigin }: NewName, parts: CommitParts): Promise<void> {
  const { target, name: nameInPath } = draft.write
  const outcome = await commitObject(draft, key, parts)
  if (outcome.kind === 'written') draft.outcome = { ...outcome, kind: 'created', uid }
  // A PUT that creates has met one that was faster; now it replaces.
  else if (outcome.kind === 'unmet' || nameInPath !== '') draft.outcome = { kind: 'again' }
  else if (nameOrigin === 'generated') draft.outcome = { kind: 'again', refusal: generatedNameTaken(target, name) }
  else {
    const read = { read: { kind: 'latest' }, ...callContext(draft.write.request, parts) } as const
    // An object that cannot be read has the name, too.
    const existing = await readLive(key, target.served, parts, read).catch(() => undefined)
    // kube-apiserver looks at generateName alone, and gives a taken name the message of a generated one.
    throw nameTaken(target, name, { isGenerated: nameOrigin !== 'given', existing })
  }
}

/** The refusal of a name that an object has, which may be in deletion. */
function nameTaken(
  target: Target,
  name: string,
  { isGenerated, existing }: { readonly isGenerated: boolean; readonly existing: Live | undefined },
): StatusError {
  const error = isGenerated ? generatedNameTaken(target, name) : alreadyExists(target.served.name, name)
  if (existing?.object.metadata.deletionTimestamp == null) return error
  return new StatusError({ ...error.status, message: `object is being deleted: ${error.status.message ?? ''}` })
}

/** A generated name that is taken is not the client's fault: after some attempts it is asked to try again. */
function generatedNameTaken({ served }: Target, name: string): StatusError {
  const { status } = alreadyExists(served.name, name)
  return new StatusError({
    ...status,
    message: `${status.message}, the server was not able to generate a unique name for the object`,
    details: { ...status.details, retryAfterSeconds: 1 },
  })
}

/** Stores an object that has changed. */
export const commitChange: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => replace(draft, 'updated', parts)

/** Stores an object that is marked as being deleted. */
export const commitMark: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => replace(draft, 'marked', parts)

async function replace(draft: ChangeDraft, kind: 'updated' | 'marked', parts: CommitParts): Promise<void> {
  const { live, write } = draft
  const uid = draft.object.metadata.uid ?? ''
  if (write.options.isDryRun) {
    draft.outcome = { kind, json: previewChange(draft, parts), uid }
    return
  }
  // Computed now: during the wait only the object's bytes are kept.
  const issued = write.target.served.strategy.rules.issued?.(draft.object, live.object, parts.names)
  const outcome = await commitObject(draft, live.entry.key, parts)
  if (outcome.kind !== 'written') {
    draft.outcome = { kind: 'again' }
    return
  }
  draft.outcome = { ...outcome, kind, uid }
  if (issued !== undefined) parts.metrics.countIssued(issued)
}

/** Removes an object. */
export const commitRemoval: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => {
  const { conditions, live, object, write } = draft
  const shown = object === live.object ? shownOf(live, write.target, parts) : { json: previewChange(draft, parts) }
  return remove(draft, { ...shown, conditions }, parts)
}

/** The answer about an object that is unchanged. */
function shownOf({ entry }: Live, { served }: Target, parts: ConversionParts): Pick<Written, 'json' | 'fingerprint'> {
  const json = toCurrentBytes(parts, served, entry)
  return needsWebhook(served, entry) ? { json, fingerprint: entry.fingerprint } : { json }
}

/** An update that takes the last thing that held an object in deletion is its end. */
export const removeReleased: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => {
  if (isReleased(draft)) return remove(draft, { json: previewChange(draft, parts), conditions: [] }, parts)
}

function isReleased({ object, live, write: { target } }: ChangeDraft): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.object.metadata
  if (deletionTimestamp == null || (deletionGracePeriodSeconds ?? 0) > 0) return false
  return (object.metadata.finalizers ?? []).length === 0 && target.served.strategy.rules.isHeld?.(object) !== true
}

interface Removal {
  /** The answered object. */
  readonly json: Uint8Array
  readonly fingerprint?: number | undefined
  readonly conditions: CommitRequest['conditions']
}

async function remove(draft: ChangeDraft, { json, fingerprint, conditions }: Removal, parts: CommitParts): Promise<void> {
  const { live, write } = draft
  const { key, revision: expected } = live.entry
  if (!write.options.isDryRun) {
    markSent(draft)
    const outcome = await commitSurely({ key, expected, conditions, writeId: newWriteId(write.request, parts) }, write.request, parts)
    if (outcome.kind !== 'written') {
      draft.outcome = { kind: 'again' }
      return
    }
    draft.revision = outcome.revision
    parts.recent.forget(key)
  }
  draft.outcome = { kind: 'removed', json, fingerprint, uid: live.object.metadata.uid ?? '' }
}

type ObjectOutcome = ({ readonly kind: 'written' } & Pick<Written, 'json' | 'object'>) | { readonly kind: 'stale' | 'unmet' }

/** Stores the object of a draft. The answer has the bytes that readers will get. Throws at once if it cannot be printed. */
function commitObject(draft: AnyDraft, key: string, parts: CommitParts): Promise<ObjectOutcome> {
  const { write, conditions, live, owners } = draft
  const { request, target } = write
  const writeId = newWriteId(request, parts)
  const expiresAtMs = expiryOf(target, parts)
  const encoding = draft.encoding ?? encodeDraft(draft, parts)
  const recent = isReadSoon(draft, { key, ...encoding }, parts) ? encoding.stored : undefined
  markSent(draft)
  const send = ({ stored: object, encoded }: Encoding) => {
    const value = encodeStoredObject({ stored: target.served.resource.stored, object, encoded, writeId, expiresAtMs })
    const commit = { key, expected: live?.entry.revision ?? 0, conditions, value, writeId }
    return commitEncoded(draft, commit, { encoded, recent }, parts)
  }
  const outcome = send(encoding)
  if (encoding.encoded.json.length < limits.largeBytesMin || owners !== undefined) return outcome
  // As in kube-apiserver, an object that is too large together with its owners is stored without them, unless they are applied.
  return outcome.catch((error: unknown) => {
    const { managedFields, ...metadata } = encoding.stored.metadata
    if (managedFields === undefined || !isValueTooLarge(error)) throw error
    return send(encodeStored(target, { object: { ...encoding.stored, metadata }, hasBigIntegers: draft.hasBigIntegers }))
  })
}

/**
 * An object that has changed once will often change again; most new ones are only read, unless a reader in this process follows their resource. Reading
 * the bytes must give the same object. For managers it does: they were read, or printed by `findOwners`.
 */
function isReadSoon(
  { live, hasBigIntegers }: AnyDraft,
  { key, stored, encoded }: { readonly key: string; readonly stored: ApiObject; readonly encoded: EncodedObject },
  { recent }: CommitParts,
): boolean {
  if (hasBigIntegers || encoded.json.length >= limits.largeBytesMin) return false
  const { managedFields } = stored.metadata
  if (live === undefined) return recent.isFollowed(key) && isAsRead(stored, { metadata: { managedFields } })
  return live.isAsDecoded && isAsRead(stored, { ...live.object, metadata: { ...live.object.metadata, managedFields } })
}

/** From here on it may be written. The objects are dropped: objects that wait for the disk are the ones that the garbage collector copies most. */
function markSent(draft: AnyDraft): void {
  draft.isSent = true
  draft.given = forgotten
  draft.object = forgotten
  draft.body = undefined
  draft.mutation = undefined
  draft.encoding = undefined
}

const forgotten: ApiObject = Object.freeze({ apiVersion: '', kind: '', metadata: {} })

/** A separate function, as the arguments of an asynchronous function are kept until it ends. */
async function commitEncoded(
  draft: AnyDraft,
  commit: CommitRequest,
  { encoded, recent }: { readonly encoded: EncodedObject; readonly recent: ApiObject | undefined },
  parts: CommitParts,
): Promise<ObjectOutcome> {
  const announced = recent && parts.recent.announce(commit.key, recent, encoded)
  try {
    const outcome = await commitSurely(commit, draft.write.request, parts)
    if (outcome.kind !== 'written') return { kind: outcome.kind }
    const { revision } = outcome
    draft.revision = revision
    if (announced) return { kind: 'written', ...parts.recent.confirm(commit.key, announced, revision) }
    return { kind: 'written', json: fillRevision(encoded.json, encoded.hole, revision) }
  } finally {
    if (announced) parts.recent.withdraw(commit.key, announced)
  }
}

/** The object of a draft as it will be stored. */
function encodeDraft(
  { write, object, hasBigIntegers, live }: Pick<AnyDraft, 'write' | 'object' | 'hasBigIntegers' | 'live'>,
  parts: CommitParts,
): Encoding {
  const { served } = write.target
  if (!served.isStoredVersion) return encodeStored(write.target, { object: toStoredObject(parts, served, object), hasBigIntegers })
  return encodeStored(write.target, { object, hasBigIntegers }, live?.isAsDecoded === true ? live.object : undefined)
}

/** An object in the stored version as it will be stored. It may share parts with one that was read from storage. */
export function encodeStored(
  { served: { resource } }: Pick<Target, 'served'>,
  { object, hasBigIntegers }: ReadObject,
  read?: ApiObject,
): Encoding {
  const stored = resource.stored.readers.printable?.(object, read) ?? object
  return { stored, encoded: encodeExactly(stored, hasBigIntegers, resource.readers.isUntyped) }
}

/** The served form of a changed object, with the revision that it has now. */
export function previewChange(
  draft: Pick<ChangeDraft, 'write' | 'object' | 'hasBigIntegers' | 'live' | 'encoding'>,
  parts: CommitParts,
): Uint8Array {
  const { json, hole } = (draft.encoding ?? encodeDraft(draft, parts)).encoded
  return fillRevision(json, hole, draft.live.entry.revision)
}

function newWriteId({ trace }: Origin, { draws }: Pick<CommitParts, 'draws'>): string {
  return toWriteId(draws.writeId(), trace?.span?.traceparent)
}

/** Events are not kept for ever. */
export function expiryOf(
  { served: { strategy } }: Pick<Target, 'served'>,
  { eventTtlMs, clock }: Pick<CommitParts, 'eventTtlMs' | 'clock'>,
): number {
  return strategy.rules.expires === true && eventTtlMs !== undefined ? clock.now() + eventTtlMs : 0
}

/** Commits once. If the answer is lost, it finds the outcome of the commit. */
async function commitSurely(given: CommitRequest, request: Origin, parts: CommitParts): Promise<CommitOutcome> {
  const commit = { ...given, user: request.user.name.slice(0, limits.historyUserMax) }
  const outcome = await learnOutcome(commit, request, parts)
  if (outcome.kind === 'written') request.committed?.(commit.key, outcome.revision)
  return outcome
}

async function learnOutcome(commit: CommitRequest, request: Origin, parts: CommitParts): Promise<CommitOutcome> {
  try {
    const outcome = await parts.storage.commit(commit, callContext(request, parts))
    if (outcome.kind === 'written') request.explanation?.stored(outcome.revision)
    return outcome
  } catch (error) {
    // A Status is an answer: storage has refused, and nothing was written. Unless it says that the outcome is unknown.
    if (error instanceof StatusError && !(error instanceof UnknownOutcomeError)) throw error
    parts.log.warn({ err: error, key: commit.key }, 'the answer to a commit was lost')
    return findLostCommit(commit, request, parts, error)
  }
}

/** Ends the write of an unchanged object, unless the read object is old by now. */
export const skipUnchanged: WriteStep<CommitParts, ChangeDraft> = (draft, parts) => {
  // As in kube-apiserver, a write without a change is how an object is encrypted with a new key.
  if (draft.live.isStale === true && !draft.write.options.isDryRun) return
  const preview = previewChange(draft, parts)
  if (Buffer.compare(preview, draft.live.entry.value) === 0) return confirmUnchanged(draft, parts)
  if (draft.owners !== undefined) return skipOtherTimes(draft, preview, parts)
}

async function skipOtherTimes(draft: ChangeDraft, preview: Uint8Array, parts: CommitParts): Promise<void> {
  await pause(draft.write.request, parts)
  if (differsInTimesOnly(draft, preview, parts)) await confirmUnchanged(draft, parts)
}

async function confirmUnchanged(draft: ChangeDraft, parts: CommitParts): Promise<void> {
  const { live, write } = draft
  const latest = await latestRevision(`${write.target.keyPrefix}${write.name}`, write.request, parts)
  draft.outcome = latest === live.entry.revision ? unchanged(live, write.target, parts) : { kind: 'again' }
}

/** The outcome of a write that changes nothing. */
export function unchanged(live: Live, target: Target, parts: ConversionParts): Written {
  return { kind: 'unchanged', ...shownOf(live, target, parts), uid: live.object.metadata.uid ?? '' }
}

/** An apply may have spelled a value otherwise, such as `1000m` for `1`: then the object is unchanged but for its owners' times. */
function differsInTimesOnly(draft: ChangeDraft, preview: Uint8Array, parts: CommitParts): boolean {
  const { write, live, object, hasBigIntegers } = draft
  const { metadata } = object
  const { value } = live.entry
  // Times are all of one length.
  if (preview.length !== value.length || metadata.managedFields === undefined) return false
  if (write.target.served.isStoredVersion && !isSame(withoutOwners(object), withoutOwners(live.object))) return false
  if (!endsDifferingInTime(preview, value)) return false
  const { managedFields = [] } = live.object.metadata
  if (!sameOwners(metadata.managedFields, managedFields)) return false
  // A conversion by a webhook leaves the owners unchanged, and need not be repeated.
  const converted = needsEncoding(draft) ? draft.encoding?.stored : undefined
  const former = converted ?? object
  const withFormerTimes = { ...former, metadata: { ...former.metadata, managedFields } }
  const encoding = converted === undefined ? undefined : encodeStored(write.target, { object: withFormerTimes, hasBigIntegers })
  const withTimes = previewChange({ write, live, hasBigIntegers, object: withFormerTimes, encoding }, parts)
  return Buffer.compare(withTimes, value) === 0
}

/** All that bytes of the same length may still differ in. */
function withoutOwners({ metadata, ...rest }: ApiObject): object {
  const { managedFields: _managedFields, resourceVersion: _resourceVersion, ...own } = metadata
  return { ...rest, metadata: own }
}

/** True if the last byte in which two texts differ is one of a time; most changes end at another place, and need no closer look. */
function endsDifferingInTime(left: Uint8Array, right: Uint8Array): boolean {
  let last = left.length - 1
  while (last >= 0 && left[last] === right[last]) last--
  const label = '"time":"'
  const before = Buffer.from(left.subarray(Math.max(0, last - label.length - timeLength), Math.max(0, last))).toString('latin1')
  return before.includes(label)
}

/** Characters of a time such as `2006-01-02T15:04:05Z`. */
const timeLength = 20
