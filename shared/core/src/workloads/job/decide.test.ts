import { expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import type { Pod } from '../pods.ts'
import { aPod, type PodWords } from '../testing/pod-testing.ts'
import { failureDelayMs, noFailures } from './backoff.ts'
import { decideJob } from './decide.ts'
import { type Job, jobNames } from './pods.ts'

const nowMs = Date.UTC(2026, 0, 1)
const names = jobNames(namesOf('kubernetes'))
const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000Z', 'Z')

interface JobPodWords extends PodWords {
  readonly index?: number
  readonly failures?: number
}

/** A Pod that is not counted yet. */
function aJobPod({ index, failures, ...words }: JobPodWords): Pod {
  const pod = aPod(words, nowMs)
  const annotations = {
    ...(index !== undefined && { [names.index]: `${index}` }),
    ...(failures !== undefined && { [names.failureCount]: `${failures}` }),
  }
  return { ...pod, metadata: { ...pod.metadata, finalizers: [names.finalizer], annotations } } as Pod
}

function decide(spec: object, pods: readonly JobPodWords[], { status = {}, level = 37 }: { status?: object; level?: number } = {}) {
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', uid: 'j' },
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed', ...spec },
    status: { startTime: ago(100), ...status },
  } as unknown as Job
  const observed = { job, pods: pods.map(aJobPod), isPending: false, untracked: new Set<string>(), backoff: noFailures, names, level }
  return decideJob(observed, nowMs)
}

const namesIn = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name)
const manyPods = (count: number, words: PodWords) => Array.from({ length: count }, (_, index) => ({ name: `p${index}`, ...words }))

test('WL-JOB-07: of too many active Pods, duplicates of an index and indexes beyond the completions are deleted first', () => {
  const pods = [
    { name: 'a', index: 0, readySeconds: 50 },
    { name: 'b', index: 0 },
    { name: 'c', index: 7, readySeconds: 50 },
    { name: 'd', index: 1 },
  ]
  const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2 }
  expect(namesIn(decide(spec, pods).step.deletions).sort()).toEqual(['b', 'c'])
  expect(namesIn(decide({ ...spec, parallelism: 1 }, pods).step.deletions).sort()).toEqual(['b', 'c', 'd'])
})

test('WL-JOB-08: a pass creates at most 500 Pods, and the status counts them at once', () => {
  const plan = decide({ completions: 700, parallelism: 700 }, [])
  expect(plan.step.creations).toHaveLength(500)
  expect(plan.trackAfter({ createdCount: 500, deleted: [] }).status.active).toBe(500)
})

test('WL-JOB-12, WL-JOB-14: at most 500 uids wait in the status, and are counted when the finalizers are gone', () => {
  const plan = decide({ completions: 700, parallelism: 700 }, manyPods(600, { phase: 'Succeeded' }))
  const tracking = plan.trackAfter({ createdCount: 0, deleted: [] })
  expect([tracking.status.uncountedTerminatedPods?.succeeded?.length, tracking.status.succeeded]).toEqual([500, undefined])
  const removed = new Set(tracking.untracked.map(({ metadata }) => metadata.uid ?? ''))
  const { status } = tracking.countAfter(removed)
  expect([removed.size, status.succeeded, status.uncountedTerminatedPods]).toEqual([500, 500, {}])
})

test('WL-JOB-23: all new failures of a pass lengthen the pause before a replacement', () => {
  const failed = manyPods(3, { phase: 'Failed', createdSeconds: 0 })
  expect([decide({}, failed.slice(0, 1)).waitMs, decide({}, failed).waitMs]).toEqual([10_000, 40_000])
})

test('WL-JOB-22: below 1.27 the first failed Pod is replaced at once, and each later failure is seen after a pause', () => {
  const failed = manyPods(1, { phase: 'Failed', createdSeconds: 0 })
  const { step, waitMs, backoff } = decide({}, failed, { level: 26 })
  expect([step.creations.length, waitMs, failureDelayMs(backoff, 26)]).toEqual([1, 10_000, 10_000])
  const pauses = [0, 1, 2, 3, 9].map((failureCount) => failureDelayMs({ failureCount, lastFailureMs: nowMs }, 26))
  expect(pauses).toEqual([0, 10_000, 20_000, 40_000, 360_000])
  expect([decide({}, failed, { level: 27 }).step.creations.length, failureDelayMs(backoff, 27)]).toEqual([0, 0])
})

test('WL-JOB-26: a Job fails at its deadline after the start, but not while it is suspended', () => {
  const causeOf = (spec: object) => {
    const plan = decide(spec, [{}])
    return plan.trackAfter({ createdCount: 0, deleted: plan.step.deletions }).status.conditions?.at(-1)
  }
  expect(causeOf({ activeDeadlineSeconds: 100 })).toMatchObject({
    type: 'FailureTarget',
    reason: 'DeadlineExceeded',
    message: 'Job was active longer than specified deadline',
  })
  expect(causeOf({ activeDeadlineSeconds: 101 })).toBeUndefined()
  expect(decide({ activeDeadlineSeconds: 101 }, [{}]).waitMs).toBe(1_000)
  expect(causeOf({ activeDeadlineSeconds: 100, suspend: true })).toMatchObject({ type: 'Suspended' })
})

test('WL-JOB-31: with the replacement policy of a failure policy only Pods of phase Failed count as failed', () => {
  const pods = [
    { name: 'a', isDeleted: true },
    { name: 'b', phase: 'Failed' },
  ]
  const failedOf = (spec: object) => decide(spec, pods).trackAfter({ createdCount: 0, deleted: [] }).status.uncountedTerminatedPods?.failed
  expect(failedOf({ podReplacementPolicy: 'Failed', podFailurePolicy: { rules: [] } })).toEqual(['b'])
  expect(failedOf({})).toEqual(['a', 'b'])
})

test('WL-JOB-32: the next Pod of an index has the count of failures, and an index beyond its limit has failed', () => {
  const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 1, backoffLimit: 2 ** 31 - 1 }
  const pods = [
    { name: 'a', index: 0, failures: 0, phase: 'Failed', createdSeconds: 60 },
    { name: 'b', index: 1, failures: 1, phase: 'Failed', createdSeconds: 60 },
  ]
  const plan = decide(spec, pods)
  expect(plan.step.creations).toEqual([{ index: 0, failures: { counted: 1, ignored: 0 } }])
  const tracking = plan.trackAfter({ createdCount: 0, deleted: [] })
  expect([tracking.status.failedIndexes, namesIn(tracking.untracked)]).toEqual(['1', ['b']])
})

test('WL-JOB-37: a failure by limit comes before a success by policy of the same pass', () => {
  const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy: { rules: [{ succeededIndexes: '0' }] } }
  const pods = [
    { name: 'a', index: 0, phase: 'Succeeded' },
    { name: 'b', index: 1, phase: 'Failed' },
  ]
  const endOf = (backoffLimit: number, status?: object) => {
    const { conditions } = decide({ ...spec, backoffLimit }, pods, { status }).trackAfter({ createdCount: 0, deleted: [] }).status
    return conditions?.map(({ type }) => type)
  }
  expect([endOf(0), endOf(6)]).toEqual([['FailureTarget'], ['SuccessCriteriaMet']])
  const met = { conditions: [{ type: 'SuccessCriteriaMet', status: 'True', reason: 'SuccessPolicy', message: '' }] }
  expect(endOf(0, met)).toEqual(['SuccessCriteriaMet'])
})

test('WL-JOB-46: without completions, no failure is replaced after the first success, and the Job ends with its Pods', () => {
  const spec = { completions: null, parallelism: 2 }
  const after = (pods: readonly JobPodWords[]) => {
    const plan = decide(spec, pods)
    const conditions = plan.trackAfter({ createdCount: plan.step.creations.length, deleted: [] }).status.conditions ?? []
    return [plan.step.creations.length, conditions.map(({ type }) => type)]
  }
  const failed = { name: 'b', phase: 'Failed', createdSeconds: 60 }
  expect(after([{ name: 'a' }, failed])).toEqual([1, []])
  expect(after([{ name: 'a', phase: 'Succeeded' }, failed, { name: 'c' }])).toEqual([0, []])
  expect(after([{ name: 'a', phase: 'Succeeded' }, failed])).toEqual([0, ['SuccessCriteriaMet']])
})

test('WL-JOB-48: from 1.31 on, ready at the end does not count the deleted Pods', () => {
  const readyAt = (level: number) => {
    const plan = decide({ activeDeadlineSeconds: 1 }, [{ readySeconds: 5 }], { level })
    return plan.trackAfter({ createdCount: 0, deleted: plan.step.deletions }).status.ready
  }
  expect([readyAt(30), readyAt(31)]).toEqual([1, 0])
})
