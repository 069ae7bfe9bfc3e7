import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { boundsOf, fencepostsOf } from './bounds.ts'
import { Conditions } from './conditions.ts'
import { annotationNames, newSetAnnotations, scalingNotes } from './revisions.ts'
import { nextNewSize, type Resize, rollingStep, type SizedSet, scaledSizes } from './sizes.ts'
import { countsOf, type Deployment, isComplete, isProgressing, isTimedOut, type ReplicaSet } from './status.ts'

const names = annotationNames(namesOf('kubernetes'))
const nowMs = Date.UTC(2026, 0, 1)
const now = '2026-01-01T00:00:00Z'

/** The rows of a file, by kind. */
function rowsOf<Row>(file: string, kind: string): Row[] {
  const [, ...lines] = readFileSync(new URL(`../cases/${file}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line): Row & { kind: string } => JSON.parse(line)).filter((row) => row.kind === kind)
}

interface Roll {
  readonly id: string
  readonly replicas: number
  readonly maxSurge: number | string
  readonly maxUnavailable: number | string
}

const wishOf = ({ replicas, maxSurge, maxUnavailable = 0 }: Roll) => ({ replicas, rollingUpdate: { maxSurge, maxUnavailable } })

interface Fenceposts extends Roll {
  readonly surge: number
  readonly unavailable: number
  readonly maxUnavailableInUse: number
  readonly minAvailable: number
  readonly maxTotal: number
}

test.each(rowsOf<Fenceposts>('deployment-numbers', 'fenceposts'))(
  'WL-DEP-17, WL-DEP-18: $replicas Pods with surge $maxSurge and unavailable $maxUnavailable have the recorded bounds',
  (row) => {
    const { surge, unavailable, maxUnavailableInUse, minAvailable, maxTotal } = row
    const wish = wishOf(row)
    expect(fencepostsOf(wish.rollingUpdate, wish.replicas)).toEqual({ surge, unavailable })
    expect(boundsOf(wish)).toEqual({ surge, unavailable: maxUnavailableInUse, minAvailable, maxTotal })
  },
)

test.each(rowsOf<Roll & { new: number; old: number; result: number }>('deployment-numbers', 'newReplicaSetSize'))(
  'WL-DEP-20: a new ReplicaSet gets the recorded size: $id',
  (row) => expect(nextNewSize(wishOf(row), { replicas: row.new }, row.new + row.old)).toBe(row.result),
)

interface ScaleRow extends Roll {
  readonly about?: string
  readonly statusReplicas?: number
  readonly replicaSets: readonly (Pick<SizedSet, 'name' | 'replicas'> & {
    readonly available?: number
    readonly createdAt: number
    readonly desiredReplicasAnnotation?: number
    readonly maxReplicasAnnotation?: number
  })[]
  readonly result: readonly { readonly name: string; readonly replicas: number; readonly desired?: string; readonly max?: string }[]
}

function setsOf({ replicaSets }: ScaleRow): SizedSet[] {
  return replicaSets.map(({ name, replicas, available = 0, createdAt, desiredReplicasAnnotation, maxReplicasAnnotation }) => ({
    name,
    replicas,
    available,
    createdMs: createdAt * 1000,
    desired: desiredReplicasAnnotation,
    max: maxReplicasAnnotation,
  }))
}

/** Sizes by name after the changes. */
function sizesAfter(sets: readonly SizedSet[], resizes: readonly Resize[]): object {
  const sizes = Object.fromEntries(sets.map(({ name, replicas }) => [name, replicas]))
  for (const { name, to } of resizes) sizes[name] = to
  return sizes
}

const sizesIn = ({ result }: ScaleRow) => Object.fromEntries(result.map(({ name, replicas }) => [name, replicas]))

test.each(rowsOf<ScaleRow>('deployment-scale', 'rollingStep'))(
  'WL-DEP-21, WL-DEP-22, WL-DEP-23, WL-DEP-24: a step of a rolling update changes the recorded sizes: $id',
  (row) => {
    const sets = setsOf(row)
    const [newSet, ...oldSets] = sets
    expect(sizesAfter(sets, rollingStep(wishOf(row), newSet!, oldSets))).toEqual(sizesIn(row))
  },
)

test.each(rowsOf<ScaleRow>('deployment-scale', 'proportional'))(
  'WL-DEP-29, WL-DEP-30, WL-DEP-31, WL-DEP-32: a scaling is shared as recorded: $id ($about)',
  (row) => {
    const sets = setsOf(row)
    const [newSet, ...oldSets] = sets
    const { maxTotal } = boundsOf(wishOf(row))
    const resizes = scaledSizes(wishOf(row), { newSet, oldSets, statusReplicas: row.statusReplicas ?? 0 })
    expect(sizesAfter(sets, resizes)).toEqual(sizesIn(row))
    const notes = scalingNotes(row.replicas, maxTotal, names)
    for (const { name, desired, max } of row.result.filter((one) => one.desired !== undefined)) {
      const before = sets.find((set) => set.name === name)
      const isResized = resizes.some((resize) => resize.name === name)
      expect(isResized ? Object.values(notes) : [before?.desired, before?.max].map(String)).toEqual([desired, max])
    }
  },
)

test('WL-DEP-51, WL-DEP-52: a condition with another status or reason comes last, and an equal one stays with its times', () => {
  const times = { lastUpdateTime: '2025-01-01T00:00:00Z', lastTransitionTime: '2025-01-01T00:00:00Z' }
  const before = ['A', 'B', 'C'].map((type) => ({ type, status: 'True', reason: 'R', message: 'm', ...times }))
  const conditions = new Conditions(before, now)
  conditions.set({ type: 'C', status: 'True', reason: 'R', message: 'other' })
  conditions.set({ type: 'B', status: 'True', reason: 'S', message: 'm' })
  conditions.set({ type: 'A', status: 'False', reason: 'R', message: 'm' })
  expect(conditions.list.map((one) => [one.type, one.message, one.lastUpdateTime, one.lastTransitionTime])).toEqual([
    ['C', 'm', times.lastUpdateTime, times.lastTransitionTime],
    ['B', 'm', now, times.lastTransitionTime],
    ['A', 'm', now, now],
  ])
})

describe('statuses', () => {
  interface Counted {
    readonly specReplicas: number
    readonly replicas: number
    readonly ready: number
    readonly available: number
    /** −1 if the field is absent. */
    readonly terminating: number
  }
  interface StatusRow {
    readonly id: string
    readonly replicas: number
    readonly maxUnavailable: string
    readonly new?: Counted
    readonly old: readonly Counted[]
    readonly status: object
  }

  const setOf = ({ specReplicas, replicas, ready, available, terminating }: Counted) =>
    ({
      metadata: {},
      spec: { replicas: specReplicas },
      status: {
        replicas,
        readyReplicas: ready,
        availableReplicas: available,
        ...(terminating >= 0 && { terminatingReplicas: terminating }),
      },
    }) as unknown as ReplicaSet

  const deploymentOf = (metadata: object, spec: object, status: object) => ({ metadata, spec, status }) as unknown as Deployment

  test.each(rowsOf<StatusRow>('deployment-status', 'deploymentStatus'))(
    'WL-DEP-41, WL-DEP-42, WL-DEP-43: have the recorded numbers: $id',
    (row) => {
      const { replicas, maxUnavailable } = row
      const conditions = new Conditions([], now)
      const counts = countsOf(
        {
          deployment: deploymentOf({ generation: 4 }, { replicas }, {}),
          wish: wishOf({
            id: '',
            replicas,
            maxSurge: '25%',
            maxUnavailable: /%/.test(maxUnavailable) ? maxUnavailable : Number(maxUnavailable),
          }),
          newSet: row.new && setOf(row.new),
          oldSets: row.old.map(setOf),
          hasTerminatingReplicas: true,
        },
        conditions,
      )
      const shown = conditions.list.map(({ type, status, reason, message }) => ({ type, status, reason, message }))
      expect({ ...counts, conditions: shown }).toEqual(row.status)
    },
  )

  interface Progress {
    readonly replicas: number
    readonly updated: number
    readonly ready: number
    readonly available: number
    readonly observedGeneration: number
  }
  const countsIn = ({ replicas, updated, ready, available, observedGeneration }: Progress) => ({
    replicas,
    updatedReplicas: updated,
    readyReplicas: ready,
    availableReplicas: available,
    observedGeneration,
  })

  test.each(
    rowsOf<{
      about: string
      replicas: number
      generation: number
      before: Progress
      now: Progress
      complete: boolean
      progressing: boolean
    }>('deployment-status', 'deploymentProgress'),
  )('WL-DEP-44, WL-DEP-45: report progress as recorded: $about', ({ replicas, generation, before, now: after, ...row }) => {
    const deployment = deploymentOf({ generation }, { replicas }, {})
    expect([isComplete(deployment, countsIn(after)), isProgressing(countsIn(before), countsIn(after))]).toEqual([
      row.complete,
      row.progressing,
    ])
  })

  test.each(
    rowsOf<{ id: string; reason: string; updatedSecondsAgo: number; progressDeadlineSeconds: number; timedOut: boolean }>(
      'deployment-status',
      'deploymentTimedOut',
    ),
  )('WL-DEP-46: time out as recorded: $reason of $updatedSecondsAgo s ago with a deadline of $progressDeadlineSeconds s', (row) => {
    const lastUpdateTime = new Date(nowMs - row.updatedSecondsAgo * 1000).toISOString()
    const condition = row.reason === '' ? undefined : { type: 'Progressing', status: 'True', reason: row.reason, lastUpdateTime }
    expect(isTimedOut(condition, row.progressDeadlineSeconds, nowMs)).toBe(row.timedOut)
  })

  test.each(
    rowsOf<{ id: string; revision: string; history: string; newRevision: string; annotations: Record<string, string> }>(
      'deployment-status',
      'revisionAnnotations',
    ),
  )(
    'WL-DEP-07, WL-DEP-08: name the revision $newRevision after $revision as recorded',
    ({ revision, history, newRevision, annotations }) => {
      const own = { ...(revision !== '' && { [names.revision]: revision }), ...(history !== '' && { [names.history]: history }) }
      expect(newSetAnnotations(own, { keep: '1' }, BigInt(newRevision), names)).toEqual(annotations)
    },
  )
})
