import { choose, clusterOf, fittingNodes, type Node, type Pod, podInfoOf, preempt } from '@orch/core/scheduling'
import { describe, expect, test } from 'vitest'
import { rulesAt } from './case.ts'

const rules = rulesAt(25)
const first = () => 0

function aNode(name: string, cpu = '4'): Node {
  const object = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {},
    status: { allocatable: { cpu, memory: '8Gi', pods: '110' } },
  }
  return JSON.parse(JSON.stringify(object))
}

function aPod(name: string, { cpu = '1', priority = 0, nominated = '' } = {}) {
  const containers = [{ name: 'main', resources: { requests: { cpu } } }]
  const metadata = { name, namespace: 'default', uid: name }
  const status = nominated === '' ? {} : { nominatedNodeName: nominated }
  const pod: Pod = JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, priority }, status }))
  return podInfoOf(pod)
}

const aCluster = (...nodes: readonly Node[]) => clusterOf({ nodes, pods: [] })
const numbered = (count: number) => Array.from({ length: count }, (_, index) => aNode(`n${index}`))

test('SCHED-12: a Pod goes to its nominated node, even if others score higher, unless it does not fit there', () => {
  const cluster = aCluster(aNode('small', '2'), aNode('large', '64'))
  const placed = (cpu: string) => choose(aPod('p', { cpu, nominated: 'small' }), cluster, { rules, random: first, startAt: 0 })
  expect(placed('1')).toMatchObject({ kind: 'placed', node: 'small' })
  expect(placed('3')).toMatchObject({ kind: 'placed', node: 'large' })
})

test('SCHED-13: a drawn number decides among equal nodes', () => {
  const cluster = aCluster(...numbered(4))
  const placed = (number: number) => choose(aPod('p'), cluster, { rules, random: () => number, startAt: 0 })
  expect([0, 0.25, 0.5, 0.75, 0.75].map((number) => placed(number))).toMatchObject(['n0', 'n1', 'n2', 'n3', 'n3'].map((node) => ({ node })))
})

// Numbers from the formula of kube-scheduler 1.25.
test.each([
  [1, 1],
  [99, 99],
  [100, 100],
  [101, 100],
  [249, 122],
  [250, 120],
  [1000, 420],
  [6000, 300],
])('SCHED-51: of %i fitting nodes %i are found, starting at the given node', (count, found) => {
  const fitting = fittingNodes(aPod('p'), aCluster(...numbered(count)), { rules, startAt: count - 1 })
  const nodes = fitting.kind === 'fitting' ? fitting.nodes.map(({ name }) => name) : []
  expect([nodes.length, nodes[0]]).toEqual([found, `n${count - 1}`])
})

describe('SCHED-66: the search for victims', () => {
  /** Nodes that are full with one Pod each; on one node the Pod has a lower priority than on the others. */
  const victimsIn = (count: number, random: () => number, least = -1) => {
    const cluster = aCluster(...numbered(count))
    for (let index = 0; index < count; index++) {
      cluster.addPod(aPod(`low${index}`, { cpu: '4', priority: index === least ? 1 : 2 }), `n${index}`)
    }
    const pod = aPod('high', { cpu: '4', priority: 10 })
    const decision = choose(pod, cluster, { rules, random, startAt: 0 })
    if (decision.kind !== 'refused') throw new Error(`a Pod for a full cluster is ${decision.kind}`)
    return preempt(pod, cluster, decision, { rules, random, budgets: [] })
  }

  test('starts at the node that the number selects', () => {
    expect(victimsIn(4, () => 0)).toMatchObject({ kind: 'victims', node: 'n0' })
    expect(victimsIn(4, () => 0.5)).toMatchObject({ kind: 'victims', node: 'n2' })
  })

  test('covers only a hundred nodes of a large cluster', () => {
    expect(victimsIn(300, () => 0, 99)).toMatchObject({ kind: 'victims', node: 'n99' })
    expect(victimsIn(300, () => 0, 100)).toMatchObject({ kind: 'victims', node: 'n0' })
    expect(victimsIn(300, () => 0.5, 100)).toMatchObject({ kind: 'victims', node: 'n150' })
  })
})

test('SCHED-68: Pods of a deleted node count again when the node is back', () => {
  const cluster = aCluster(aNode('n1'), aNode('n2', '1'))
  cluster.addPod(aPod('there', { cpu: '4' }), 'n1')
  const nodeOf = () => fittingNodes(aPod('p', { cpu: '1' }), cluster, { rules, startAt: 0 })
  expect(nodeOf()).toMatchObject({ kind: 'fitting', nodes: [{ name: 'n2' }] })
  cluster.removeNode('n1')
  cluster.setNode(aNode('n1'))
  expect(nodeOf()).toMatchObject({ kind: 'fitting', nodes: [{ name: 'n2' }] })
  cluster.removePod('default/there')
  expect(nodeOf()).toMatchObject({ kind: 'fitting', nodes: [{ name: 'n2' }, { name: 'n1' }] })
})

test('the counts of Pods of a node are cached until a Pod is added, removed or changed', () => {
  const cluster = aCluster(aNode('n1'))
  const looked: string[] = []
  const count = (what: string) =>
    cluster.node('n1')?.countPods(what, ({ pod }) => {
      looked.push(pod.metadata.name ?? '')
      return pod.metadata.name !== 'b'
    })
  for (const name of ['a', 'b', 'c']) cluster.addPod(aPod(name), 'n1')
  expect([count('x'), count('x'), looked.splice(0)]).toEqual([2, 2, ['a', 'b', 'c']])
  expect([count('y'), looked.splice(0)]).toEqual([2, ['a', 'b', 'c']])
  cluster.addPod(aPod('d'), 'n1')
  expect([count('x'), looked.splice(0)]).toEqual([3, ['a', 'b', 'c', 'd']])
  cluster.removePod('default/a')
  expect([count('x'), count('x'), looked]).toEqual([2, 2, ['b', 'c', 'd']])
})
