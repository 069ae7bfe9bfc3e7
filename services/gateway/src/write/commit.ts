import { randomUUID } from 'node:crypto'
import { withoutEmptyLists } from '@orch/core/catalogue'
import { type CommitOutcome, type CommitRequest, UnknownOutcomeError } from '@orch/core/contracts'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { type EncodedObject, encodeExactly, encodeStoredObject, fillRevision, toWriteId } from '@orch/core/stored'
import { callContext } from '../call-context.ts'
import { type ConversionParts, toStoredObject } from '../convert.ts'
import type { GatewayRequest } from '../request.ts'
import type { Served } from '../served.ts'
import { findLostCommit, type LostCommitParts } from './lost-commit.ts'

/** What a commit needs. */
export type CommitParts = LostCommitParts &
  ConversionParts & {
    /** Expiry of Events; undefined: they are kept. */
    readonly eventTtlMs: number | undefined
  }

/** What else must hold when a commit is made. */
export type Condition = CommitRequest['conditions'][number]

/** An object that is ready to be stored. */
export interface ObjectWrite {
  readonly served: Served
  /** In the version of the request. */
  readonly object: ApiObject
  readonly hasBigIntegers: boolean
  readonly key: string
  /** Revision that it replaces; 0: it is new. */
  readonly expected: number
  readonly conditions: readonly Condition[]
}

export type ObjectOutcome =
  | { readonly kind: 'written'; readonly json: Uint8Array; readonly revision: number }
  | { readonly kind: 'stale' }
  | { readonly kind: 'unmet' }

/** An object in the stored version, and its JSON. */
export interface Encoding {
  readonly stored: ApiObject
  readonly encoded: EncodedObject
}

/** The object as it will be stored. */
export function encodeWrite(
  { served, object, hasBigIntegers }: Pick<ObjectWrite, 'served' | 'object' | 'hasBigIntegers'>,
  parts: ConversionParts,
): Encoding {
  const stored = withoutEmptyLists(served.resource.stored.type, toStoredObject(parts, served, object))
  return { stored, encoded: encodeExactly(stored, hasBigIntegers) }
}

/** Stores an object. The answer's bytes are those that readers will get. Throws at once where the object cannot be printed. */
export function commitObject(
  write: ObjectWrite,
  request: GatewayRequest,
  parts: CommitParts,
  { stored, encoded }: Encoding = encodeWrite(write, parts),
): Promise<ObjectOutcome> {
  const { served, key, expected, conditions } = write
  const writeId = newWriteId(request)
  const expiresAtMs = expiryOf(served, parts)
  const value = encodeStoredObject({ stored: served.resource.stored, object: stored, encoded, writeId, expiresAtMs })
  return commitEncoded({ key, expected, conditions, value, writeId }, encoded, request, parts)
}

/** Apart, as what an asynchronous function is called with is kept until it ends. */
async function commitEncoded(
  commit: CommitRequest,
  { json, hole }: EncodedObject,
  request: GatewayRequest,
  parts: CommitParts,
): Promise<ObjectOutcome> {
  const outcome = await commitSurely(commit, request, parts)
  return outcome.kind === 'written'
    ? { kind: 'written', json: fillRevision(json, hole, outcome.revision), revision: outcome.revision }
    : { kind: outcome.kind }
}

/** Removes an object. */
export async function commitRemoval(
  removal: Pick<ObjectWrite, 'key' | 'expected' | 'conditions'>,
  request: GatewayRequest,
  parts: CommitParts,
): Promise<CommitOutcome> {
  return commitSurely({ ...removal, writeId: newWriteId(request) }, request, parts)
}

function newWriteId({ trace }: GatewayRequest): string {
  return toWriteId(randomUUID(), trace?.span?.traceparent)
}

/** What the object would be served as; revision 0: without one, as nothing is stored. */
export function previewObject(
  write: Omit<ObjectWrite, 'key'>,
  parts: ConversionParts,
  revision: number,
  { encoded: { json, hole } }: Encoding = encodeWrite(write, parts),
): Uint8Array {
  return revision === 0 ? json : fillRevision(json, hole, revision)
}

/** Events are not kept for ever. */
function expiryOf({ resource }: Served, { eventTtlMs, clock }: CommitParts): number {
  return resource.stored.kind === 'Event' && eventTtlMs !== undefined ? clock.now() + eventTtlMs : 0
}

/** Commits once. When the answer is lost, it is found out what became of the commit. */
async function commitSurely(commit: CommitRequest, request: GatewayRequest, parts: CommitParts): Promise<CommitOutcome> {
  try {
    const outcome = await parts.storage.commit(commit, callContext(request, parts))
    if (outcome.kind === 'written') request.explanation?.stored(outcome.revision)
    return outcome
  } catch (error) {
    // A Status is an answer: storage has refused, and nothing was written. Unless it says that nobody knows.
    if (error instanceof StatusError && !(error instanceof UnknownOutcomeError)) throw error
    parts.log.warn({ err: error, key: commit.key }, 'the answer to a commit was lost')
    return findLostCommit(commit, request, parts, error)
  }
}
