import { expect, test } from 'vitest'
import { decideReplicas, type ReplicasObserved } from './replicas.ts'
import { aPod, costAnnotation, type PodWords } from './testing/pod-testing.ts'

const nowMs = Date.UTC(2026, 0, 1)
const now = '2026-01-01T00:00:00Z'
const labels = { app: 'web' }

/** A ReplicaSet with two desired replicas, and Pods given by a few words: by default it controls them and their labels match. */
function observed(pods: Readonly<Record<string, PodWords>>, differing: Partial<ReplicasObserved> = {}): ReplicasObserved {
  return {
    owner: { uid: 'u', generation: 3 },
    selector: [{ key: 'app', operator: 'In', values: ['web'] }],
    replicas: 2,
    minReadySeconds: 0,
    templateLabels: { ...labels, tier: 'front' },
    conditions: [],
    pods: Object.entries(pods).map(([name, words]) => aPod({ name, labels, controller: 'u', ...words }, nowMs)),
    related: () => [],
    costAnnotation,
    isPending: false,
    hasTerminatingReplicas: false,
    ...differing,
  }
}

/** The step as text: `adopt a, create 1`. */
function stepOf(of: ReplicasObserved): string {
  const { adopted, released, createCount, deleted } = decideReplicas(of, nowMs)
  const words = [
    ...adopted.map(({ metadata }) => `adopt ${metadata.name}`),
    ...released.map(({ metadata }) => `release ${metadata.name}`),
    ...(createCount > 0 ? [`create ${createCount}`] : []),
    ...deleted.map(({ metadata }) => `delete ${metadata.name}`),
  ]
  return words.join(', ')
}

const unowned: PodWords = { controller: undefined }
const otherLabels = { labels: { app: 'other' } }
const isDeleted = { owner: { uid: 'u', deletionTimestamp: now } }

test.each<[id: string, what: string, of: ReplicasObserved, step: string]>([
  ['WL-RS-02', 'no Pods', observed({}), 'create 2'],
  ['WL-RS-02', 'as many Pods as it wants', observed({ a: {}, b: {} }), ''],
  ['WL-RS-02', 'one Pod too many', observed({ a: { phase: 'Pending' }, b: {}, c: {} }), 'delete a'],
  ['WL-RS-02', 'Pods and no wish for one', observed({ a: {}, b: {} }, { replicas: 0 }), 'delete a, delete b'],
  ['WL-RS-02, WL-COMMON-24', 'a wish for a thousand', observed({}, { replicas: 1_000 }), 'create 500'],
  [
    'WL-RS-03',
    'a failed, a finished and a deleted Pod',
    observed({ a: { phase: 'Failed' }, b: { phase: 'Succeeded' }, c: { isDeleted: true } }),
    'create 2',
  ],
  ['WL-RS-13', 'a Pod whose labels do not match any more', observed({ a: otherLabels, b: {} }), 'release a, create 1'],
  ['WL-RS-14', 'Pods without a controller', observed({ a: unowned, b: unowned }), 'adopt a, adopt b'],
  [
    'WL-RS-14',
    'a Pod without a controller beyond its wish',
    observed({ a: {}, b: {}, c: { ...unowned, phase: 'Pending' } }),
    'adopt c, delete c',
  ],
  [
    'WL-COMMON-16',
    'Pods without a controller that do not match or are being deleted',
    observed({ a: { ...unowned, ...otherLabels }, b: { ...unowned, isDeleted: true } }),
    'create 2',
  ],
  ['WL-COMMON-18', 'a matching Pod of another controller', observed({ a: { controller: 'v' } }), 'create 2'],
  ['WL-COMMON-21', 'creations that are not visible yet', observed({ a: {} }, { isPending: true }), ''],
  ['WL-RS-15', 'a deletion of its own', observed({ a: {}, b: unowned, c: otherLabels }, isDeleted), ''],
])('%s: with %s the step is as expected', (_id, _what, of, step) => {
  expect(stepOf(of)).toBe(step)
})

const failed = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedCreate',
  message: 'before',
  lastTransitionTime: '2025-01-01T00:00:00Z',
}
const other = { type: 'Other', status: 'True' }

test.each<[id: string, what: string, of: ReplicasObserved, failure: string | undefined, status: object]>([
  ['WL-RS-11', 'no Pods', observed({}), undefined, { replicas: 0, observedGeneration: 3 }],
  [
    'WL-RS-08',
    'a ready Pod with all labels, and one that is neither',
    observed({ a: { readySeconds: 5, labels: { ...labels, tier: 'front' } }, b: {} }),
    undefined,
    { replicas: 2, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 3 },
  ],
  [
    'WL-COMMON-31',
    'Pods that are ready for 9, 10 and an unknown number of seconds, of 10',
    observed({ a: { readySeconds: 9 }, b: { readySeconds: 10 }, c: { isReady: true } }, { replicas: 3, minReadySeconds: 10 }),
    undefined,
    { replicas: 3, readyReplicas: 3, availableReplicas: 1, observedGeneration: 3 },
  ],
  [
    'WL-RS-09',
    'a Pod that is being deleted, at a level that counts them',
    observed({ a: {}, b: { isDeleted: true }, c: { isDeleted: true, phase: 'Failed' } }, { hasTerminatingReplicas: true }),
    undefined,
    { replicas: 1, terminatingReplicas: 1, observedGeneration: 3 },
  ],
  [
    'WL-RS-10',
    'a creation that failed',
    observed({ a: {} }, { conditions: [other] }),
    'no room',
    {
      replicas: 1,
      observedGeneration: 3,
      conditions: [other, { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no room', lastTransitionTime: now }],
    },
  ],
  [
    'WL-RS-10',
    'a second failure',
    observed({}, { conditions: [failed] }),
    'no room',
    { replicas: 0, observedGeneration: 3, conditions: [failed] },
  ],
  [
    'WL-RS-10',
    'a failure that is over',
    observed({}, { conditions: [failed, other] }),
    undefined,
    { replicas: 0, observedGeneration: 3, conditions: [other] },
  ],
])('%s: with %s the status is as expected', (_id, _what, of, failure, status) => {
  expect(decideReplicas(of, nowMs).statusAfter(failure)).toEqual(status)
})

test('WL-RS-10: a failed deletion has its own reason', () => {
  const { conditions } = decideReplicas(observed({ a: {}, b: {}, c: {} }), nowMs).statusAfter('refused')
  expect(conditions).toMatchObject([{ reason: 'FailedDelete', message: 'refused' }])
})

test.each<[what: string, of: ReplicasObserved, waitMs: number | undefined]>([
  ['no ready Pod', observed({ a: {} }, { minReadySeconds: 10 }), undefined],
  [
    'Pods that have been ready for 4 and 7 seconds',
    observed({ a: { readySeconds: 4 }, b: { readySeconds: 7 } }, { minReadySeconds: 10 }),
    3_000,
  ],
  ['an available Pod', observed({ a: { readySeconds: 10 } }, { minReadySeconds: 10 }), undefined],
  ['no wait for readiness', observed({ a: { readySeconds: 0 } }), undefined],
])('WL-COMMON-32: with %s the next pass is when a Pod becomes available', (_what, of, waitMs) => {
  expect(decideReplicas(of, nowMs).waitMs).toBe(waitMs)
})
