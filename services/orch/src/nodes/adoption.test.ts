import type { ApiObject } from '@orch/core/meta'
import { refuse } from '@orch/gateway'
import { virtualClock } from '@orch/platform'
import { describe, expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

const namespace = 'default'

async function aServer() {
  const clock = virtualClock()
  const server = await start({ profile: 'kubernetes', nodes: 1, clock, seed: 7 })
  onTestFinished(() => server.stop())
  const settled = () => server.settled({ within: 60_000 })
  const resource = (plural: string, group = '', namespaced = true) =>
    server.client.resource<Any>({ group, version: 'v1', plural, namespaced })
  await settled()
  return {
    server,
    clock,
    settled,
    nodes: resource('nodes', '', false),
    pods: resource('pods'),
    leases: resource('leases', 'coordination.k8s.io'),
  }
}

const aNode = (name: string, annotations: Readonly<Record<string, string>>, rest: object = {}): Any => ({
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, annotations, labels: { tier: 'gpu', 'kubernetes.io/arch': 'arm64' } } },
  ...rest,
})

const aPod = (name: string, nodeName: string, spec: object = {}): Any => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace } },
  spec: { nodeName, containers: [{ name: 'main', image: 'img:1' }], ...spec },
})

const simulated = { 'simulation.orch.io/node': 'true' }

describe('NODE-SIM-16: a Node that a client creates with the annotation of simulation', () => {
  test('is ready, renews a Lease, runs Pods, and keeps the fields that its client has set', async () => {
    const { settled, nodes, pods, leases } = await aServer()
    const addresses = [
      { type: 'InternalIP', address: '10.1.1.1' },
      { type: 'InternalIP', address: 'fd01::1' },
      { type: 'ExternalIP', address: '192.0.2.7' },
    ]
    const status = {
      capacity: { cpu: '96', 'example.com/gpu': '8' },
      allocatable: { cpu: '90' },
      addresses,
      nodeInfo: { kernelVersion: '6.6' },
    }
    await nodes.create(aNode('big', simulated, { spec: { podCIDR: '10.9.8.0/24', podCIDRs: ['10.9.8.0/24'] }, status }))
    await settled()
    expect(await nodes.get('big')).toMatchObject({
      metadata: { labels: { tier: 'gpu', 'kubernetes.io/arch': 'arm64', 'kubernetes.io/hostname': 'big', 'kubernetes.io/os': 'linux' } },
      spec: { podCIDR: '10.9.8.0/24' },
      status: {
        capacity: { cpu: '96', 'example.com/gpu': '8', memory: '32Gi', pods: '110' },
        allocatable: { cpu: '90', 'example.com/gpu': '8', memory: '32Gi', pods: '110' },
        addresses: [...addresses, { type: 'Hostname', address: 'big' }],
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
        nodeInfo: { kernelVersion: '6.6', operatingSystem: 'linux' },
      },
    })
    expect((await nodes.get('big'))['spec']).not.toHaveProperty('taints')
    expect(await leases.get('big', { namespace: 'kube-node-lease' })).toMatchObject({ spec: { holderIdentity: 'big' } })
    await pods.create(aPod('inside', 'big'))
    await pods.create(aPod('outside', 'big', { hostNetwork: true }))
    await settled()
    expect(await pods.get('inside', { namespace })).toMatchObject({
      status: { phase: 'Running', podIP: '10.9.8.2', hostIP: '10.1.1.1', hostIPs: [{ ip: '10.1.1.1' }, { ip: 'fd01::1' }] },
    })
    expect(await pods.get('outside', { namespace })).toMatchObject({ status: { podIPs: [{ ip: '10.1.1.1' }, { ip: 'fd01::1' }] } })
  })

  test('gets its missing fields, even with only the annotation of kwok', async () => {
    const { settled, nodes, pods } = await aServer()
    await nodes.create(aNode('bare', { 'kwok.x-k8s.io/node': 'fake' }))
    await settled()
    expect(await nodes.get('bare')).toMatchObject({
      spec: { podCIDR: '10.244.1.0/24' },
      status: { capacity: { cpu: '8' }, addresses: [{ address: '10.250.0.2' }, { type: 'Hostname', address: 'bare' }] },
    })
    await pods.create(aPod('web', 'bare'))
    await settled()
    expect(await pods.get('web', { namespace })).toMatchObject({ status: { phase: 'Running', podIP: '10.244.1.2' } })
  })

  test('is simulated until the Node or the annotation is removed, and again after it is added', async () => {
    const { server, settled, nodes } = await aServer()
    const isSimulated = async () => {
      await settled()
      return server.nodes.names.includes('one')
    }
    await nodes.create(aNode('one', simulated))
    expect(await isSimulated()).toBe(true)
    await nodes.delete('one')
    expect(await isSimulated()).toBe(false)
    await nodes.create(aNode('one', {}))
    expect(await isSimulated()).toBe(false)
    await nodes.patch('one', { metadata: { annotations: simulated } }, { type: 'merge' })
    expect(await isSimulated()).toBe(true)
    await nodes.patch('one', { metadata: { annotations: { 'simulation.orch.io/node': null } } }, { type: 'merge' })
    expect(await isSimulated()).toBe(false)
  })

  test('is simulated after refusals of its first requests, with a Lease and a CSINode', async () => {
    const { server, clock, settled, nodes, leases } = await aServer()
    for (const verb of ['get', 'create'] as const)
      server.faults.add({ on: { user: 'system:node:late', verb }, times: verb === 'get' ? 2 : 3, effect: refuse(500) })
    await nodes.create(aNode('late', simulated))
    await settled()
    await clock.advance('30s')
    expect(await leases.get('late', { namespace: 'kube-node-lease' })).toMatchObject({ spec: { holderIdentity: 'late' } })
    expect(
      await server.client.resource({ group: 'storage.k8s.io', version: 'v1', plural: 'csinodes', namespaced: false }).get('late'),
    ).toMatchObject({ spec: { drivers: [{ nodeID: 'late' }] } })
    expect(await nodes.get('late')).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) },
    })
  })

  test('is simulated in a fork as well, and gone after a reset', async () => {
    const { server, settled, nodes } = await aServer()
    await nodes.create(aNode('one', simulated))
    await settled()
    const fork = await server.fork()
    onTestFinished(() => fork.stop())
    await fork.settled({ within: 60_000 })
    expect(fork.nodes.names).toContain('one')
    await server.reset()
    await settled()
    expect(server.nodes.names).toEqual(['node-1'])
  })
})

test('a reset turns on the nodes of the start, and a restored snapshot those that it has on', async () => {
  const { server, settled, pods } = await aServer()
  await server.nodes.add({ name: 'node-2' })
  server.nodes.get('node-1').stop()
  const snapshot = server.snapshot()
  await server.reset()
  expect([server.nodes.names, server.nodes.get('node-1').isRunning]).toEqual([['node-1'], true])
  await server.nodes.get('node-1').delete()
  await server.restore(snapshot)
  expect(['node-1', 'node-2'].map((name) => server.nodes.get(name).isRunning)).toEqual([false, true])
  await server.reset()
  await pods.create(aPod('web', 'node-1'))
  await settled()
  expect(await pods.get('web', { namespace })).toMatchObject({ status: { phase: 'Running' } })
})

test('a server without nodes simulates those of a snapshot of its fork, and none after a reset, and a fork with nodes none after its restore', async () => {
  const server = await start({ profile: 'kubernetes', nodes: 0, clock: virtualClock(), seed: 7 })
  onTestFinished(() => server.stop())
  await using fork = await server.fork()
  await fork.nodes.add({ name: 'added' })
  await server.restore(fork.snapshot())
  expect(server.nodes.names).toEqual(['added'])
  await server.reset()
  expect(server.nodes.names).toEqual([])
  await using other = await server.fork({ nodes: 1 })
  expect(other.nodes.names).toEqual(['node-1'])
  await other.restore(server.snapshot())
  expect(other.nodes.names).toEqual([])
})

test('NODE-SIM-04, NODE-SIM-05, NODE-SIM-06: an added node has the addresses and images that it is given, its versions, and less for Pods than its capacity', async () => {
  const { server, settled, nodes, pods } = await aServer()
  const images = [
    { names: ['small:1'], sizeBytes: 1 },
    { names: ['big:1'], sizeBytes: 2_000_000_000 },
  ]
  const addresses = ['10.1.1.1', 'fd01::1']
  await server.nodes.add({ name: 'own', addresses, images, reserved: { cpu: '1', memory: '2Gi', pods: '10' } })
  await settled()
  expect(await nodes.get('own')).toMatchObject({
    status: {
      capacity: { cpu: '8', memory: '32Gi', pods: '110' },
      allocatable: { cpu: '7', memory: '30Gi', pods: '100' },
      addresses: [...addresses.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: 'own' }],
      images: [{ names: ['big:1'] }, { names: ['small:1'] }],
      nodeInfo: {
        kubeletVersion: 'v1.37.0+orch',
        kubeProxyVersion: '',
        containerRuntimeVersion: 'containerd://1.6.0-simulated',
      },
    },
  })
  const { nodeName: _, ...spec } = aPod('near', '')['spec'] as Record<string, unknown>
  await pods.create({ ...aPod('near', ''), spec: { ...spec, containers: [{ name: 'main', image: 'big:1' }] } })
  await settled()
  expect(await pods.get('near', { namespace })).toMatchObject({ spec: { nodeName: 'own' }, status: { hostIP: '10.1.1.1' } })
  for (const address of ['127.0.0.1', 'somewhere'])
    await expect(server.nodes.add({ name: 'bad', addresses: [address] })).rejects.toThrow(/^node bad: addresses: .* must be an IP address/)
})
