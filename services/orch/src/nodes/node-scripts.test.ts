import type { ApiObject } from '@orch/core/meta'
import { refuse } from '@orch/gateway'
import { virtualClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

interface NodeSeen extends ApiObject {
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly value?: string }[] }
  readonly status: {
    readonly capacity?: Readonly<Record<string, string>>
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[]
  }
}

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

async function aServer(options: StartOptions = {}) {
  const clock = virtualClock({ start: new Date('2030-01-01T00:00:00Z') })
  const server = await start({ profile: 'kubernetes', nodes: 2, clock, seed: 7, ...options })
  onTestFinished(() => server.stop())
  const { client } = server
  const settled = () => server.settled({ within: 60_000 })
  const nodes = client.resource<NodeSeen>({ group: '', version: 'v1', plural: 'nodes', namespaced: false })
  const scripts = client.resource<Any>({ group: 'simulation.orch.io', version: 'v1', plural: 'nodescripts', namespaced: false })
  const script = (name: string, spec: object) =>
    scripts.create({ apiVersion: 'simulation.orch.io/v1', kind: 'NodeScript', metadata: { name }, spec })
  await settled()
  return { server, clock, settled, nodes, scripts, script }
}

const conditionOf = ({ status }: NodeSeen, type: string) => status.conditions?.find((one) => one.type === type)

test('a deferred resize is accepted when the node reports more resources', async () => {
  const { server, settled, script } = await aServer()
  const pods = server.client.resource<Any>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const spec = (cpu: string) => ({ containers: [{ name: 'main', image: 'img:1', resources: { requests: { cpu } } }] })
  const metadata = { namespace: 'default' }
  for (const [name, cpu] of [['other', '5'] as const, ['web', '1'] as const])
    await pods.create({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec: { ...spec(cpu), nodeName: 'node-1' } })
  await settled()
  await pods.patch('web', { spec: spec('4') }, { type: 'strategic', subresource: 'resize', ...metadata })
  await settled()
  expect((await pods.get('web', metadata))['status']).toMatchObject({ containerStatuses: [{ allocatedResources: { cpu: '1' } }] })
  await script('larger', { capacity: { cpu: '16' } })
  await settled()
  expect((await pods.get('web', metadata))['status']).toMatchObject({ containerStatuses: [{ allocatedResources: { cpu: '4' } }] })
})

test('NODE-SIM-07: a NodeScript sets capacity, labels and taints of nodes, and conditions at set times', async () => {
  const { clock, settled, nodes, scripts, script } = await aServer()
  const selector = { matchLabels: { 'kubernetes.io/hostname': 'node-1' } }
  await script('all', { labels: { pool: 'all' } })
  await script('one', {
    selector,
    capacity: { 'example.com/gpu': 4, pods: '10' },
    labels: { pool: 'gpu' },
    taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
    at: [
      { after: '60s', pressures: ['MemoryPressure'] },
      { after: '2m', pressures: [], notReady: 'the runtime is down' },
      { after: '3m', notReady: '' },
    ],
  })
  await settled()
  const [one, two] = await Promise.all(['node-1', 'node-2'].map((name) => nodes.get(name)))
  expect(one).toMatchObject({ metadata: { labels: { pool: 'gpu' } }, status: { capacity: { 'example.com/gpu': '4', pods: '10' } } })
  expect(one?.spec.taints).toEqual([{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }])
  expect(two).toMatchObject({ metadata: { labels: { pool: 'all' } }, status: { capacity: { pods: '110' } } })
  expect((await scripts.get('one'))['status']).toEqual({ matchedNodes: 1 })
  const look = async (time: string, type: string) => {
    await clock.advance(time)
    await settled()
    return conditionOf(await nodes.get('node-1'), type)
  }
  expect(await look('61s', 'MemoryPressure')).toMatchObject({ status: 'True', reason: 'KubeletHasInsufficientMemory' })
  expect(await look('60s', 'Ready')).toMatchObject({ status: 'False', reason: 'KubeletNotReady', message: 'the runtime is down' })
  expect(conditionOf(await nodes.get('node-1'), 'MemoryPressure')).toMatchObject({ status: 'False' })
  expect(await look('60s', 'Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' })
  await scripts.delete('one')
  await settled()
  expect((await scripts.get('all'))['status']).toEqual({ matchedNodes: 2 })
  const { metadata, status } = await nodes.get('node-1')
  expect(metadata.labels).toMatchObject({ pool: 'all' })
  const without = { 'example.com/gpu': '0', pods: '110' }
  expect(status).toMatchObject({ capacity: without, allocatable: without })
})

test('a resource that a client adds to the capacity of a node is allocatable after the next report', async () => {
  const { clock, settled, nodes } = await aServer()
  await nodes.patch('node-1', { status: { capacity: { 'example.com/dongle': '4' } } }, { type: 'merge', subresource: 'status' })
  await clock.advance('11s')
  await settled()
  expect(await nodes.get('node-1')).toMatchObject({ status: { allocatable: { 'example.com/dongle': '4', cpu: '8' } } })
})

test('NODE-SIM-54, NODE-LC-02: a NodeScript switches a node off and on again', async () => {
  const { clock, settled, nodes, script } = await aServer()
  await script('fails', {
    selector: { matchLabels: { 'kubernetes.io/hostname': 'node-2' } },
    at: [
      { after: '10s', kubelet: 'Stopped' },
      { after: '3m', kubelet: 'Running' },
    ],
  })
  await settled()
  await clock.advance('90s')
  await settled()
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'Unknown' })
  expect(conditionOf(await nodes.get('node-1'), 'Ready')).toMatchObject({ status: 'True' })
  await clock.advance('2m')
  await settled()
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'True' })
})

test('a graceful shutdown of a node ends its Pods by their priority, refuses new ones, and switches the node off', async () => {
  const { server, clock, settled, nodes, script } = await aServer()
  const pods = server.client.resource<Any>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const create = async (name: string, more: object = {}) => {
    const metadata = { name, namespace: 'kube-system', annotations: { 'simulation.orch.io/shutdown': '5s' } }
    await pods.create({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata },
      spec: { nodeName: 'node-2', containers: [{ name: 'main', image: 'img:1' }], ...more },
    })
    await settled()
  }
  const phases = async () => {
    const { items } = await pods.list({ namespace: 'kube-system' })
    return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, Object(status).phase]))
  }
  const look = async (time: string) => {
    await clock.advance(time)
    await settled()
    return phases()
  }
  await create('web')
  await create('critical', { priorityClassName: 'system-node-critical' })
  await script('stops', {
    selector: { matchLabels: { 'kubernetes.io/hostname': 'node-2' } },
    at: [
      {
        after: '1m',
        shutdown: [
          { priority: 2_000_000_000, gracePeriod: '3s' },
          { priority: 0, gracePeriod: '20s' },
        ],
      },
      { after: '5m', kubelet: 'Running', notReady: '' },
    ],
  })
  await settled()
  expect(await look('64s')).toEqual({ web: 'Running', critical: 'Running' })
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'False', message: 'node is shutting down' })
  await create('late')
  expect(await look('3s')).toEqual({ web: 'Failed', critical: 'Running', late: 'Failed' })
  const metadata = { namespace: 'kube-system' }
  expect((await pods.get('web', metadata))['status']).toMatchObject({
    reason: 'Terminated',
    message: 'Pod was terminated in response to imminent node shutdown.',
    conditions: expect.arrayContaining([expect.objectContaining({ type: 'DisruptionTarget', reason: 'TerminationByKubelet' })]),
    containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
  })
  expect((await pods.get('late', metadata))['status']).toMatchObject({ reason: 'NodeShutdown' })
  expect(await look('16s')).toMatchObject({ critical: 'Failed' })
  // It needs five seconds and has three.
  expect((await pods.get('critical', metadata))['status']).toMatchObject({
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  })
  await look('60s')
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'Unknown' })
  await look('4m')
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'True' })
})

test('a node whose registration is refused after its script has ended follows the next script', async () => {
  const { server, clock, settled, nodes, scripts, script } = await aServer()
  const selector = { matchLabels: { 'kubernetes.io/hostname': 'node-2' } }
  await script('off', { selector, at: [{ after: '0s', kubelet: 'Stopped' }] })
  await settled()
  await clock.advance('1s')
  const fault = server.faults.add({ on: { user: 'system:node:node-2' }, effect: refuse(500) })
  await scripts.delete('off')
  await fault.hit()
  await script('next', { selector, labels: { pool: 'next' } })
  await expect.poll(async () => (await nodes.get('node-2')).metadata.labels, { timeout: 10_000 }).toMatchObject({ pool: 'next' })
  fault.remove()
  await clock.advance('60s')
  await settled()
  expect(conditionOf(await nodes.get('node-2'), 'Ready')).toMatchObject({ status: 'True' })
})

test('a reset removes nodes that were added since, and keeps the kinds of scripts', async () => {
  const { server, settled, nodes, script } = await aServer({ nodes: 0, controllers: ['workloads', 'nodes'] })
  await server.nodes.add({ name: 'added' })
  await settled()
  await server.reset()
  expect(server.nodes.names).toEqual([])
  await expect(nodes.get('added')).rejects.toMatchObject({ reason: 'NotFound' })
  await script('again', {})
  await server.nodes.add({ name: 'added' })
  await settled()
  expect(conditionOf(await nodes.get('added'), 'Ready')).toMatchObject({ status: 'True' })
})
