import { expect, test } from 'vitest'
import { type Candidate, decideElection, isGone, type Lease } from './election.ts'

const now = Date.parse('2026-01-01T12:00:00Z')
const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString().replace('Z', '000Z')

/** A candidate that has renewed now, with these versions. */
function aCandidate(name: string, spec: Partial<Candidate['spec']> = {}, created = -60): Candidate {
  return {
    apiVersion: 'coordination.k8s.io/v1beta1',
    kind: 'LeaseCandidate',
    metadata: { name, namespace: 'n', creationTimestamp: at(created) },
    spec: {
      leaseName: 'l',
      binaryVersion: '1.37.0',
      emulationVersion: '1.37.0',
      strategy: 'OldestEmulationVersion',
      pingTime: at(-1),
      renewTime: at(0),
      ...spec,
    },
  }
}

const aLease = (spec: Lease['spec']): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l', namespace: 'n' },
  spec: { strategy: 'OldestEmulationVersion', leaseDurationSeconds: 5, renewTime: at(0), ...spec },
})

const stepOf = (candidates: readonly Candidate[], lease?: Lease) => decideElection(lease, candidates, now)

test('a new candidate is asked, and the election waits for its answer', () => {
  const silent = aCandidate('a', { pingTime: undefined, renewTime: at(-60) })
  expect(stepOf([silent])).toEqual({ kind: 'ask', candidates: [silent] })
  expect(stepOf([aCandidate('a', { pingTime: at(-1), renewTime: at(-60) })])).toEqual({ kind: 'wait' })
})

test('a lease without a holder gets the answering candidate that emulates the oldest version', () => {
  const candidates = [
    aCandidate('newer'),
    aCandidate('older', { emulationVersion: '1.36.0' }),
    aCandidate('silent', { emulationVersion: '1.35.0', pingTime: at(-6), renewTime: at(-60) }),
  ]
  const spec = { strategy: 'OldestEmulationVersion', leaseDurationSeconds: 5, renewTime: at(0), holderIdentity: 'older' }
  expect(stepOf(candidates)).toEqual({ kind: 'elect', spec })
})

test('among candidates with equal versions the oldest candidate is elected', () => {
  expect(stepOf([aCandidate('b', {}, -10), aCandidate('a', {}, -20)])).toMatchObject({ spec: { holderIdentity: 'a' } })
})

test('a candidate without an emulated version, as other strategies allow, is not elected', () => {
  const versionless = aCandidate('a', { strategy: 'example.com/mine', binaryVersion: '1.36.0', emulationVersion: undefined })
  expect(stepOf([versionless, aCandidate('b')])).toMatchObject({ spec: { holderIdentity: 'b' } })
})

test('the best candidate stays the holder, and a worse holder is asked to hand over', () => {
  const candidates = [aCandidate('a'), aCandidate('b', { emulationVersion: '1.36.0' })]
  expect(stepOf(candidates, aLease({ holderIdentity: 'b' }))).toEqual({ kind: 'wait' })
  expect(stepOf(candidates, aLease({ holderIdentity: 'a' }))).toMatchObject({
    kind: 'elect',
    spec: { holderIdentity: 'a', preferredHolder: 'b' },
  })
})

test('the holder of an expired lease is replaced at once', () => {
  const expired = aLease({ holderIdentity: 'gone', renewTime: at(-6), preferredHolder: 'a', acquireTime: at(-60) })
  const { spec } = stepOf([aCandidate('a')], expired) as { readonly spec: object }
  expect(spec).toEqual({ strategy: 'OldestEmulationVersion', leaseDurationSeconds: 5, renewTime: at(0), holderIdentity: 'a' })
})

test('a strategy of a third party makes a lease without a holder; candidates of one version with different strategies make no lease', () => {
  const foreign = aCandidate('a', { strategy: 'example.com/mine' })
  expect(stepOf([foreign])).toEqual({
    kind: 'elect',
    spec: { strategy: 'example.com/mine', leaseDurationSeconds: 5, renewTime: at(0) },
  })
  expect(stepOf([foreign, aCandidate('b')])).toEqual({ kind: 'stop' })
  expect(stepOf([foreign, aCandidate('b', { binaryVersion: '1.38.0' })])).toMatchObject({ spec: { holderIdentity: 'a' } })
})

test('a candidate that has not renewed for half an hour is gone', () => {
  expect([-1_799, -1_801].map((seconds) => isGone(aCandidate('a', { renewTime: at(seconds) }), now))).toEqual([false, true])
  expect(stepOf([aCandidate('a', { renewTime: at(-1_801) })])).toEqual({ kind: 'stop' })
})
