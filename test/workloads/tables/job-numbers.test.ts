import {
  addIndexes,
  countIndexes,
  indexedPrefix,
  matchFailurePolicy,
  matchSuccessPolicy,
  type Pod,
  parseIndexes,
  printIndexes,
  remainingBackoffMs,
} from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

const nowMs = Date.UTC(2026, 0, 1)

interface BackoffRow extends Row {
  readonly failures: number
  readonly sinceLastFailure: number
  readonly remainingSeconds: number
}

test('WL-JOB-22: back-off times before a replacement equal those of kube-controller-manager', () => {
  const rows = rowsOf<BackoffRow>('job-numbers', 'backoff')
  const found = byId(rows, ({ failures, sinceLastFailure }) => {
    const record = { failureCount: failures, lastFailureMs: nowMs - sinceLastFailure * 1000 }
    return remainingBackoffMs(record, nowMs, 37) / 1000
  })
  expect(found).toEqual(byId(rows, ({ remainingSeconds }) => remainingSeconds))
})

test('WL-JOB-22: below 1.28 the longest back-off is 360 s', () => {
  const record = { failureCount: 9, lastFailureMs: nowMs }
  expect([27, 28].map((level) => remainingBackoffMs(record, nowMs, level))).toEqual([360_000, 600_000])
})

interface ParseRow extends Row {
  readonly text: string
  readonly completions: number
  readonly printed: string
  readonly total: number
}

interface MergeRow extends Row {
  readonly indexes: string
  readonly add: readonly number[]
  readonly result: string
}

test('WL-JOB-16: index lists are parsed, counted, merged and printed like in kube-controller-manager', () => {
  const parsed = rowsOf<ParseRow>('job-numbers', 'parseIndexes')
  const found = byId(parsed, ({ text, completions }) => {
    const indexes = parseIndexes(text, completions)
    return [printIndexes(indexes), countIndexes(indexes)]
  })
  expect(found).toEqual(byId(parsed, ({ printed, total }) => [printed, total]))
  const merged = rowsOf<MergeRow>('job-numbers', 'mergeIndexes')
  expect(byId(merged, ({ indexes, add }) => printIndexes(addIndexes(parseIndexes(indexes, 100), add)))).toEqual(
    byId(merged, ({ result }) => result),
  )
})

interface NameRow extends Row {
  readonly job: string
  readonly index: number
  readonly generateName: string
}

test('WL-JOB-02: name prefixes of indexed Pods leave space for their suffix', () => {
  const rows = rowsOf<NameRow>('job-numbers', 'generateName')
  expect(byId(rows, ({ job, index }) => indexedPrefix(job, index))).toEqual(byId(rows, ({ generateName }) => generateName))
})

interface FailureRow extends Row {
  readonly containers: readonly { readonly name: string; readonly exitCode: number; readonly init: boolean }[]
  readonly condition?: string
  readonly rules: NonNullable<NonNullable<Parameters<typeof matchFailurePolicy>[0]>['rules']>
  readonly counts: boolean
  readonly action?: string
  readonly message?: string
}

function failedPod({ containers, condition }: FailureRow): Pod {
  const statusOf = ({ name, exitCode }: FailureRow['containers'][number]) => ({
    ...{ name, image: '', imageID: '', ready: false, restartCount: 0, lastState: {} },
    state: { terminated: { exitCode, startedAt: null, finishedAt: null } },
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { containers: [] },
    status: {
      phase: 'Failed',
      containerStatuses: containers.filter(({ init }) => !init).map(statusOf),
      initContainerStatuses: containers.filter(({ init }) => init).map(statusOf),
      conditions: condition === undefined ? [] : [{ type: condition, status: 'True', lastProbeTime: null, lastTransitionTime: null }],
    },
  }
}

test('WL-JOB-29, WL-JOB-30: pod failure rules match like in kube-controller-manager', () => {
  const rows = rowsOf<FailureRow>('job-numbers', 'podFailurePolicy')
  const found = byId(rows, (row) => matchFailurePolicy({ rules: row.rules }, failedPod(row)))
  expect(found).toEqual(byId(rows, ({ action, counts, message }) => ({ action, isCounted: counts, message })))
})

interface SuccessRow extends Row {
  readonly completions: number
  readonly rules: NonNullable<NonNullable<Parameters<typeof matchSuccessPolicy>[0]>['rules']>
  readonly succeededIndexes: string
  readonly met: boolean
  readonly message: string
}

test('WL-JOB-36: success rules match like in kube-controller-manager', () => {
  const rows = rowsOf<SuccessRow>('job-numbers', 'successPolicy')
  const found = byId(rows, ({ completions, rules, succeededIndexes }) =>
    matchSuccessPolicy({ rules }, { completions, succeeded: parseIndexes(succeededIndexes, completions) }),
  )
  expect(found).toEqual(byId(rows, ({ met, message }) => (met ? message : undefined)))
})
