import { expect, test } from 'vitest'
import { findRolloutFaults, type RolloutPod, type RoundResult } from './rollouts.ts'

const podOf = (name: string, owner: string, { phase = 'Running', image = 'img:2', isDeleted = false } = {}): RolloutPod => {
  const [kind = '', of = ''] = owner.split('/')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ownerReferences: [{ apiVersion: 'v1', kind, name: of, uid: of, controller: true }],
    },
    spec: { containers: [{ image }] },
    status: { phase },
  }
}
const added = (object: RolloutPod) => ({ type: 'ADDED', object })
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => podOf(name, 'ReplicaSet/web')) as [RolloutPod, RolloutPod, RolloutPod, RolloutPod]
const done = podOf('j', 'Job/once', { phase: 'Succeeded' })

const good: RoundResult = {
  before: [],
  changes: [added(a), added(b), added(podOf('j', 'Job/once', { phase: 'Pending' })), added(done)],
  after: [a, b, done],
  owners: ['ReplicaSet/web', 'Job/once'],
  deployment: { replicas: 2, maxSurge: 0, image: 'img:2' },
  job: { name: 'once', completions: 1, succeeded: 1 },
}

test('a round without faults has no violations', () => {
  expect(findRolloutFaults(good)).toEqual([])
})

test.each<[fault: string, round: Partial<RoundResult>]>([
  ['4 Pods at a time, 2 are allowed', { changes: [...good.changes, added(c), added(d)] }],
  ['1 Pods are left of 2', { after: [a, done] }],
  ['c has img:1, not img:2', { after: [a, podOf('c', 'ReplicaSet/web', { image: 'img:1' }), done] }],
  ['o is an orphan of ReplicaSet/gone', { after: [a, b, done, podOf('o', 'ReplicaSet/gone', { isDeleted: true })] }],
  ['the Job counts 1 Pods, 2 have succeeded', { changes: [...good.changes, added(podOf('k', 'Job/once', { phase: 'Succeeded' }))] }],
  [
    'the Job counts 1 Pods of 2',
    {
      job: { name: 'once', completions: 2, succeeded: 1 },
    },
  ],
])('a planted fault is found: %s', (fault, round) => {
  expect(findRolloutFaults({ ...good, ...round })).toEqual([fault])
})

test('a Pod that is deleted or finished is no longer counted', () => {
  const gone = podOf('a', 'ReplicaSet/web', { isDeleted: true })
  expect(
    findRolloutFaults({ ...good, changes: [added(a), added(b), added(gone), added(c), added(gone), added(done)], after: [b, c, done] }),
  ).toEqual([])
})
