import { type StoreCommit, UnknownOutcomeError } from '@orch/core/contracts'
import { badRequest, type Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { createAttempts, type EtcdClient } from './client.ts'
import { sayFailure, toFailure, toStatusError } from './errors.ts'
import { frameDeletion, frameValue, type Layout } from './layout.ts'
import type { Transaction, TransactionAnswer } from './wire.ts'

/** etcd's answer to a commit. `mayHaveHappened` is true if an earlier attempt got no answer. */
export type TxnOutcome =
  | { readonly kind: 'written'; readonly revision: Revision }
  | { readonly kind: 'refused'; readonly revisions: TxnRevisions; readonly at: Revision; readonly mayHaveHappened: boolean }
  | { readonly kind: 'late' }

/** Revisions of the keys of a refused commit; 0 for an absent key. */
interface TxnRevisions {
  readonly epoch: Revision
  readonly deletion: Revision
  readonly key: Revision
  readonly conditions: readonly Revision[]
}

/** A commit as one transaction: it writes a key if its conditions hold, otherwise it reads the current state. */
export function toTransaction(layout: Layout, epochRevision: Revision, commit: StoreCommit): Transaction {
  const { key, expected, conditions, value, writeId } = commit
  const conditional = conditions.map(({ key: name, revision }) => ({ key: Buffer.from(layout.keys + name), revision }))
  const target = Buffer.from(layout.keys + key)
  const guarded = [{ key: target, revision: expected }, ...conditional]
  const epoch = Buffer.from(layout.epoch)
  const deletion = Buffer.from(layout.deletion)
  return {
    guards: [{ key: epoch, revision: epochRevision }, ...guarded],
    puts: [
      value === undefined
        ? { key: deletion, value: frameDeletion(key, writeId) }
        : { key: target, value: frameValue({ key, writeId, value }) },
    ],
    removes: value === undefined ? [target] : [],
    looks: [epoch, deletion, ...guarded.map(({ key: name }) => name)],
  }
}

/**
 * Sends a commit, and sends it again if the answer is lost. It cannot be written twice, because it requires an unchanged key. Throws an
 * UnknownOutcomeError if the outcome remains unknown.
 */
export async function sendCommit(client: EtcdClient, transaction: Transaction, { isLate }: StoreCommit): Promise<TxnOutcome> {
  const attempts = createAttempts()
  let mayHaveHappened = false
  for (;;) {
    if (!mayHaveHappened && isLate?.()) return { kind: 'late' }
    try {
      return toOutcome(await client.transact(transaction), mayHaveHappened)
    } catch (error) {
      const failure = toFailure(error)
      mayHaveHappened ||= failure === 'unanswered' || failure === 'late'
      if (await attempts.isAgain(error, mayHaveHappened)) continue
      throw mayHaveHappened ? unknownOutcome(sayFailure(error), error) : toStatusError(error)
    }
  }
}

/** 504: the commit may or may not have been written. */
export function unknownOutcome(why: string, cause?: unknown): UnknownOutcomeError {
  const message = `Timeout: it is not known whether the object was written: ${why}`
  return new UnknownOutcomeError(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Timeout', code: 504 },
    { cause },
  )
}

/** Refuses a key that is too long. */
export function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key)
  if (bytes > limits.keyBytesMax)
    throw badRequest(`the name is too long: its key has ${bytes} bytes, at most ${limits.keyBytesMax} are possible`)
}

function toOutcome({ succeeded, revision, looks }: TransactionAnswer, mayHaveHappened: boolean): TxnOutcome {
  if (succeeded) return { kind: 'written', revision }
  const [epoch = 0, deletion = 0, key = 0, ...conditions] = looks
  return { kind: 'refused', revisions: { epoch, deletion, key, conditions }, at: revision, mayHaveHappened }
}
