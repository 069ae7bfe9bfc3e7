import { fc } from '@orch/testkit/chance'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import { createAttempts } from './client.ts'
import { sayFailure, toFailure, toStatusError } from './errors.ts'
import { isReliableVersion } from './etcd-store.ts'
import { endOfPrefix, frameValue, toLayout, unframeValue } from './layout.ts'
import { ChangeRevisions } from './timeline.ts'

test.each([
  ['3.4.23', false],
  ['3.4.30', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.6.0', true],
  ['3.3.99', false],
  ['3.10.0', true],
  ['2.9.99', false],
  ['4.0.0', true],
  ['13.0.0', true],
  ['etcd 3.5.13', false],
  ['', false],
])('etcd %s reports its revision reliably: %s', (version, isReliable) => {
  expect(isReliableVersion(version)).toBe(isReliable)
})

test.each([
  ['14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1', 'unsent', 503],
  ['14 UNAVAILABLE: etcdserver: no leader', 'unanswered', 503],
  ['14 UNAVAILABLE: etcdserver: leader changed', 'unanswered', 503],
  ['8 RESOURCE_EXHAUSTED: etcdserver: too many requests', 'unsent', 503],
  ['14 UNAVAILABLE: etcdserver: request timed out', 'unanswered', 503],
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 8s', 'late', 504],
  ['11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted', 'compacted', 410],
  ['3 INVALID_ARGUMENT: etcdserver: request is too large', 'tooLarge', 500],
  ['8 RESOURCE_EXHAUSTED: grpc: received message larger than max (5000000 vs. 2097152)', 'tooLarge', 500],
  ['8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded', 'full', 503],
  ['3 INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password', 'denied', 503],
  ['7 PERMISSION_DENIED: etcdserver: permission denied', 'denied', 503],
  ['7 PERMISSION_DENIED: no', 'denied', 503],
  ['16 UNAUTHENTICATED: no', 'denied', 503],
  ['2 UNKNOWN: no', 'unanswered', 503],
  ['9 FAILED_PRECONDITION: no', 'other', 503],
  ['no: 14 UNAVAILABLE: no', 'other', 503],
])('%s is %s and answered with %d', (message, failure, code) => {
  const error = new Error(message)
  expect({ failure: toFailure(error), code: toStatusError(error).code }).toEqual({ failure, code })
})

test.each(['14 UNAVAILABLE: no', '4 DEADLINE_EXCEEDED: no', '3 INVALID_ARGUMENT: etcdserver: request is too large'])(
  'the Status for %s keeps its cause',
  (message) => {
    const error = new Error(message)
    expect(toStatusError(error).cause).toBe(error)
  },
)

test('a Status is passed on unchanged, and a temporary failure has a retry time', () => {
  const status = toStatusError(new Error('14 UNAVAILABLE: no'))
  expect(toStatusError(status)).toBe(status)
  expect(status.status.details?.retryAfterSeconds).toBe(limits.unavailableRetrySeconds)
})

test.each([
  ['14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 10.1.2.3:2379', 'no connection (ECONNREFUSED)'],
  ['14 UNAVAILABLE: Name resolution failed for target dns:etcd:2379', 'no connection (the address is not known)'],
  ['14 UNAVAILABLE: Channel closed before call started', 'no connection'],
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 8.003s,metadata filters: 0.001s,remote_addr=10.1.2.3:2379', 'no answer in time'],
  ['8 RESOURCE_EXHAUSTED: etcdserver: too many requests', 'etcdserver: too many requests'],
  ['13 INTERNAL: one 14 UNAVAILABLE: two\nthree', 'one 14 UNAVAILABLE: two'],
  ['one 14 UNAVAILABLE: two', 'one 14 UNAVAILABLE: two'],
])('%s is reported without addresses, as %s', (message, told) => {
  expect(sayFailure(new Error(message))).toBe(told)
})

test.each([
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 3s', false, [true, false, false]],
  ['4 DEADLINE_EXCEEDED: Deadline exceeded after 3s', true, [true, true, false]],
  ['14 UNAVAILABLE: etcdserver: leader changed', true, [true, true, true]],
  ['3 INVALID_ARGUMENT: etcdserver: request is too large', true, [false, false, false]],
])('%s (may have been written: %s) is retried after 7, 9 and 21 seconds: %j', async (message, mayHaveHappened, expected) => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  const attempts = createAttempts()
  const again: boolean[] = []
  for (const ms of [7_000, 9_000, 21_000]) {
    clock.mockReturnValue(ms)
    again.push(await attempts.isAgain(new Error(message), mayHaveHappened))
  }
  expect(again).toEqual(expected)
})

test('a framed value is unpacked to its write id and bytes', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ maxLength: 60, unit: 'grapheme' }), fc.uint8Array(), (key, writeId, value) => {
      fc.pre(Buffer.byteLength(writeId) <= 250)
      const read = unframeValue(key, frameValue({ key, writeId, value }))
      expect([read.writeId, Buffer.from(read.value)]).toEqual([writeId, Buffer.from(value)])
    }),
  )
})

test('the end of a prefix is after all its keys, and before all later ones', () => {
  expect(endOfPrefix('/a/').toString()).toBe('/a0')
})

test('slashes around a prefix are ignored, and an empty prefix is refused', () => {
  expect(toLayout('/registry/').keys).toBe('/registry/keys/')
  expect(() => toLayout('/')).toThrow('must not be empty')
})

describe('the revisions of changes', () => {
  test('are searched by the last change at or before a revision, down to the first known change', () => {
    const chain = new ChangeRevisions(10)
    for (const revision of [12, 15, 20]) chain.push(revision)
    expect([9, 10, 11, 12, 14, 19, 25].map((revision) => chain.atOrBefore(revision))).toEqual([undefined, 10, 10, 12, 12, 15, 20])
    expect(chain.last).toBe(20)
  })
})
