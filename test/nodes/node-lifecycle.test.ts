import { expect, onTestFinished, test } from 'vitest'
import { type NodeCluster, openNodeCluster } from './cluster.ts'

const versions = ['1.25', '1.37'] as const
type Version = (typeof versions)[number]

/** A cluster whose nodes have just reported and whose controllers have seen the nodes. */
async function aCluster(
  version: Version,
  names: readonly string[],
  controllers: readonly string[] = ['nodelifecycle', 'taint-eviction'],
): Promise<NodeCluster> {
  const cluster = await openNodeCluster({ version, controllers })
  onTestFinished(() => cluster.server.stop())
  for (const name of names) {
    await cluster.createNode(name)
    await cluster.report(name)
  }
  await cluster.clock.advance('5s')
  return cluster
}

const taintsOf = async ({ node }: NodeCluster, name: string) =>
  ((await node(name)).spec.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).toSorted()
const lostTaints = ['unreachable:NoExecute', 'unreachable:NoSchedule']

/** Lets time pass while some nodes renew their leases. */
async function pass(cluster: NodeCluster, seconds: number, alive: readonly string[]) {
  for (let passed = 0; passed < seconds; passed += 10) {
    for (const name of alive) await cluster.renewLease(name)
    await cluster.clock.advance('10s')
  }
}

const readyPod = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', reason: 'Up' }] }

test.each(versions)(
  'NODE-LC-02, NODE-LC-04, WL-NODE-05, WL-NODE-06: a node of level %s stops, loses its Pods, and returns',
  async (version) => {
    const cluster = await aCluster(version, ['dead', 'alive'])
    const { createPod, patchPod, pod, node, report, events, clock } = cluster
    await createPod('p', { spec: { nodeName: 'dead' } })
    await patchPod('p', readyPod)
    await createPod('q', { spec: { nodeName: 'alive' } })
    await patchPod('q', readyPod)
    const isNew = version === '1.37'
    await pass(cluster, isNew ? 50 : 40, ['alive'])
    expect([await taintsOf(cluster, 'dead'), await taintsOf(cluster, 'alive')]).toEqual([[], []])
    await pass(cluster, 10, ['alive'])
    const { conditions = [] } = (await node('dead')).status
    expect(conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`)).toEqual([
      'Ready Unknown NodeStatusUnknown Kubelet stopped posting node status.',
      ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map(
        (type) => `${type} Unknown NodeStatusNeverUpdated Kubelet never posted node status.`,
      ),
    ])
    expect(conditions[0]?.lastHeartbeatTime).toBe('2026-01-01T00:00:00Z')
    expect([await taintsOf(cluster, 'dead'), await taintsOf(cluster, 'alive')]).toEqual([lostTaints, []])
    expect((await pod('p'))?.status.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Up' }])
    expect((await pod('q'))?.status.conditions).toMatchObject([{ type: 'Ready', status: 'True' }])
    await pass(cluster, 290, ['alive'])
    expect((await pod('p'))?.metadata.deletionTimestamp).toBeUndefined()
    await pass(cluster, 10, ['alive'])
    expect([(await pod('p'))?.metadata.deletionTimestamp !== undefined, (await pod('q'))?.metadata.deletionTimestamp]).toEqual([
      true,
      undefined,
    ])
    expect(await events()).toEqual([
      'node-controller Normal NodeNotReady Node dead status is now: NodeNotReady',
      'node-controller Normal RegisteredNode Node alive event: Registered Node alive in Controller',
      'node-controller Normal RegisteredNode Node dead event: Registered Node dead in Controller',
      'node-controller Warning NodeNotReady Node is not ready',
      `${isNew ? 'taint-eviction-controller' : 'taint-controller'} Normal TaintManagerEviction Marking for deletion Pod default/p`,
    ])
    await report('dead')
    await clock.advance('5s')
    expect(await taintsOf(cluster, 'dead')).toEqual([])
  },
)

test('NODE-LC-01, NODE-LC-02, WL-NODE-05: a node that never reports is Unknown after a minute, and its bound Pods are not ready', async () => {
  const cluster = await aCluster('1.37', ['other'], ['nodelifecycle'])
  const { createNode, createPod, patchPod, pod, node, clock } = cluster
  await createNode('silent')
  await pass(cluster, 60, ['other'])
  expect((await node('silent')).status.conditions ?? []).toEqual([])
  await clock.advance('5s')
  expect((await node('silent')).status.conditions?.map(({ reason }) => reason)).toEqual(
    Array.from({ length: 4 }, () => 'NodeStatusNeverUpdated'),
  )
  await createPod('late')
  await patchPod('late', readyPod)
  await cluster.server.client.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/pods/late/binding',
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'late' }, target: { kind: 'Node', name: 'silent' } },
  })
  await clock.advance('1s')
  expect((await pod('late'))?.status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False')
})

test('NODE-LC-05, NODE-LC-13, WL-NODE-10, WL-NODE-11: NoSchedule taints and labels are updated at once, and other taints stay', async () => {
  const cluster = await aCluster('1.37', ['n'], ['nodelifecycle'])
  const { patchNode, report, clock, node } = cluster
  const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'amd64' }
  const own = { key: 'node.kubernetes.io/memory-pressure', effect: 'PreferNoSchedule' }
  await patchNode('n', { metadata: { labels }, spec: { unschedulable: true, taints: [own] } })
  await report('n', { Ready: 'True', MemoryPressure: 'True', DiskPressure: 'False', PIDPressure: 'True', NetworkUnavailable: 'True' })
  await clock.advance('100ms')
  const ofConditions = ['memory-pressure', 'network-unavailable', 'pid-pressure', 'unschedulable'].map((name) => `${name}:NoSchedule`)
  expect(await taintsOf(cluster, 'n')).toEqual(['memory-pressure:PreferNoSchedule', ...ofConditions].toSorted())
  expect((await node('n')).metadata.labels).toMatchObject({ 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': 'arm64' })
  expect((await node('n')).spec.taints?.at(-1)?.timeAdded).toBe('2026-01-01T00:00:05Z')
  await patchNode('n', { spec: { unschedulable: null } })
  await report('n', { MemoryPressure: 'False', PIDPressure: 'False', NetworkUnavailable: 'False' })
  await clock.advance('100ms')
  expect(await taintsOf(cluster, 'n')).toEqual(['memory-pressure:PreferNoSchedule'])
})

test('NODE-LC-04: a node that reports not ready gets another taint, which is removed when it is ready', async () => {
  const cluster = await aCluster('1.37', ['n', 'other'], ['nodelifecycle'])
  const { report, clock } = cluster
  await report('n', { Ready: 'False' })
  await clock.advance('5s')
  expect(await taintsOf(cluster, 'n')).toEqual(['not-ready:NoExecute', 'not-ready:NoSchedule'])
  await pass(cluster, 60, ['other'])
  expect(await taintsOf(cluster, 'n')).toEqual(lostTaints)
  await report('n')
  await clock.advance('5s')
  expect(await taintsOf(cluster, 'n')).toEqual([])
})

test('NODE-LC-11, NODE-LC-12, WL-NODE-14: nodes of one zone lose their Pods one after another, ten seconds apart', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const cluster = await aCluster('1.37', names, ['nodelifecycle'])
  for (const name of ['a', 'b', 'c']) await cluster.report(name, { Ready: 'False' })
  const tainted = async () => {
    const lists = await Promise.all(names.map((name) => taintsOf(cluster, name)))
    return lists.filter((taints) => taints.includes('not-ready:NoExecute')).length
  }
  const found: number[] = []
  for (const duration of ['5s', '9s', '1s', '9s', '1s']) {
    await cluster.clock.advance(duration)
    found.push(await tainted())
  }
  expect(found).toEqual([1, 1, 2, 2, 3])
})

test('NODE-LC-11: while all nodes are silent no node loses its Pods, and the timers restart when the first node returns', async () => {
  const cluster = await aCluster('1.37', ['a', 'b'])
  const { createPod, pod, report, clock } = cluster
  await createPod('p', { spec: { nodeName: 'a' } })
  await clock.advance('1h')
  const noSchedule = ['unreachable:NoSchedule']
  expect([await taintsOf(cluster, 'a'), await taintsOf(cluster, 'b')]).toEqual([noSchedule, noSchedule])
  await report('b')
  await clock.advance('5s')
  expect([await taintsOf(cluster, 'a'), await taintsOf(cluster, 'b')]).toEqual([noSchedule, []])
  await pass(cluster, 60, ['b'])
  expect(await taintsOf(cluster, 'a')).toEqual(lostTaints)
  expect((await pod('p'))?.metadata.deletionTimestamp).toBeUndefined()
})

test('NODE-LC-07, NODE-LC-16, NODE-LC-17: a deleted node has an event, and another node is Unknown a day later', async () => {
  const cluster = await aCluster('1.37', ['a', 'b'], ['nodelifecycle'])
  const { deleteNode, clock, events } = cluster
  await deleteNode('a')
  await clock.advance('5s')
  expect(await events()).toContain('node-controller Normal RemovingNode Node a event: Removing Node a from Controller')
  await clock.advance('24h')
  expect(await taintsOf(cluster, 'b')).toEqual(['unreachable:NoSchedule'])
})

test('NODE-LC-17, NODE-GOAL-02: two servers with one seed and a failing node store the same, including events', async () => {
  const dumpOf = async () => {
    const cluster = await aCluster('1.37', ['dead', 'alive'], ['nodelifecycle', 'taint-eviction', 'podgc'])
    for (const name of ['p', 'q', 'r']) {
      await cluster.createPod(name, { spec: { nodeName: 'dead' } })
      await cluster.patchPod(name, readyPod)
    }
    await pass(cluster, 370, ['alive'])
    await cluster.deleteNode('dead')
    await cluster.clock.advance('1m')
    return cluster.server.dump()
  }
  expect(await dumpOf()).toBe(await dumpOf())
})
