import { badRequest, type Revision, type StoreCommit, UnknownOutcomeError } from '@orch/core'
import type { Etcd3, IResponseOp, ITxnRequest, ITxnResponse } from 'etcd3'
import { keyBytesMax } from '../limits.ts'
import { createAttempts } from './client.ts'
import { sayFailure, toFailure, toStatusError } from './errors.ts'
import { frameValue, type Layout } from './layout.ts'

/** What etcd said to a commit. `mayHaveHappened`: an earlier attempt got no answer. */
export type TxnOutcome =
  | { readonly kind: 'written'; readonly revision: Revision }
  | { readonly kind: 'refused'; readonly revisions: TxnRevisions; readonly at: Revision; readonly mayHaveHappened: boolean }
  | { readonly kind: 'late' }

/** At which revisions the keys of a refused commit were; 0: absent. */
export interface TxnRevisions {
  readonly epoch: Revision
  readonly deletion: Revision
  readonly key: Revision
  readonly conditions: readonly Revision[]
}

/** A commit as one transaction: it writes one key where all stands as expected, and else says how it stands. */
export function toTxn(layout: Layout, epochRevision: Revision, commit: StoreCommit): ITxnRequest {
  const { key, expected, conditions, value, writeId } = commit
  const guarded = [{ key, revision: expected }, ...conditions].map(({ key: name, revision }) => ({ name: layout.keys + name, revision }))
  const all = [{ name: layout.epoch, revision: epochRevision }, ...guarded]
  const target = Buffer.from(layout.keys + key)
  const looks = [layout.epoch, layout.deletion, ...guarded.map(({ name }) => name)]
  return {
    compare: all.map(({ name, revision }) => ({
      key: Buffer.from(name),
      target: 'Mod',
      result: 'Equal',
      mod_revision: String(revision),
    })),
    success:
      value === undefined
        ? [{ request_put: { key: Buffer.from(layout.deletion), value: Buffer.from(writeId) } }, { request_delete_range: { key: target } }]
        : [{ request_put: { key: target, value: frameValue(writeId, value) } }],
    failure: looks.map((name) => ({ request_range: { key: Buffer.from(name), keys_only: true } })),
  }
}

/**
 * Sends a commit. Where no answer came it is sent again: it can be written once only, since it expects the key as it was.
 * An outcome that stays unknown is an `UnknownOutcomeError`.
 */
export async function sendCommit(client: Etcd3, txn: ITxnRequest, { isLate }: StoreCommit): Promise<TxnOutcome> {
  const attempts = createAttempts()
  let mayHaveHappened = false
  for (;;) {
    if (!mayHaveHappened && isLate?.()) return { kind: 'late' }
    try {
      return toOutcome(await client.kv.txn(txn), mayHaveHappened)
    } catch (error) {
      const failure = toFailure(error)
      mayHaveHappened ||= failure === 'unanswered' || failure === 'late'
      if (await attempts.isAgain(error)) continue
      throw mayHaveHappened ? unknownOutcome(sayFailure(error), error) : toStatusError(error)
    }
  }
}

/** 504: a commit may have been written or not. */
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
  if (bytes > keyBytesMax) throw badRequest(`the name is too long: its key has ${bytes} bytes, at most ${keyBytesMax} are possible`)
}

function toOutcome({ succeeded, header, responses }: ITxnResponse, mayHaveHappened: boolean): TxnOutcome {
  const at = Number(header.revision)
  if (succeeded) return { kind: 'written', revision: at }
  const [epoch = 0, deletion = 0, key = 0, ...conditions] = responses.map(revisionOf)
  return { kind: 'refused', revisions: { epoch, deletion, key, conditions }, at, mayHaveHappened }
}

function revisionOf({ response_range: range }: IResponseOp): Revision {
  return Number(range?.kvs[0]?.mod_revision ?? 0)
}
