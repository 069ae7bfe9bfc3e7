import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import { clusterOf } from './lists.ts'
import { NodeInfo } from './node-info.ts'
import type { Node, Pod } from './objects.ts'
import type { FilterName } from './plugin.ts'
import { podInfoOf } from './pod-info.ts'
import { schedulingRules } from './rules.ts'
import { type ClusterChange, wakes } from './wake.ts'

const nodeInfo: Node['status']['nodeInfo'] = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
}

const aNode = (cpu: string, rest: { readonly labels?: Record<string, string>; readonly taint?: string } = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', ...(rest.labels && { labels: rest.labels }) },
  spec: { ...(rest.taint !== undefined && { taints: [{ key: rest.taint, effect: 'NoSchedule' }] }) },
  status: { allocatable: { cpu, memory: '8Gi', pods: '10' }, daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo },
})

const aPod = (spec: Partial<Pod['spec']> = {}, labels: Record<string, string> = {}) =>
  podInfoOf({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team', uid: 'p', labels },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }], ...spec },
    status: {},
  })

const { objects } = clusterOf({})
const node = (after: Node, before?: Node): ClusterChange => ({ kind: 'node', node: new NodeInfo(after), before, objects })
const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', labelSelector: {} }] } }
const selectsApps = [{ topologyKey: 'k', labelSelector: { matchLabels: { app: 'a' } } }]
const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: selectsApps } }
const relabelled = (labels: Record<string, string>, before: Record<string, string>): ClusterChange => ({
  kind: 'podPlaced',
  pod: aPod({}, labels),
  before: aPod({}, before),
  namespaceLabels: {},
})
const placed: ClusterChange = { kind: 'podPlaced', pod: aPod(), namespaceLabels: {} }

test.each<[string, ReadonlyArray<FilterName>, ClusterChange, Partial<Pod['spec']>, boolean, boolean]>([
  ['a node with room', ['NodeResourcesFit'], node(aNode('4')), {}, true, true],
  ['a node that is too small', ['NodeResourcesFit'], node(aNode('1')), {}, false, false],
  ['a node that has grown', ['NodeResourcesFit'], node(aNode('4'), aNode('1')), {}, true, true],
  ['a node with room and a taint', ['NodeResourcesFit'], node(aNode('4', { taint: 'a' })), {}, false, true],
  ['a node without its taint', ['TaintToleration'], node(aNode('4'), aNode('4', { taint: 'a' })), {}, true, true],
  [
    'another label of a tainted node',
    ['TaintToleration'],
    node(aNode('4', { taint: 'a', labels: { x: '1' } }), aNode('4', { taint: 'a' })),
    {},
    false,
    false,
  ],
  [
    'a label that the selector asks for',
    ['NodeAffinity'],
    node(aNode('4', { labels: { x: '1' } }), aNode('4')),
    { nodeSelector: { x: '1' } },
    true,
    true,
  ],
  ['a label that matters to nothing', ['NodeResourcesFit'], node(aNode('4', { labels: { x: '1' } }), aNode('4')), {}, true, false],
  ['a node that is as it was', ['NodeName'], node(aNode('4'), aNode('4')), {}, false, false],
  ['any node, where there was none', [], node(aNode('4')), {}, true, true],
  ['a Pod that leaves, for ports', ['NodePorts'], { kind: 'podGone' }, {}, true, true],
  ['a Pod that leaves, for a taint', ['TaintToleration'], { kind: 'podGone' }, {}, false, false],
  ['a node that goes, for spreading', ['PodTopologySpread'], { kind: 'nodeGone' }, {}, true, true],
  ['a claim, for volumes', ['VolumeBinding'], { kind: 'storage' }, {}, true, true],
  ['a claim, for resources', ['NodeResourcesFit'], { kind: 'storage' }, {}, false, false],
  ['a Pod that an affinity selects', ['InterPodAffinity'], placed, { affinity }, true, true],
  ['a Pod that no affinity selects', ['InterPodAffinity'], placed, {}, false, false],
  [
    'a Pod that no anti-affinity selects any more',
    ['InterPodAffinity'],
    relabelled({}, { app: 'a' }),
    { affinity: antiAffinity },
    false,
    true,
  ],
  [
    'a Pod that an anti-affinity still selects',
    ['InterPodAffinity'],
    relabelled({ app: 'a', x: '1' }, { app: 'a' }),
    { affinity: antiAffinity },
    false,
    false,
  ],
  ['a Pod of the namespace, for spreading', ['PodTopologySpread'], placed, {}, false, true],
])('SCHED-07, SCHED-09: whether a refused Pod is tried again after %s follows its level', (_what, refusedBy, change, spec, at25, at37) => {
  const at = (level: number) =>
    wakes(aPod(spec), new Set(refusedBy), change, schedulingRules({ names: namesOf('kubernetes'), level, isGateOn: () => false }))
  expect([at(25), at(37)]).toEqual([at25, at37])
})
