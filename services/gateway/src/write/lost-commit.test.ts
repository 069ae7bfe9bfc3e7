import { type CallContext, type CommitOutcome, type CommitRequest, type Entry, UnknownOutcomeError } from '@orch/core/contracts'
import { timeout } from '@orch/core/meta'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request/request.ts'
import { findLostCommit } from './lost-commit.ts'

const late = new UnknownOutcomeError(timeout('a service has not answered in time').status)
const broken = new Error('the connection has broken')

/** An object's past, newest first: revisions and the ids of their writes. */
type Past = readonly (readonly [revision: number, writeId: string])[]

interface Around {
  readonly past: Past
  /** The outcome of a repeated commit; undefined if none may be sent. */
  readonly again?: () => Promise<CommitOutcome>
  readonly cause?: unknown
  readonly deadlineMs?: number
}

const update: CommitRequest = { key: 'k', expected: 5, conditions: [], value: new Uint8Array(1), writeId: 'mine' }
const removal: CommitRequest = { key: 'k', expected: 5, conditions: [], writeId: 'mine' }
const creation: CommitRequest = { ...update, expected: 0 }

/** The outcome of a commit, and the requests to storage meanwhile. The clock moves when it is waited for. */
async function found(commit: CommitRequest, { past, again, cause = late, deadlineMs = 60_000 }: Around) {
  const clock = createFakeClock()
  const asked: string[] = []
  const timeouts: (number | undefined)[] = []
  const sent: CommitRequest[] = []
  const at = (revision: number): Entry | undefined => {
    const [known, writeId] = past.find(([one]) => one <= revision) ?? []
    if (known === undefined || writeId === undefined) return undefined
    return { key: 'k', revision: known, value: new Uint8Array(0), metadataStart: 0, metadataEnd: 0, writeId }
  }
  const answer = (entry: Entry | undefined) => ({ revision: 100, epoch: 'e', ...(entry === undefined ? {} : { entry }) })
  const storage = {
    async get({ key, read }: { key: string; read: { kind: string } }, { timeoutMs }: CallContext = {}) {
      expect(key).toBe('k')
      asked.push(read.kind)
      timeouts.push(timeoutMs)
      return answer(at(Number.POSITIVE_INFINITY))
    },
    async getAt({ revision }: { revision: number }) {
      asked.push(`@${revision}`)
      return answer(at(revision))
    },
    async commit(request: CommitRequest) {
      sent.push(request)
      if (again === undefined) throw new Error('no commit was expected')
      return again()
    },
  }
  const parts = { storage, clock, log: silentLog }
  const request = { deadlineMs, auditId: 'a' } as unknown as GatewayRequest
  let isOver = false
  const outcome = findLostCommit(commit, request, parts, cause)
    .then(
      (learnt) => learnt,
      (error: unknown) => (error instanceof UnknownOutcomeError && error.cause === cause ? 'unknown' : error),
    )
    .finally(() => {
      isOver = true
    })
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    if (clock.pendingTimers > 0) clock.advance(limits.lostReplyPauseMs)
  }
  return { outcome: await outcome, asked, timeouts, sent, tookMs: clock.monotonic() }
}

test.each<[string, CommitRequest, Past, unknown, string[]]>([
  ['has its id is written', update, [[7, 'mine']], { kind: 'written', revision: 7 }, ['latest']],
  [
    'is behind another write is found in the past',
    update,
    [
      [9, 'other'],
      [7, 'mine'],
    ],
    { kind: 'written', revision: 7 },
    ['latest', '@8'],
  ],
  [
    'is not in the past before which the expected state stands was overtaken',
    update,
    [
      [9, 'other'],
      [5, 'before'],
    ],
    { kind: 'stale' },
    ['latest', '@8'],
  ],
])('STORE-05: a commit that %s', async (_what, commit, past, outcome, asked) => {
  expect(await found(commit, { past })).toMatchObject({ outcome, asked })
})

test.each<[string, Past]>([
  ['is absent', []],
  ['has been created again', [[9, 'other']]],
])('STORE-05: the outcome of a delete whose key %s is written if storage knows its id, and otherwise unknown', async (_what, past) => {
  const written = await found(removal, { past, again: async () => ({ kind: 'written', revision: 6 }) })
  expect(written).toMatchObject({ outcome: { kind: 'written', revision: 6 }, sent: [removal] })
  const stale = await found(removal, { past, again: async () => ({ kind: 'stale' }) })
  expect(stale.outcome).toBe('unknown')
})

test.each<[string, CommitRequest, Past]>([
  ['an update whose key is gone', update, []],
  ['a create whose key is absent', creation, []],
  ['an update whose past does not reach the state that it expected', update, [[9, 'other']]],
  [
    'an update whose past passes the state that it expected',
    update,
    [
      [9, 'other'],
      [4, 'before'],
    ],
  ],
  ['an update of a key that is older than what it expected', update, [[4, 'before']]],
])('STORE-05: the outcome of %s is unknown, and it is not sent again', async (_what, commit, past) => {
  const { outcome, sent } = await found(commit, { past })
  expect({ outcome, sent }).toEqual({ outcome: 'unknown', sent: [] })
})

test('STORE-05: an update with an unchanged key is sent again unchanged, until it is written', async () => {
  const answers: CommitOutcome[] = [{ kind: 'stale' }, { kind: 'unmet', index: 0 }, { kind: 'written', revision: 8 }]
  const { outcome, sent } = await found(update, {
    past: [[5, 'before']],
    again: async () => answers.shift() ?? { kind: 'stale' },
  })
  expect(outcome).toEqual({ kind: 'written', revision: 8 })
  expect(sent).toEqual([update, update, update])
})

test('STORE-05: a repeated commit that fails leaves the outcome unknown, and is sent again', async () => {
  let count = 0
  const again = async (): Promise<CommitOutcome> => {
    count += 1
    if (count < 3) throw broken
    return { kind: 'written', revision: 8 }
  }
  expect((await found(update, { past: [[5, 'before']], again })).outcome).toEqual({ kind: 'written', revision: 8 })
  expect(count).toBe(3)
})

test('STORE-05: the past of an object is searched for a bounded number of steps', async () => {
  const newest = 5 + 2 * limits.lostReplyStepsMax
  /** Other writes, newest first, and then the one that is looked for. */
  const behind = (others: number): Past => [
    ...Array.from({ length: others }, (_, index) => [newest - index, 'other'] as const),
    [newest - others, 'mine'],
  ]
  const reached = await found(update, { past: behind(limits.lostReplyStepsMax - 1), deadlineMs: 1 })
  expect(reached.outcome).toEqual({ kind: 'written', revision: newest - limits.lostReplyStepsMax + 1 })
  const missed = await found(update, { past: behind(limits.lostReplyStepsMax), deadlineMs: 1 })
  expect(missed.outcome).toBe('unknown')
  expect(missed.asked).toHaveLength(1 + limits.lostReplyStepsMax)
})

test.each<[string, CommitRequest, unknown, number]>([
  ['an update', update, broken, limits.lostReplyMs],
  ['a create that had no answer in time', creation, late, limits.lateCreateMs],
  ['a create whose connection broke', creation, broken, limits.lostCreateMs],
  [
    'a create of which another service says that its outcome is unknown',
    creation,
    new UnknownOutcomeError({ ...late.status, code: 503 }),
    limits.lostCreateMs,
  ],
])('STORE-05: the gateway searches for %s as long as storage may take to write it', async (_what, commit, cause, patienceMs) => {
  const { tookMs, timeouts } = await found(commit, { past: [], cause })
  expect(tookMs).toBe(patienceMs - limits.lostReplyPauseMs)
  const looks = patienceMs / limits.lostReplyPauseMs
  expect(timeouts).toEqual(Array.from({ length: looks }, (_, index) => patienceMs - index * limits.lostReplyPauseMs))
})

test('STORE-05: the gateway searches for a commit no longer than the time limit of the request', async () => {
  expect(await found(update, { past: [], deadlineMs: 100 })).toMatchObject({ outcome: 'unknown', tookMs: 50, timeouts: [100, 50] })
  expect(await found(update, { past: [], deadlineMs: 0 })).toMatchObject({ outcome: 'unknown', tookMs: 0, timeouts: [0] })
})
