import { expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import { templateHashesAt } from '../hash/content-hash.ts'
import { type DeploymentObserved, decideDeployment, type SetWrite } from './plan.ts'
import { annotationNames } from './revisions.ts'
import type { Deployment, ReplicaSet } from './status.ts'

const nowMs = Date.UTC(2026, 0, 1)
const names = annotationNames(namesOf('kubernetes'))
const labels = { app: 'web' }
const templateOf = (image: string, more: object = {}) => ({
  metadata: { labels: { ...labels, ...more } },
  spec: { containers: [{ name: 'c', image }] },
})

interface SetWords {
  readonly image?: string
  readonly replicas?: number
  readonly available?: number
  readonly revision?: string
  readonly desired?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly status?: object
  readonly ageSeconds?: number
}

/** A ReplicaSet of the Deployment. By default all its Pods are available. */
function aSet(name: string, words: SetWords = {}): ReplicaSet {
  const {
    image = 'img:1',
    replicas = 3,
    available = replicas,
    revision = '1',
    desired = '3',
    annotations,
    status,
    ageSeconds = 100,
  } = words
  return {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name,
      uid: name,
      labels,
      generation: 1,
      creationTimestamp: new Date(nowMs - ageSeconds * 1000).toISOString(),
      annotations: { [names.revision]: revision, [names.desired]: desired, [names.max]: '4', ...annotations },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true }],
    },
    spec: { replicas, selector: { matchLabels: labels }, template: templateOf(image, { 'pod-template-hash': name }) },
    status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1, ...status },
  } as unknown as ReplicaSet
}

const templates = templateHashesAt(37)

function observed(sets: readonly ReplicaSet[], deployment: { metadata?: object; spec?: object; status?: object } = {}): DeploymentObserved {
  const template = deployment.spec !== undefined && 'template' in deployment.spec ? deployment.spec.template : templateOf('img:2')
  return {
    deployment: {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', namespace: 'a', uid: 'u', generation: 2, ...deployment.metadata },
      spec: {
        replicas: 3,
        template: templateOf('img:2'),
        selector: { matchLabels: labels },
        progressDeadlineSeconds: 600,
        ...deployment.spec,
      },
      status: { ...deployment.status },
    } as unknown as Deployment,
    selector: [{ key: 'app', operator: 'In', values: ['web'] }],
    sets,
    templates,
    hasTemplate: (set) => templates.areEqual(set.spec.template ?? {}, template as object),
    annotations: names,
    hasTerminatingReplicas: true,
    cutsLongNames: true,
    hasRunningPods: () => false,
  }
}

/** The writes as text: `create web-x 1`, `a 3 → 2`, `note a`, `delete a`. */
function writesOf(of: DeploymentObserved): string {
  const words = (write: SetWrite) => {
    const { name } = write.set.metadata
    if (write.kind === 'create') return `create ${write.set.spec.replicas}`
    if (write.kind === 'delete') return `delete ${name}`
    return write.resize === undefined ? `note ${name}` : `${name} ${write.resize.from} → ${write.resize.to}`
  }
  return decideDeployment(of, nowMs).writes.map(words).join(', ')
}

const recreate = { strategy: { type: 'Recreate' } }
const done = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 2 }
const empty = { replicas: 0, available: 0, desired: '3' }
const now = (more: SetWords = {}) => aSet('new', { image: 'img:2', revision: '9', ageSeconds: 10, ...more })

test.each<[id: string, what: string, of: DeploymentObserved, writes: string]>([
  ['WL-DEP-03, WL-DEP-04', 'no ReplicaSet', observed([]), 'create 3'],
  ['WL-DEP-19', 'an old ReplicaSet', observed([aSet('a')]), 'create 1'],
  ['WL-DEP-21', 'an old and a new one that is available', observed([aSet('a'), now({ replicas: 1 })]), 'a 3 → 2'],
  [
    'WL-DEP-22, WL-DEP-23',
    'Pods of the old one that are not available',
    observed([aSet('a', { available: 2 }), now({ replicas: 2 })]),
    'a 3 → 2, a 2 → 1',
  ],
  ['WL-DEP-02', 'two with its template', observed([now(), aSet('b', { image: 'img:2', revision: '3', ageSeconds: 5 })]), 'b 3 → 0'],
  ['WL-DEP-12', 'other minReadySeconds', observed([now()], { spec: { minReadySeconds: 5 } }), 'note new'],
  ['WL-DEP-06', 'another annotation', observed([now()], { metadata: { annotations: { note: 'x' } } }), 'note new'],
  [
    'WL-DEP-08',
    'an old template that is new again',
    observed([aSet('a', { revision: '7' }), now({ replicas: 1, revision: '2' })]),
    'note new, a 3 → 2',
  ],
  ['WL-DEP-09', 'the count of a collision', observed([], { status: { collisionCount: 1 } }), 'create 3'],
  ['WL-DEP-26, WL-DEP-27', 'another wish', observed([now({ replicas: 3 })], { spec: { replicas: 5 } }), 'new 3 → 5'],
  ['WL-DEP-28', 'a new one that is full, and an old one', observed([aSet('a', { desired: '4' }), now()]), 'a 3 → 0'],
  [
    'WL-DEP-26, WL-DEP-60',
    'an old one with the note of another wish, and another template',
    observed([aSet('a', { replicas: 2 })], { spec: { replicas: 4 } }),
    'a 2 → 4',
  ],
  ['WL-DEP-34', 'Recreate and an old one', observed([aSet('a')], { spec: recreate }), 'a 3 → 0'],
  ['WL-DEP-35', 'Recreate and Pods of an old one', { ...observed([aSet('a', empty)], { spec: recreate }), hasRunningPods: () => true }, ''],
  ['WL-DEP-36', 'Recreate and no Pod left', observed([aSet('a', empty)], { spec: recreate }), 'create 3'],
  ['WL-DEP-36', 'Recreate and a new one without Pods', observed([now(empty)], { spec: recreate }), 'new 0 → 3'],
  ['WL-DEP-38', 'a pause', observed([aSet('a')], { spec: { paused: true } }), ''],
  ['WL-DEP-40', 'a pause from the start', observed([], { spec: { paused: true } }), ''],
  ['WL-DEP-38', 'a pause and another wish', observed([aSet('a')], { spec: { paused: true, replicas: 4 } }), 'a 3 → 4'],
  [
    'WL-DEP-14',
    'a pause and history',
    observed([aSet('a', empty), now()], { spec: { paused: true, revisionHistoryLimit: 0 } }),
    'delete a',
  ],
  [
    'WL-DEP-13',
    'more history than it keeps',
    observed([aSet('a', { ...empty, revision: '3' }), aSet('b', { ...empty, revision: '2', ageSeconds: 5 }), now()], {
      spec: { revisionHistoryLimit: 1 },
      status: done,
    }),
    'delete b',
  ],
  [
    'WL-DEP-14',
    'history of which some has Pods',
    observed([aSet('a', { ...empty, status: { replicas: 1 } }), now()], { spec: { revisionHistoryLimit: 0 }, status: done }),
    '',
  ],
  [
    'WL-DEP-13',
    'history without a limit',
    observed([aSet('a', empty), now()], { spec: { revisionHistoryLimit: 2 ** 31 - 1 }, status: done }),
    '',
  ],
  ['WL-DEP-56', 'a deletion', observed([aSet('a')], { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), ''],
])('%s: with %s the writes are as expected', (_id, _what, of, writes) => {
  expect(writesOf(of)).toBe(writes)
})

test.each<[what: string, spec: object]>([
  ['replicas', { replicas: 5 }],
  ['paused', { paused: true }],
  ['minReadySeconds', { minReadySeconds: 5 }],
  ['strategy', recreate],
  ['revisionHistoryLimit', { revisionHistoryLimit: 1 }],
  ['progressDeadlineSeconds', { progressDeadlineSeconds: 5 }],
])('WL-DEP-58: a change of %s makes no new revision', (_what, spec) => {
  const before = decideDeployment(observed([now()]), nowMs)
  const plan = decideDeployment(observed([now()], { spec }), nowMs)
  expect([plan.revision, plan.writes.filter(({ kind }) => kind === 'create')]).toEqual([before.revision, []])
})

test('WL-DEP-08: a revision is a number of 64 bits', () => {
  const revision = '3546343826724305832'
  expect(decideDeployment(observed([aSet('a', { revision })]), nowMs).revision).toBe('3546343826724305833')
  expect(decideDeployment(observed([aSet('a', { revision: `${revision}0` })]), nowMs).revision).toBe('1')
  expect(decideDeployment(observed([aSet('a', { revision: '9223372036854775807' })]), nowMs).revision).toBe('-9223372036854775808')
})

test('WL-DEP-01: a ReplicaSet without a controller is adopted if its labels match, and is then one of the Deployment', () => {
  const orphan = (name: string, own: Readonly<Record<string, string>>): ReplicaSet => {
    const { ownerReferences: _, ...metadata } = aSet(name).metadata
    return { ...aSet(name), metadata: { ...metadata, labels: own } }
  }
  const of = observed([orphan('a', labels), orphan('b', { app: 'other' })])
  expect(decideDeployment(of, nowMs).adopted.map(({ metadata }) => metadata.name)).toEqual(['a'])
  expect(decideDeployment(of, nowMs).statusAfter({ kind: 'written' })).toMatchObject({ replicas: 3 })
})

/** The conditions as `TYPE=STATUS REASON: MESSAGE`. */
const conditionsOf = ({
  conditions = [],
}: {
  conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
}) => conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
const available = 'Available=True MinimumReplicasAvailable: Deployment has minimum availability.'
const unavailable = 'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.'
const progressing = (reason: string, secondsAgo: number, status = 'True') => ({
  type: 'Progressing',
  status,
  reason,
  lastUpdateTime: new Date(nowMs - secondsAgo * 1000).toISOString(),
})
const stuck = [aSet('a', empty), now({ available: 1, status: { replicas: 1 } })]
const stuckStatus = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }

test.each<[id: string, what: string, of: DeploymentObserved, conditions: readonly string[], waitMs?: number]>([
  [
    'WL-DEP-44',
    'all Pods new and available',
    observed([now()]),
    [available, 'Progressing=True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.'],
  ],
  [
    'WL-DEP-45',
    'a Pod that is new',
    observed([now({ available: 0 })], { status: { conditions: [progressing('X', 5)] } }),
    [unavailable, 'Progressing=True ReplicaSetUpdated: ReplicaSet "new" is progressing.'],
    601_000,
  ],
  [
    'WL-DEP-46',
    'no progress for a while',
    observed(stuck, { status: { ...stuckStatus, conditions: [progressing('X', 599)] } }),
    ['Progressing=True X: undefined', unavailable],
    2_000,
  ],
  [
    'WL-DEP-46',
    'no progress for too long',
    observed(stuck, { status: { ...stuckStatus, conditions: [progressing('X', 601)] } }),
    [unavailable, 'Progressing=False ProgressDeadlineExceeded: ReplicaSet "new" has timed out progressing.'],
  ],
  [
    'WL-DEP-47',
    'no new ReplicaSet and fewer old Pods',
    { ...observed([aSet('a', empty)], { spec: recreate, status: { replicas: 3 } }), hasRunningPods: () => true },
    [unavailable, 'Progressing=True ReplicaSetUpdated: Deployment "web" is progressing.'],
    601_000,
  ],
  [
    'WL-DEP-49',
    'no deadline',
    observed([now()], { spec: { progressDeadlineSeconds: 2 ** 31 - 1 }, status: { conditions: [progressing('X', 1)] } }),
    [available],
  ],
  [
    'WL-DEP-48',
    'a rollout that is over and has lost Pods',
    observed([now({ available: 1 })], { status: { conditions: [progressing('NewReplicaSetAvailable', 9_999)] } }),
    ['Progressing=True NewReplicaSetAvailable: undefined', unavailable],
    1_000,
  ],
  [
    'WL-DEP-50',
    'a ReplicaSet that fails',
    observed([now({ status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no room' }] } })]),
    [
      available,
      'Progressing=True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.',
      'ReplicaFailure=True FailedCreate: no room',
    ],
  ],
  [
    'WL-DEP-50',
    'a failure that is over',
    observed([now()], { status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] } }),
    [available, 'Progressing=True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.'],
  ],
  [
    'WL-DEP-39',
    'a pause',
    observed([now()], { spec: { paused: true } }),
    ['Progressing=Unknown DeploymentPaused: Deployment is paused', available],
  ],
  [
    'WL-DEP-39',
    'the end of a pause',
    observed(stuck, { status: { ...stuckStatus, conditions: [progressing('DeploymentPaused', 9_999, 'Unknown')] } }),
    ['Progressing=Unknown DeploymentResumed: Deployment is resumed', unavailable],
    601_000,
  ],
  [
    'WL-DEP-39',
    'a pause after the deadline',
    observed([now()], { spec: { paused: true }, status: { conditions: [progressing('ProgressDeadlineExceeded', 5, 'False')] } }),
    ['Progressing=False ProgressDeadlineExceeded: undefined', available],
  ],
])('%s: with %s the conditions are as expected', (_id, _what, of, conditions, waitMs) => {
  const plan = decideDeployment(of, nowMs)
  expect(conditionsOf(plan.statusAfter({ kind: 'written' }))).toEqual(conditions)
  expect(plan.waitMs).toBe(waitMs)
})

test('WL-DEP-05, WL-DEP-07: a new ReplicaSet has the annotations of the Deployment, its revision and the notes of its size', () => {
  const annotations = { note: 'x', [names.lastApplied]: '{}', [names.revision]: '1' }
  const plan = decideDeployment(observed([aSet('a', { revision: '4' })], { metadata: { annotations } }), nowMs)
  expect(plan.writes[0]?.set.metadata.annotations).toEqual({ note: 'x', [names.revision]: '5', [names.desired]: '3', [names.max]: '4' })
  expect(plan.revision).toBe('5')
})

test('WL-DEP-09, WL-DEP-10, WL-DEP-11: the status reports a creation, a collision and a refusal', () => {
  const plan = decideDeployment(observed([], { status: { collisionCount: 2 } }), nowMs)
  const name = plan.writes[0]?.set.metadata.name
  expect(conditionsOf(plan.statusAfter({ kind: 'written' }))).toContain(
    `Progressing=True NewReplicaSetCreated: Created new replica set "${name}"`,
  )
  expect(plan.statusAfter({ kind: 'collision' })).toEqual({ collisionCount: 3 })
  const refused = plan.statusAfter({ kind: 'refused', message: 'no room' })
  expect(conditionsOf(refused)).toContain(`Progressing=False ReplicaSetCreateError: Failed to create new replica set "${name}": no room`)
})

test('WL-HASH-16: the name of a long Deployment is cut from 1.34 on', () => {
  const long = observed([], { metadata: { name: 'x'.repeat(253) } })
  const lengthOf = (of: DeploymentObserved) => decideDeployment(of, nowMs).writes[0]?.set.metadata.name?.length
  expect([lengthOf(long), (lengthOf({ ...long, cutsLongNames: false }) ?? 0) > 253]).toEqual([253, true])
})

test.each<[what: string, to: string, image: string, event: string]>([
  ['a revision', '1', 'img:1', 'Normal DeploymentRollback Rolled back deployment "web" to revision 1'],
  ['the last revision', '0', 'img:1', 'Normal DeploymentRollback Rolled back deployment "web" to revision 1'],
  ['no known revision', '5', 'img:2', 'Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to.'],
  [
    'the present one',
    '9',
    'img:2',
    'Warning DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"',
  ],
])('WL-DEP-16: the annotation of extensions/v1beta1 that asks for %s', (_what, to, image, event) => {
  const annotations = { cause: 'new', [names.rollbackTo]: to, [names.revision]: '9' }
  const sets = [aSet('a', { annotations: { cause: 'old' } }), now({ annotations: { cause: 'new' } })]
  const { rollback } = decideDeployment(observed(sets, { metadata: { annotations } }), nowMs)
  const { replacement, type, reason, message } = rollback!
  expect(`${type} ${reason} ${message}`).toBe(event)
  expect(replacement.metadata.annotations).toEqual({ cause: image === 'img:1' ? 'old' : 'new', [names.revision]: '9' })
  expect(replacement.spec.template).toEqual(templateOf(image))
})
