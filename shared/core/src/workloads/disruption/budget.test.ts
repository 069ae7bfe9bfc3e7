import { expect, test } from 'vitest'
import type { Pod } from '../pods.ts'
import { aPod, type PodWords } from '../testing/pod-testing.ts'
import { type Budget, decideBudget, failedStatus, staleDisruptionMs } from './budget.ts'

const nowMs = Date.UTC(2026, 0, 1)
const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace('.000Z', 'Z')

function aBudget(status: object = {}): Budget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', generation: 1 },
    spec: { minAvailable: 1 },
    status,
  } as unknown as Budget
}

const ready = (name: string, more: PodWords = {}) => aPod({ name, readySeconds: 60, ...more }, nowMs)

test.each<[id: string, what: string, pods: readonly Pod[], evicted: object, numbers: readonly [expected: number, healthy: number]]>([
  ['WL-PDB-07', 'a Pod that is not ready', [ready('a'), ready('b', { isReady: false, readySeconds: undefined })], {}, [2, 1]],
  ['WL-PDB-07, WL-PDB-16', 'a Pod that terminates', [ready('a'), ready('b', { isDeleted: true })], {}, [2, 1]],
  ['WL-PDB-07', 'an eviction of 119 s ago', [ready('a'), ready('b')], { b: ago(119) }, [2, 1]],
  ['WL-PDB-11', 'an eviction of 121 s ago', [ready('a'), ready('b')], { b: ago(121) }, [2, 2]],
  ['WL-PDB-20', 'a Pod that has finished', [ready('a'), aPod({ name: 'b', phase: 'Succeeded' }, nowMs)], {}, [2, 1]],
])('%s: with %s the numbers are as expected', (_id, _what, pods, evicted, [expectedPods, currentHealthy]) => {
  const { status } = decideBudget({ budget: aBudget({ disruptedPods: evicted }), pods, scale: { replicas: 0, hasUnmanaged: false } }, nowMs)
  expect(status).toMatchObject({ expectedPods, currentHealthy })
})

test('WL-PDB-11: an evicted Pod that was not deleted within two minutes is forgotten, and reported once', () => {
  const pods = [ready('a'), ready('b')]
  const scale = { replicas: 0, hasUnmanaged: false }
  const plan = decideBudget({ budget: aBudget({ disruptedPods: { a: ago(60), b: ago(121) } }), pods, scale }, nowMs)
  expect(plan.status).toMatchObject({ disruptedPods: { a: ago(60) } })
  expect([plan.notDeleted.map(({ metadata }) => metadata.name), plan.waitMs]).toEqual([['b'], 60_000])
})

test('WL-PDB-06: after a failed pass no disruption is allowed, and the condition has the error', () => {
  expect(failedStatus(aBudget({ currentHealthy: 3, disruptionsAllowed: 2, observedGeneration: 1 }), 'no scale', nowMs)).toEqual({
    currentHealthy: 3,
    disruptionsAllowed: 0,
    observedGeneration: 1,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: 'no scale',
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  })
})

test.each<[what: string, reason: string, words: PodWords, waitMs: number | undefined]>([
  ['is reset after two minutes', 'EvictionByEvictionAPI', {}, 90_000],
  ['by the kubelet stays', 'TerminationByKubelet', {}, undefined],
  ['of a finished Pod stays', 'EvictionByEvictionAPI', { phase: 'Failed' }, undefined],
  ['of a Pod that terminates stays', 'EvictionByEvictionAPI', { isDeleted: true }, undefined],
])('WL-PDB-19: a condition DisruptionTarget %s', (_what, reason, words, waitMs) => {
  const pod = aPod(words, nowMs)
  const condition = { type: 'DisruptionTarget', status: 'True', reason, lastProbeTime: null, lastTransitionTime: ago(30) }
  expect(staleDisruptionMs({ ...pod, status: { ...pod.status, conditions: [condition] } }, nowMs)).toBe(waitMs)
})
