import { scorePlugins } from '@orch/core/scheduling'
import { expect, test } from 'vitest'
import { type CaseObjects, clusterOf, rulesAt } from './cases/case.ts'

const node = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  status: { allocatable: { cpu: '2', memory: '4Gi' } },
})
const container = { name: 'c' }
const labels = { app: 'web' }
const spread = (topologyKey: string) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: labels },
})

test.each([
  [
    'SCHED-52: the containers of the Pod count without the requests of the Pod itself',
    'NodeResourcesFit',
    { pod: { spec: { containers: [container], resources: { requests: { cpu: '1', memory: '2Gi' } } } }, nodes: [node('a')] },
    [95],
  ],
  [
    'SCHED-57: a node without one of the keys counts for none of them',
    'PodTopologySpread',
    {
      pod: { metadata: { labels }, spec: { containers: [container], topologySpreadConstraints: [spread('zone'), spread('disk')] } },
      pods: [{ metadata: { labels }, spec: { containers: [container], nodeName: 'c' } }],
      nodes: [node('a', { zone: 'x', disk: 'ssd' }), node('b', { zone: 'y', disk: 'ssd' }), node('c', { zone: 'x' })],
    },
    [100, 100, 0],
  ],
])('%s', (_title, name, row, expected) => {
  const objects: CaseObjects = JSON.parse(JSON.stringify(row))
  const { cluster, pod } = clusterOf(objects)
  const plugin = scorePlugins.find((one) => one.name === name)
  expect(plugin?.score({ pod, nodes: cluster.nodes, cluster, rules: rulesAt(37) })).toEqual(expected)
})
