import { type CallContext, type CommitOutcome, type CommitRequest, type StorageService, UnknownOutcomeError } from '@orch/core/contracts'
import { timeout } from '@orch/core/meta'
import { sleep } from '@orch/platform'
import { limits } from '../limits.ts'
import { type CallOrigin, originOf, remainingMs } from '../request/request.ts'
import type { Surroundings } from '../surroundings.ts'

/** The dependencies of looking for a lost commit. */
export interface LostCommitParts extends Pick<Surroundings, 'clock' | 'log'> {
  readonly storage: Pick<StorageService, 'get' | 'getAt' | 'commit'>
}

/** The trace of a commit in the object's past. */
type Trace =
  | { readonly kind: 'written'; readonly revision: number }
  /** The key has the revision that the commit expects: it has not been written, or not yet. Never said of a create. */
  | { readonly kind: 'open' }
  /** Another write has replaced the expected revision: it was not written, and never will be. */
  | { readonly kind: 'overtaken' }
  /** The past does not say. */
  | { readonly kind: 'unclear' }

/**
 * Finds the outcome of a commit whose answer was lost.
 *
 * The object's past shows whether it was written, by the id of the write. If it was not, an update and a delete are sent again,
 * with the same id: they expect a revision that the key has only once, so that one of all attempts is written at most. A
 * delete leaves no object with its id: if its key is absent, storage is asked by the same commit whether it was this one, since
 * another client's delete leaves the same. A create expects that the key is absent, which may be so again after a delete; it is
 * looked for, and not sent a second time.
 */
export async function findLostCommit(
  commit: CommitRequest,
  request: CallOrigin,
  parts: LostCommitParts,
  cause: unknown,
): Promise<CommitOutcome> {
  const { clock } = parts
  const undecided = new UnknownOutcomeError(timeout('it is not known whether the object was written').status, { cause })
  const giveUpMs = clock.monotonic() + Math.min(patience(commit, cause), remainingMs(request, parts))
  for (;;) {
    const context = { ...originOf(request), timeoutMs: Math.max(0, giveUpMs - clock.monotonic()) }
    const outcome = await learn(commit, context, parts).catch((error: unknown) => {
      parts.log.debug({ err: error, key: commit.key }, 'the outcome of a commit is not known yet')
      return undefined
    })
    if (outcome !== undefined) return outcome
    if (clock.monotonic() + limits.lostReplyPauseMs >= giveUpMs) throw undecided
    await sleep(clock, limits.lostReplyPauseMs)
  }
}

function patience({ expected }: CommitRequest, cause: unknown): number {
  if (expected !== 0) return limits.lostReplyMs
  return cause instanceof UnknownOutcomeError && cause.code === 504 ? limits.lateCreateMs : limits.lostCreateMs
}

/** Looks up the outcome once. Sends the commit again if it cannot be written twice. Undefined if the outcome remains unknown. */
async function learn(commit: CommitRequest, context: CallContext, parts: LostCommitParts): Promise<CommitOutcome | undefined> {
  const trace = await traceOf(commit, context, parts)
  switch (trace.kind) {
    case 'written':
      return trace
    case 'overtaken':
      return { kind: 'stale' }
    case 'unclear':
      return commit.value === undefined ? sendAgain(commit, context, parts) : undefined
    case 'open':
      return sendAgain(commit, context, parts)
  }
}

/** Storage remembers the ids of late writes, deletes included; no other write can have met the expected revision. */
async function sendAgain(commit: CommitRequest, context: CallContext, { storage }: LostCommitParts): Promise<CommitOutcome | undefined> {
  const outcome = await storage.commit(commit, context)
  // For any other outcome, the first attempt may have been the reason, or may still come.
  return outcome.kind === 'written' ? outcome : undefined
}

async function traceOf(commit: CommitRequest, context: CallContext, { storage }: LostCommitParts): Promise<Trace> {
  const { key, expected, writeId } = commit
  let { entry } = await storage.get({ key, read: { kind: 'latest' } }, context)
  // A create that finds its key absent may still come; a delete may have left nothing, or have come after another client's.
  if (entry === undefined) return { kind: 'unclear' }
  let steps = 0
  for (; steps < limits.lostReplyStepsMax && entry !== undefined && entry.revision > expected; steps++) {
    if (entry.writeId === writeId) return { kind: 'written', revision: entry.revision }
    entry = (await storage.getAt({ key, revision: entry.revision - 1 }, context)).entry
  }
  if (entry === undefined || entry.revision !== expected) return { kind: 'unclear' }
  return { kind: steps === 0 ? 'open' : 'overtaken' }
}
