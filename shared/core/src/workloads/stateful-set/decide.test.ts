import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { aPod, type PodWords } from '../testing/pod-testing.ts'
import type { VolumeClaim } from './claims.ts'
import { decideStatefulSet, type StatefulSetObserved, type StatefulSetStep } from './decide.ts'
import { revisionLabel, type StatefulSet, statefulSetLabels } from './names.ts'

const nowMs = Date.UTC(2026, 0, 1)
const labels = statefulSetLabels(namesOf('kubernetes'))
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } }
const [old, fresh] = ['web-old', 'web-new']

/** A Pod by its ordinal. By default it is available and of the update revision. */
type MemberWords = PodWords & { readonly revision?: string }
type Members = Readonly<Record<number, MemberWords>>

interface Differing {
  readonly spec?: Partial<StatefulSet['spec']>
  readonly status?: Partial<StatefulSet['status']>
  readonly isDeleted?: boolean
  readonly level?: number
  readonly hasMaxUnavailable?: boolean
  readonly claims?: Readonly<Record<string, Partial<VolumeClaim['metadata']>>>
}

/** A set with three desired replicas at level 1.37. */
function observed(members: Members, differing: Differing = {}): StatefulSetObserved {
  const { spec, status, isDeleted = false, level = 37, hasMaxUnavailable = level >= 37, claims = {} } = differing
  const set: StatefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'team', uid: 'su', generation: 2, ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      serviceName: 'svc',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      template,
      ...spec,
    },
    status: { replicas: 0, availableReplicas: 0, ...status },
  }
  const pods = Object.entries(members).map(([ordinal, { revision = fresh, ...words }]) => {
    const name = `web-${ordinal}`
    return aPod({ name, labels: { [labels.podName]: name, [revisionLabel]: revision }, readySeconds: 60, ...words }, nowMs)
  })
  const claimNamed = (name: string): VolumeClaim | undefined =>
    claims[name] && {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, ...claims[name] },
      spec: { resources: {} },
      status: {},
    }
  return {
    set,
    pods,
    claimNamed,
    current: { name: old, template },
    update: { name: fresh, template },
    collisionCount: 0,
    labels,
    hasIndexLabel: level >= 28,
    hasRetention: level >= 27,
    hasMaxUnavailable,
    level,
  }
}

function printStep({ kind, pod, claims, replaced }: StatefulSetStep): string {
  const { name, labels: found } = pod.metadata
  const revision = kind === 'create' ? ` of ${found?.[revisionLabel]}` : ''
  const owners = claims.owned.map(({ claim, ownerReferences }) => ` ${claim.metadata.name} → ${ownerReferences.map((one) => one.kind)}`)
  const made = claims.missing.map(({ metadata }) => ` with ${metadata.name}`)
  return [
    kind,
    ` ${name}`,
    revision,
    replaced === undefined ? '' : ' anew',
    ...made,
    ...claims.ending.map((one) => ` after ${one}`),
    ...owners,
  ].join('')
}

/** The steps as text, groups separated by semicolons. */
function stepsOf(of: StatefulSetObserved): string {
  const { groups } = decideStatefulSet(of, nowMs)
  return groups.map((group) => group.map(printStep).join(', ')).join('; ')
}

const pending: MemberWords = { phase: 'Pending', readySeconds: undefined }
const notReady: MemberWords = { readySeconds: undefined }
const outdated: MemberWords = { revision: old }
const deleted: MemberWords = { isDeleted: true }
const parallel = { podManagementPolicy: 'Parallel' } as const
const onDelete = { updateStrategy: { type: 'OnDelete' } } as const
const recreate = { updateStrategy: { type: 'Recreate' } } as const
const all = { 0: {}, 1: {}, 2: {} }
const allOutdated = { 0: outdated, 1: outdated, 2: outdated }
const rolling = (rollingUpdate: { readonly partition?: number; readonly maxUnavailable?: number | string }) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate } as const,
})

const justReady = (level: number) =>
  observed({ 0: outdated, 1: outdated, 2: {} }, { level, hasMaxUnavailable: false, spec: { ...parallel, minReadySeconds: 100 } })

test.each<[id: string, what: string, of: StatefulSetObserved, steps: string]>([
  ['WL-STS-14', 'no Pods', observed({}), 'create web-0 of web-new'],
  ['WL-STS-14', 'the first Pod available', observed({ 0: {} }), 'create web-1 of web-new'],
  ['WL-STS-14', 'the first Pod pending', observed({ 0: pending }), ''],
  ['WL-STS-14', 'the first Pod not ready', observed({ 0: notReady }), ''],
  ['WL-STS-14', 'a Pod ready for less than minReadySeconds', observed({ 0: { readySeconds: 5 } }, { spec: { minReadySeconds: 10 } }), ''],
  ['WL-STS-14', 'a gap', observed({ 0: {}, 2: {} }), 'create web-1 of web-new'],
  ['WL-STS-15', 'a surplus and a gap', observed({ 0: {}, 2: {}, 3: {} }), 'create web-1 of web-new'],
  ['WL-STS-15', 'a surplus of two', observed({ ...all, 3: {}, 4: {} }), 'delete web-4'],
  ['WL-STS-15', 'a surplus that is being deleted', observed({ ...all, 3: {}, 4: deleted }), ''],
  ['WL-STS-16', 'an unhealthy Pod above a healthy one, both beyond the wish', observed({ ...all, 3: {}, 4: notReady }), 'delete web-4'],
  ['WL-STS-16', 'an unhealthy Pod below another, both beyond the wish', observed({ ...all, 3: notReady, 4: notReady }), ''],
  ['WL-STS-17', 'Parallel and one Pod', observed({ 1: pending }, { spec: parallel }), 'create web-0 of web-new, create web-2 of web-new'],
  ['WL-STS-17', 'Parallel and a surplus', observed({ ...all, 3: notReady, 4: {} }, { spec: parallel }), 'delete web-4, delete web-3'],
  ['WL-STS-01, WL-STS-02', 'a start at 2', observed({ 2: {} }, { spec: { ordinals: { start: 2 } } }), 'create web-3 of web-new'],
  ['WL-STS-02', 'a start above its Pods', observed({ 0: {}, 3: {} }, { spec: { ordinals: { start: 3 }, replicas: 1 } }), 'delete web-0'],
  [
    'WL-STS-38',
    'Recreate and outdated Pods',
    observed({ ...allOutdated, 3: outdated }, { spec: recreate }),
    'delete web-0, delete web-1, delete web-2, delete web-3',
  ],
  ['WL-STS-38', 'Recreate and an outdated Pod that is being deleted', observed({ 0: { ...outdated, ...deleted } }, { spec: recreate }), ''],
  ['WL-STS-38', 'Recreate without outdated Pods', observed({ 0: {} }, { spec: recreate }), 'create web-1 of web-new'],
  ['WL-STS-19', 'a failed Pod', observed({ 0: { phase: 'Failed' } }), 'delete web-0'],
  ['WL-STS-19', 'a failed Pod at 1.28', observed({ 0: { phase: 'Failed' } }, { level: 28 }), 'create web-0 of web-new anew'],
  ['WL-STS-20', 'a Pod that has succeeded', observed({ 0: { phase: 'Succeeded', readySeconds: undefined } }), 'delete web-0'],
  ['WL-STS-20', 'a Pod that has succeeded at 1.28', observed({ 0: { phase: 'Succeeded', readySeconds: undefined } }, { level: 28 }), ''],
  ['WL-STS-21', 'Parallel and a Pod that is being deleted', observed({ ...all, 1: deleted }, { spec: parallel }), ''],
  [
    'WL-STS-18',
    'Parallel, a missing Pod and an outdated one',
    observed({ 0: {}, 1: outdated }, { spec: parallel }),
    'create web-2 of web-new',
  ],
  ['WL-STS-28', 'a Pod below the partition', observed({}, { spec: rolling({ partition: 1 }) }), 'create web-0 of web-old'],
  ['WL-STS-28', 'a Pod from the partition on', observed({ 0: outdated }, { spec: rolling({ partition: 1 }) }), 'create web-1 of web-new'],
  [
    'WL-STS-28',
    'no numbers of its update',
    observed({}, { spec: { updateStrategy: { type: 'RollingUpdate' } }, status: { currentReplicas: 1 } }),
    'create web-0 of web-old',
  ],
  ['WL-STS-28, WL-STS-37', 'OnDelete and a missing Pod', observed({ 0: outdated }, { spec: onDelete }), 'create web-1 of web-new'],
  ['WL-STS-37', 'OnDelete and outdated Pods', observed(allOutdated, { spec: onDelete }), ''],
  ['WL-STS-29', 'outdated Pods', observed(allOutdated), 'delete web-2'],
  ['WL-STS-29', 'outdated Pods at 1.36', observed(allOutdated, { level: 36 }), 'delete web-2'],
  ['WL-STS-30', 'an updated Pod that is not ready', observed({ 0: outdated, 1: outdated, 2: notReady }, { level: 36 }), ''],
  ['WL-STS-30', 'an updated Pod that is ready and not available at 1.34', justReady(34), ''],
  ['WL-STS-30', 'an updated Pod that is ready and not available below 1.34', justReady(33), 'delete web-1'],
  ['WL-STS-32', 'a partition above its replicas', observed(allOutdated, { spec: rolling({ partition: 5 }) }), ''],
  [
    'WL-STS-33',
    'a partition and a start',
    observed({ 4: outdated, 5: outdated }, { spec: { ...rolling({ partition: 1 }), ordinals: { start: 4 }, replicas: 2 } }),
    'delete web-5',
  ],
  ['WL-STS-35', 'room for two', observed(allOutdated, { spec: rolling({ maxUnavailable: 2 }) }), 'delete web-2, delete web-1'],
  ['WL-STS-34', 'room for two at 1.36', observed(allOutdated, { level: 36, spec: rolling({ maxUnavailable: 2 }) }), 'delete web-2'],
  ['WL-STS-34', 'room for 67 percent', observed(allOutdated, { spec: rolling({ maxUnavailable: '67%' }) }), 'delete web-2, delete web-1'],
  ['WL-STS-34', 'room for 10 percent', observed(allOutdated, { spec: rolling({ maxUnavailable: '10%' }) }), 'delete web-2'],
  [
    'WL-STS-36',
    'Parallel and unavailable outdated Pods',
    observed({ 0: outdated, 1: { ...outdated, ...notReady }, 2: { ...outdated, ...notReady } }, { spec: parallel }),
    'delete web-2, delete web-1',
  ],
  [
    'WL-STS-36',
    'Parallel, room for two and one unavailable',
    observed({ 0: outdated, 1: outdated, 2: { ...outdated, ...notReady } }, { spec: { ...parallel, ...rolling({ maxUnavailable: 2 }) } }),
    'delete web-2, delete web-1',
  ],
  ['WL-STS-50', 'a set that is being deleted', observed({ 0: {} }, { isDeleted: true }), ''],
])('%s: %s', (_id, _what, of, steps) => {
  expect(stepsOf(of)).toBe(steps)
})

const claimTemplate: VolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', labels: { kind: 'disk' } },
  spec: { resources: {} },
  status: {},
}
const withClaims = { replicas: 1, volumeClaimTemplates: [claimTemplate] }
const mounted = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }] }

/** The set with its first Pod, which mounts its claim. */
function withMember(words: MemberWords, differing: Differing): StatefulSetObserved {
  const of = observed({ 0: words }, { ...differing, spec: { ...withClaims, ...differing.spec } })
  return { ...of, pods: of.pods.map((pod) => ({ ...pod, spec: { ...pod.spec, ...mounted } })) }
}

const retention = (persistentVolumeClaimRetentionPolicy: object) => ({ spec: { persistentVolumeClaimRetentionPolicy } })
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'su', controller: true }
const earlierPod = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'earlier', controller: true }

test.each<[id: string, what: string, of: StatefulSetObserved, steps: string]>([
  ['WL-STS-06', 'a new Pod', observed({}, { spec: withClaims }), 'create web-0 of web-new with data-web-0'],
  ['WL-STS-06', 'a claim that exists', observed({}, { spec: withClaims, claims: { 'data-web-0': {} } }), 'create web-0 of web-new'],
  [
    'WL-STS-07',
    'a claim that is being deleted',
    observed({}, { spec: withClaims, claims: { 'data-web-0': { deletionTimestamp: '2026-01-01T00:00:00Z' } } }),
    'create web-0 of web-new after data-web-0',
  ],
  ['WL-STS-08', 'a pending Pod without its claim', withMember(pending, {}), 'claims web-0 with data-web-0'],
  ['WL-STS-08', 'a pending Pod without its claim at 1.26', withMember(pending, { level: 26 }), ''],
  [
    'WL-STS-42',
    'a claim that goes with the set',
    withMember({}, { ...retention({ whenDeleted: 'Delete' }), claims: { 'data-web-0': {} } }),
    'update web-0 data-web-0 → StatefulSet',
  ],
  [
    'WL-STS-41',
    'a policy at 1.26',
    withMember({}, { ...retention({ whenDeleted: 'Delete' }), level: 26, claims: { 'data-web-0': {} } }),
    '',
  ],
  [
    'WL-STS-43',
    'a claim that is retained again',
    withMember({}, { claims: { 'data-web-0': { ownerReferences: [owner] } } }),
    'update web-0 data-web-0 → ',
  ],
  [
    'WL-STS-42',
    'the claim of a condemned Pod',
    withMember({}, { spec: { ...retention({ whenScaled: 'Delete' }).spec, replicas: 0 }, claims: { 'data-web-0': {} } }),
    'claims web-0 data-web-0 → Pod; delete web-0',
  ],
  [
    'WL-STS-44',
    'the claim of an earlier Pod',
    observed(
      {},
      { spec: { ...withClaims, ...retention({ whenScaled: 'Delete' }).spec }, claims: { 'data-web-0': { ownerReferences: [earlierPod] } } },
    ),
    '',
  ],
])('%s: %s', (_id, _what, of, steps) => {
  expect(stepsOf(of)).toBe(steps)
})

test('WL-STS-42: the claims of a new Pod have their owner at once, whether they exist or not', () => {
  const deleting = { spec: { ...withClaims, ...retention({ whenDeleted: 'Delete' }).spec } }
  expect(stepsOf(observed({}, { ...deleting, claims: { 'data-web-0': {} } }))).toBe('create web-0 of web-new data-web-0 → StatefulSet')
  const [[step] = []] = decideStatefulSet(observed({}, deleting), nowMs).groups
  expect(step?.claims.missing.map(({ metadata }) => metadata.ownerReferences)).toEqual([[{ ...owner, blockOwnerDeletion: true }]])
})

test('WL-STS-43: before 1.33 an owner of a claim is not its controller', () => {
  const ownersAt = (level: number) =>
    decideStatefulSet(withMember({}, { ...retention({ whenDeleted: 'Delete' }), level, claims: { 'data-web-0': {} } }), nowMs)
      .groups.flat()
      .flatMap(({ claims }) => claims.owned.flatMap(({ ownerReferences }) => ownerReferences))
  const { controller: _, ...weak } = owner
  expect([ownersAt(32), ownersAt(33)]).toEqual([[weak], [{ ...owner, blockOwnerDeletion: true }]])
})

test('WL-STS-03, WL-STS-04, WL-STS-05: a new Pod has the identity of its ordinal, and its claims replace volumes of the template', () => {
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'tmp', emptyDir: {} },
  ]
  const of = observed({}, { spec: withClaims })
  const update = {
    name: fresh,
    template: { metadata: { labels: { app: 'web' }, annotations: { a: 'b' } }, spec: { containers: [], volumes } },
  }
  const [[step] = []] = decideStatefulSet({ ...of, update }, nowMs).groups
  expect(step?.pod).toMatchObject({
    metadata: {
      name: 'web-0',
      namespace: 'team',
      annotations: { a: 'b' },
      labels: {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': 'web-0',
        'apps.kubernetes.io/pod-index': '0',
        'controller-revision-hash': fresh,
      },
    },
    spec: { hostname: 'web-0', subdomain: 'svc', volumes: [mounted.volumes[0], volumes[1]] },
  })
  expect(step?.claims.missing[0]?.metadata).toMatchObject({ name: 'data-web-0', namespace: 'team', labels: { kind: 'disk', app: 'web' } })
})

test('WL-STS-03: before 1.28 Pods have no ordinal label', () => {
  const [[step] = []] = decideStatefulSet(observed({}, { level: 27 }), nowMs).groups
  expect(Object.keys(step?.pod.metadata.labels ?? {})).toEqual(['app', 'statefulset.kubernetes.io/pod-name', 'controller-revision-hash'])
})

test('WL-STS-09: a Pod without its name label gets its identity', () => {
  const of = observed({ 0: { labels: { app: 'web', [revisionLabel]: fresh } } }, { spec: { replicas: 1 } })
  const [[step] = []] = decideStatefulSet(of, nowMs).groups
  expect([step?.kind, step?.pod.metadata.labels]).toEqual([
    'update',
    { app: 'web', [revisionLabel]: fresh, 'statefulset.kubernetes.io/pod-name': 'web-0', 'apps.kubernetes.io/pod-index': '0' },
  ])
})

test('WL-STS-22: the next pass is when the next Pod becomes available', () => {
  const of = observed({ 0: { readySeconds: 3 }, 1: { readySeconds: 8 } }, { spec: { minReadySeconds: 10 } })
  expect(decideStatefulSet(of, nowMs).waitMs).toBe(2_000)
  expect(decideStatefulSet(observed({ 0: notReady }, { spec: { minReadySeconds: 10 } }), nowMs).waitMs).toBeUndefined()
})

test('WL-COMMON-24: a pass of a set of millions takes 500 steps, and the next pass follows at once', () => {
  const { groups, waitMs } = decideStatefulSet(observed({}, { spec: { ...parallel, replicas: 2 ** 31 - 1 } }), nowMs)
  expect([groups.map((group) => group.length), waitMs]).toEqual([[500], 0])
  expect(stepsOf(observed({}, { spec: { replicas: 2 ** 31 - 1 } }))).toBe('create web-0 of web-new')
})

test('WL-STS-27, WL-STS-37: the update is complete when all Pods are ready and of its revision, with OnDelete from 1.37 on', () => {
  const currentOf = (of: StatefulSetObserved) => decideStatefulSet(of, nowMs).statusAfter(0).currentRevision
  expect(currentOf(observed(all))).toBe(fresh)
  expect(currentOf(observed({ ...all, 1: outdated }))).toBe(old)
  expect(currentOf(observed({ ...all, 1: notReady }))).toBe(old)
  expect([36, 37].map((level) => currentOf(observed(all, { level, spec: onDelete })))).toEqual([old, fresh])
})

test('WL-STS-46: the status has the counts, the revisions and the generation; zeros are omitted except for two counts', () => {
  expect(decideStatefulSet(observed({}), nowMs).statusAfter(0)).toEqual({
    observedGeneration: 2,
    replicas: 0,
    currentRevision: old,
    updateRevision: fresh,
    collisionCount: 0,
    availableReplicas: 0,
  })
})

test('WL-STS-28: Pods that the pass has deleted for the update no longer count for the current revision', () => {
  const { groups, statusAfter } = decideStatefulSet(observed(allOutdated), nowMs)
  expect(groups.flat().map(({ isOutdated }) => isOutdated)).toEqual([true])
  expect(statusAfter(0)).toMatchObject({ replicas: 3, currentReplicas: 3 })
  expect(statusAfter(1)).toMatchObject({ replicas: 3, currentReplicas: 2 })
  const third = decideStatefulSet(observed({ 0: {}, 1: {}, 2: { revision: 'web-third' } }), nowMs)
  expect(third.statusAfter(1)).not.toHaveProperty('currentReplicas')
})

test('WL-STS-47, WL-STS-48: without an update each Pod counts as current and as updated, and there are no conditions', () => {
  const { statusAfter } = decideStatefulSet({ ...observed({ 0: {}, 1: pending }), current: { name: fresh, template } }, nowMs)
  const status = statusAfter(0)
  expect(status).toMatchObject({ replicas: 2, currentReplicas: 2, updatedReplicas: 2 })
  expect(status).not.toHaveProperty('conditions')
})

test('WL-STS-48: with Recreate the condition Progressing reports the deletion of old Pods, the creation of new ones, and the end', () => {
  const after = (members: Members, of: object = {}) => {
    const conditions = decideStatefulSet({ ...observed(members, { spec: recreate }), ...of }, nowMs).statusAfter(0).conditions
    return conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
  }
  expect(after({ ...all, 1: { ...outdated, ...deleted } })).toEqual(['Progressing True RecreateInProgress: Deleting old revision pods'])
  expect(after({ 0: {} })).toEqual(['Progressing True RecreateInProgress: Waiting for new-revision pods to be created'])
  expect(after(all)).toEqual(['Progressing False RecreateCompleted: All pods recreated successfully'])
  expect(after(all, { current: { name: fresh, template } })).toBeUndefined()
})

/** A pass, or the effect of a node on a Pod: it becomes ready, or its deletion completes. */
type Move = 'pass' | { readonly ready: number } | { readonly reap: number }

/** The members after a move. A pass may end after some of its steps, like a process that is killed between two requests. */
function afterMove(members: Members, move: Move, differing: Differing, stepsMax: number): Members {
  const next: Record<number, MemberWords> = { ...members }
  if (move === 'pass') {
    const { groups } = decideStatefulSet(observed(members, differing), nowMs)
    for (const { kind, pod } of groups.flat().slice(0, stepsMax)) {
      const ordinal = Number(pod.metadata.name?.slice('web-'.length))
      if (kind === 'create') next[ordinal] = { ...pending, revision: pod.metadata.labels?.[revisionLabel] ?? '' }
      if (kind === 'delete') next[ordinal] = { ...next[ordinal], isDeleted: true }
    }
  } else if ('ready' in move) {
    const { phase: _, readySeconds: __, ...words } = next[move.ready] ?? {}
    if (next[move.ready] !== undefined && words.isDeleted !== true) next[move.ready] = words
  } else if (next[move.reap]?.isDeleted === true) delete next[move.reap]
  return next
}

const anOrdinal = fc.integer({ min: 0, max: 5 })
const aMove: fc.Arbitrary<Move> = fc.oneof(
  fc.constant<Move>('pass'),
  anOrdinal.map((ready): Move => ({ ready })),
  anOrdinal.map((reap): Move => ({ reap })),
)

test('WL-STS-29, WL-STS-35: an update never exceeds maxUnavailable, and ends, with any interruption of passes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(aMove, fc.integer({ min: 0, max: 3 })), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom('Parallel', 'OrderedReady'),
      (moves, maxUnavailable, podManagementPolicy) => {
        const differing = { spec: { ...rolling({ maxUnavailable }), podManagementPolicy, replicas: 4 } }
        let members: Members = { 0: outdated, 1: outdated, 2: outdated, 3: outdated }
        const unavailable = () =>
          [0, 1, 2, 3].filter((ordinal) => (members[ordinal] ?? pending).isDeleted === true || 'phase' in (members[ordinal] ?? pending))
        for (const [move, stepsMax] of moves) {
          members = afterMove(members, move, differing, stepsMax)
          expect(unavailable().length).toBeLessThanOrEqual(maxUnavailable)
        }
        for (let round = 0; round < 20; round++) {
          members = afterMove(members, 'pass', differing, 4)
          for (const ordinal of [0, 1, 2, 3]) {
            members = afterMove(members, { reap: ordinal }, differing, 0)
            members = afterMove(members, { ready: ordinal }, differing, 0)
          }
        }
        expect(members).toEqual({ 0: { revision: fresh }, 1: { revision: fresh }, 2: { revision: fresh }, 3: { revision: fresh } })
      },
    ),
  )
})
