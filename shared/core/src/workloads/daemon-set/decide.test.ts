import { expect, test } from 'vitest'
import { namesOf } from '../../names.ts'
import type { Pod } from '../pods.ts'
import { aPod, type PodWords } from '../testing/pod-testing.ts'
import { type FailureBackoff, noRemovals } from './backoff.ts'
import { countDaemonPods, decideDaemonSet } from './decide.ts'
import { type DaemonSet, daemonTolerations, podLabels, revisionLabel } from './names.ts'
import type { DaemonSetObserved } from './node-pods.ts'
import { affinityTo, type NodeView, nodeOf, tolerationsOf } from './placement.ts'

const nowMs = Date.UTC(2026, 0, 1)
const tolerations = daemonTolerations(namesOf('kubernetes'))
const fit = { tolerations, hasComparisons: false }

type Spec = DaemonSet['spec']
type Taints = NonNullable<NodeView['spec']['taints']>

interface DaemonWords extends PodWords {
  /** Default: it has the current template. */
  readonly isOld?: boolean
  /** The node for which the Pod is pending. Default: it is bound to `node`. */
  readonly pendingOn?: string
}

interface Differing {
  readonly spec?: Partial<Spec>
  readonly status?: Partial<DaemonSet['status']>
  readonly annotations?: Readonly<Record<string, string>>
  /** Nodes by name, with their taints. */
  readonly nodes?: Readonly<Record<string, Taints>>
  readonly backoff?: FailureBackoff
  readonly level?: number
}

const rolling = (rollingUpdate: NonNullable<Spec['updateStrategy']['rollingUpdate']>): Pick<Spec, 'updateStrategy'> => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
})

/** A set on the nodes a, b and c. Pods have been ready for a minute unless stated otherwise. */
function observed(pods: readonly DaemonWords[], differing: Differing = {}): DaemonSetObserved {
  const { spec, status, annotations, nodes = { a: [], b: [], c: [] }, backoff = noRemovals, level = 37 } = differing
  const set: DaemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'team', uid: 'du', generation: 2, ...(annotations && { annotations }) },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [] } },
      ...spec,
      updateStrategy: spec?.updateStrategy ?? rolling({ maxSurge: 0, maxUnavailable: 1 }).updateStrategy,
    },
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0, ...status },
  }
  return {
    set,
    nodes: Object.entries(nodes).map(([name, taints]) => ({ metadata: { name }, spec: { taints } })),
    pods: pods.map(daemonPod),
    hash: 'new',
    fit,
    backoff,
    level,
  }
}

function daemonPod({ isOld = false, pendingOn, ...words }: DaemonWords): Pod {
  const pod = aPod({ labels: { app: 'agent', [revisionLabel]: isOld ? 'old' : 'new' }, readySeconds: 60, ...words }, nowMs)
  return pendingOn === undefined ? pod : { ...pod, spec: { ...pod.spec, affinity: affinityTo(pendingOn, undefined) } }
}

function stepsOf(of: DaemonSetObserved): string {
  const { createdOn, deleted } = decideDaemonSet(of, nowMs)
  return [...createdOn.map((node) => `create on ${node}`), ...deleted.map(({ metadata }) => `delete ${metadata.name}`)].join(', ')
}

const on = (node: string, words: DaemonWords = {}): DaemonWords => ({ name: node, node, ...words })
const old = (node: string, words: DaemonWords = {}) => on(node, { isOld: true, ...words })
const beside = (node: string, words: DaemonWords = {}) => on(node, { name: `${node}2`, createdSeconds: 30, ...words })
const unready: DaemonWords = { readySeconds: undefined }
const taint = (effect: string) => [{ key: 'k', effect }]
const surge = (maxSurge: number | string) => rolling({ maxSurge, maxUnavailable: 0 })
const allOld = [old('a'), old('b'), old('c')]
const failed: DaemonWords = { phase: 'Failed', readySeconds: undefined }
const succeeded: DaemonWords = { phase: 'Succeeded', readySeconds: undefined }

test.each<[id: string, what: string, of: DaemonSetObserved, steps: string]>([
  ['WL-DS-01', 'no Pods', observed([]), 'create on a, create on b, create on c'],
  ['WL-DS-01', 'a Pod on one node', observed([on('a')]), 'create on b, create on c'],
  ['WL-DS-02', 'a taint NoSchedule', observed([on('a')], { nodes: { a: taint('NoSchedule'), b: taint('NoSchedule') } }), ''],
  ['WL-DS-10', 'a taint NoExecute', observed([on('a')], { nodes: { a: taint('NoExecute') } }), 'delete a'],
  ['WL-DS-08', 'Pods that are not bound yet', observed([on('', { pendingOn: 'a' })], { nodes: { a: [] } }), ''],
  ['WL-DS-09', 'two Pods on one node', observed([on('a'), beside('a')], { nodes: { a: [] } }), 'delete a2'],
  [
    'WL-DS-09',
    'an older Pod that is not bound beside a bound one',
    observed([{ name: 'p', pendingOn: 'a', createdSeconds: 90 }, on('a')], { nodes: { a: [] } }),
    'delete p',
  ],
  ['WL-DS-10', 'a bound Pod whose node is gone', observed([on('gone')], { nodes: {} }), ''],
  ['WL-DS-10', 'a Pod for a node that is gone', observed([{ name: 'p', pendingOn: 'gone' }], { nodes: {} }), 'delete p'],
  ['WL-DS-13', 'a failed Pod', observed([on('a', failed)], { nodes: { a: [] } }), 'delete a'],
  ['WL-DS-13', 'a failed Pod with a surge', observed([on('a', failed)], { nodes: { a: [] }, spec: surge(1) }), 'create on a, delete a'],
  ['WL-DS-13', 'a Pod that has succeeded', observed([on('a', succeeded)], { nodes: { a: [] } }), 'delete a'],
  ['WL-DS-13', 'a Pod that has succeeded at 1.25', observed([on('a', succeeded)], { nodes: { a: [] }, level: 25 }), ''],
  [
    'WL-DS-14',
    'a failed Pod that is being deleted',
    observed([on('a', { ...failed, isDeleted: true })], { nodes: { a: [] } }),
    'create on a',
  ],
  [
    'WL-DS-14',
    'a failed Pod that is being deleted at 1.25',
    observed([on('a', { ...failed, isDeleted: true })], { nodes: { a: [] }, level: 25 }),
    '',
  ],
  ['WL-DS-17', 'an unavailable old Pod', observed([old('a', unready), old('b'), old('c')]), 'delete a'],
  ['WL-DS-17', 'an unavailable old Pod at 1.27', observed([old('a', unready), old('b'), old('c')], { level: 27 }), 'delete a, delete b'],
  ['WL-DS-14', 'a Pod that is being deleted', observed([on('a', { isDeleted: true })], { nodes: { a: [] } }), ''],
  [
    'WL-DS-14',
    'a Pod that is being deleted, with a surge',
    observed([on('a', { isDeleted: true })], { nodes: { a: [] }, spec: surge(1) }),
    'create on a',
  ],
  [
    'WL-DS-14',
    'a failed Pod that is being deleted',
    observed([on('a', { ...failed, isDeleted: true })], { nodes: { a: [] } }),
    'create on a',
  ],
  ['WL-DS-17', 'old Pods', observed(allOld), 'delete a'],
  ['WL-DS-17', 'an old Pod that is not available', observed([old('a'), old('b', unready), old('c')]), 'delete b'],
  ['WL-DS-17', 'a new Pod that is not available', observed([on('a', unready), old('b'), old('c')]), ''],
  ['WL-DS-17', 'a node whose Pod is being deleted', observed([old('a', { isDeleted: true }), old('b'), old('c')]), ''],
  [
    'WL-DS-17',
    'a new Pod that is ready for less than minReadySeconds',
    observed([on('a', { readySeconds: 5 }), old('b'), old('c')], { spec: { minReadySeconds: 10 } }),
    '',
  ],
  [
    'WL-DS-16',
    'maxUnavailable 34 % of 3',
    observed(allOld, { spec: rolling({ maxSurge: 0, maxUnavailable: '34%' }) }),
    'delete a, delete b',
  ],
  ['WL-DS-16', 'no budget at all', observed(allOld, { spec: rolling({ maxSurge: 0, maxUnavailable: 0 }) }), 'delete a'],
  ['WL-DS-16', 'maxSurge 34 % of 3', observed(allOld, { spec: surge('34%') }), 'create on a, create on b'],
  ['WL-DS-18', 'a surge', observed(allOld, { spec: surge(1) }), 'create on a'],
  ['WL-DS-18', 'a surge under way', observed([...allOld, beside('a', unready)], { spec: surge(1) }), ''],
  [
    'WL-DS-18',
    'an old Pod without and a node with a surge',
    observed([old('a', unready), old('b'), old('c')], { spec: surge(1) }),
    'create on a, create on b',
  ],
  ['WL-DS-18', 'a surge whose Pod is available', observed([...allOld, beside('a')], { spec: surge(1) }), 'delete a'],
  [
    'WL-DS-18',
    'an old Pod that is not ready any more',
    observed([old('a', unready), beside('a', unready)], { nodes: { a: [] }, spec: surge(1) }),
    'delete a',
  ],
  [
    'WL-DS-18',
    'an old Pod on a node that is not wanted any more, while others are missing',
    observed([old('a'), on('b', unready)], { nodes: { a: taint('NoSchedule'), b: [] }, spec: surge(1) }),
    '',
  ],
  [
    'WL-DS-18',
    'an old Pod on a node that is not wanted any more, while all others are available',
    observed([old('a'), on('b')], { nodes: { a: taint('NoSchedule'), b: [] }, spec: surge(1) }),
    'delete a',
  ],
  ['WL-DS-19', 'OnDelete', observed(allOld, { spec: { updateStrategy: { type: 'OnDelete' } } }), ''],
  [
    'WL-DS-20',
    'Pods of the generation without the hash',
    observed([on('a', { isOld: true, labels: { 'pod-template-generation': '7' } })], {
      nodes: { a: [] },
      annotations: { 'deprecated.daemonset.template.generation': '7' },
    }),
    '',
  ],
  ['WL-DS-26', 'an old Pod and a missing one', observed([old('a'), old('b')]), 'create on c'],
])('%s: for %s the steps are as expected', (_id, _what, of, steps) => {
  expect(stepsOf(of)).toBe(steps)
})

test('WL-DS-12: a pass creates at most 250 Pods, and deletes at most 250', () => {
  const names = Array.from({ length: 300 }, (_, index) => `n${index}`)
  const nodesWith = (taints: Taints) => Object.fromEntries(names.map((name) => [name, taints]))
  const created = decideDaemonSet(observed([], { nodes: nodesWith([]) }), nowMs)
  const pods = names.map((name) => on(name))
  const deleted = decideDaemonSet(observed(pods, { nodes: nodesWith(taint('NoExecute')) }), nowMs)
  expect([created.createdOn.length, deleted.deleted.length]).toEqual([250, 250])
})

test('WL-DS-13: failed Pods of a node are removed at once, after 1 s, 2 s, and so on up to 15 min', () => {
  let backoff = noRemovals
  let timeMs = nowMs
  const pauses: (number | undefined)[] = []
  const next = () => {
    const plan = decideDaemonSet(observed([on('a', failed)], { nodes: { a: [] }, backoff }), timeMs)
    ;({ backoff } = plan)
    return plan
  }
  for (let round = 0; round < 12; round++) {
    expect(next().ended).toMatchObject([{ node: 'a', phase: 'Failed' }])
    const { ended, deleted, waitMs = 0 } = next()
    expect([ended, deleted]).toEqual([[], []])
    pauses.push(waitMs / 1000)
    timeMs += waitMs
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
})

test('WL-DS-13: the back-off is dropped with the generation, or twice 15 min after the last removal', () => {
  const failing = { nodes: { a: [] } }
  const { backoff } = decideDaemonSet(observed([on('a', failed)], failing), nowMs)
  const next = decideDaemonSet(observed([on('a', failed)], { ...failing, backoff, status: { observedGeneration: 3 } }), nowMs)
  expect(next.ended).toHaveLength(1)
  const later = decideDaemonSet(observed([on('a')], { ...failing, backoff }), nowMs + 30 * 60_000 + 1)
  expect([backoff.byNode.size, later.backoff.byNode.size]).toEqual([1, 0])
})

test('WL-DS-27, WL-DS-28, WL-DS-29: the status counts nodes by their first Pod', () => {
  const nodes = { a: [], b: [], c: [], d: taint('NoSchedule'), e: [] }
  const pods = [on('a'), on('b', { readySeconds: 5 }), old('c'), beside('c'), on('d')]
  const { status } = decideDaemonSet(observed(pods, { nodes, spec: { minReadySeconds: 10 } }), nowMs)
  expect(status).toEqual({
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    desiredNumberScheduled: 4,
    numberReady: 3,
    numberAvailable: 2,
    numberUnavailable: 2,
    updatedNumberScheduled: 2,
    observedGeneration: 2,
  })
})

test('WL-DS-27: zero counts are omitted as in the API, and collisions stay counted', () => {
  const { status } = decideDaemonSet(observed([], { nodes: {}, status: { collisionCount: 1 } }), nowMs)
  const counts = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
  expect(status).toEqual({ ...counts, observedGeneration: 2, collisionCount: 1 })
})

test('WL-DS-26: while earlier writes are not visible, the status keeps the previous generation', () => {
  const found = countDaemonPods(observed([on('a')], { nodes: { a: [] }, status: { observedGeneration: 1 } }), nowMs)
  expect(found).toMatchObject({ currentNumberScheduled: 1, observedGeneration: 1 })
})

test('WL-DS-29: the set is reconciled again when the next Pod counts as available', () => {
  const pods = [on('a', { readySeconds: 5 }), on('b', { readySeconds: 8 }), on('c')]
  expect(decideDaemonSet(observed(pods, { spec: { minReadySeconds: 10 } }), nowMs).waitMs).toBe(2_000)
})

test('WL-DS-04: own tolerations come first, and an added toleration occurs once', () => {
  const own = [
    { key: 'mine', operator: 'Exists' },
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
  ] as const
  const [mine, ...added] = tolerationsOf({ containers: [], hostNetwork: true, tolerations: own }, tolerations)
  expect(mine).toEqual(own[0])
  expect(added).toEqual([...tolerations.all, tolerations.ofHostNetwork])
})

test('WL-DS-06, WL-DS-08: the node name replaces required node affinity, and preferences stay', () => {
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' as const }] } }]
  const nodeAffinity = {
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: preferred.map(({ preference }) => preference) },
  }
  const affinity = affinityTo('a', { nodeAffinity })
  expect(affinity).toEqual({
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
      },
    },
  })
  expect([nodeOf(daemonPod({ pendingOn: 'a' })), nodeOf(daemonPod({ pendingOn: 'a', node: 'b' })), nodeOf(daemonPod({}))]).toEqual([
    'a',
    'b',
    undefined,
  ])
})

test('WL-DS-07: Pods have the labels of the template, its hash and its generation', () => {
  const { set } = observed([], { annotations: { 'deprecated.daemonset.template.generation': '3' } })
  expect(podLabels(set, 'h')).toEqual({ app: 'agent', 'controller-revision-hash': 'h', 'pod-template-generation': '3' })
})
