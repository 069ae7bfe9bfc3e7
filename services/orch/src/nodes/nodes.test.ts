import type { ApiObject } from '@orch/core/meta'
import { domainGroup, domainLabel, namesOf, profiles, subdomainLabel } from '@orch/core/names'
import { delay, refuse } from '@orch/gateway'
import { systemClock, virtualClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { readControllers } from '../controllers/settings.ts'
import { start } from '../start/start.ts'
import type { StartOptions } from '../start/start-settings.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

const namespace = 'default'
const requesting = (cpu: string) => ({ containers: [{ name: 'main', image: 'img:1', resources: { requests: { cpu } } }] })
const startedAt = new Date('2030-01-01T00:00:00Z')

/** Options for tests that need more controllers. All of them take half of the time of a server's start. */
const everyController = { controllers: ['*', '-serviceaccount', '-root-ca-cert-publisher'] }

async function aServer(options: StartOptions = {}) {
  const clock = virtualClock({ start: startedAt })
  const server = await start({ nodes: 2, clock, seed: 7, controllers: ['namespace'], ...options })
  onTestFinished(() => server.stop())
  const { client } = server
  const settled = () => server.settled({ within: 60_000 })
  const resource = (plural: string, group = '', namespaced = true) => client.resource<Any>({ group, version: 'v1', plural, namespaced })
  await settled()
  return { server, clock, settled, resource, pods: resource('pods') }
}

const aPod = (name: string, spec: object = {}, annotations: Readonly<Record<string, string>> = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, annotations },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'img:1' }], ...spec },
})

test.each(profiles.map((profile) => [profile]))(
  'NODE-SIM-01, NODE-SIM-02, NODE-SIM-11, WL-NODE-13: with the profile %s nodes register as kubelets do, and renew their Leases',
  async (profile) => {
    const names = namesOf(profile)
    const { clock, resource } = await aServer({ profile, ...everyController })
    const { items } = await resource('nodes', '', false).list()
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['node-1', 'node-2'])
    expect(items[1]).toMatchObject({
      metadata: {
        labels: { [domainLabel(names, 'hostname')]: 'node-2', [domainLabel(names, 'os')]: 'linux', [domainLabel(names, 'arch')]: 'amd64' },
        annotations: {
          [subdomainLabel(names, 'volumes', 'controller-managed-attach-detach')]: 'true',
          [subdomainLabel(names, 'node.alpha', 'ttl')]: '0',
        },
        managedFields: expect.arrayContaining([expect.objectContaining({ manager: names.nodeAgent })]),
      },
      spec: { podCIDR: '10.244.1.0/24' },
      status: {
        allocatable: { cpu: '8', memory: '32Gi', pods: '110' },
        addresses: [
          { type: 'InternalIP', address: '10.250.0.2' },
          { type: 'Hostname', address: 'node-2' },
        ],
        conditions: [
          { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
          { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
          { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID' },
          { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
        ],
      },
    })
    const leases = resource('leases', domainGroup(names, 'coordination'))
    const readLease = async () => (await leases.get('node-2', { namespace: names.nodeLeaseNamespace }))['spec']
    expect(await readLease()).toEqual({ holderIdentity: 'node-2', leaseDurationSeconds: 40, renewTime: '2030-01-01T00:00:00.000000Z' })
    await clock.advance('10s')
    expect(await readLease()).toMatchObject({ renewTime: '2030-01-01T00:00:10.000000Z' })
  },
)

test('NODE-SIM-23, NODE-SIM-28, NODE-SIM-29, NODE-SIM-38: a bound Pod is Running by one write, with an address of its node, IDs and three events', async () => {
  const { settled, pods, resource } = await aServer({ profile: 'kubernetes' })
  const created = await pods.create(aPod('web'))
  const versions: unknown[] = []
  const ending = new AbortController()
  const events = await pods.watch({ namespace, resourceVersion: created.metadata.resourceVersion, signal: ending.signal })
  const following = (async () => {
    for await (const { object } of events) versions.push((object['status'] as { phase: string }).phase)
  })().catch(() => undefined)
  await settled()
  await pods.create(aPod('other'))
  await settled()
  await expect.poll(() => versions).toEqual(['Running', 'Pending', 'Running'])
  ending.abort()
  await following
  const statuses = (await pods.list()).items.map(({ status }) => status)
  expect(statuses).toMatchObject([{ podIP: '10.244.0.3' }, { podIP: '10.244.0.2', hostIP: '10.250.0.1', qosClass: 'BestEffort' }])
  const ids = statuses.map((status) => (status as { containerStatuses: { containerID: string; imageID: string }[] }).containerStatuses[0])
  expect(ids[0]?.containerID).toMatch(/^containerd:\/\/[0-9a-f]{64}$/)
  expect(ids[0]?.imageID).toMatch(/^img:1@sha256:[0-9a-f]{64}$/)
  expect([ids[0]?.imageID === ids[1]?.imageID, ids[0]?.containerID === ids[1]?.containerID]).toEqual([true, false])
  const reported = (await resource('events').list({ fieldSelector: 'involvedObject.name=web' })).items
  expect(reported.map(({ reason }) => reason).sort()).toEqual(['Created', 'Pulled', 'Started'])
  expect(reported[0]).toMatchObject({
    involvedObject: { kind: 'Pod', fieldPath: 'spec.containers{main}' },
    source: { component: 'kubelet', host: 'node-1' },
  })
})

test('NODE-SIM-49, NODE-SIM-52: a deleted Pod disappears when its containers have stopped, and a Pod with a finalizer remains as an object', async () => {
  const { clock, settled, pods } = await aServer()
  const shutdown = { 'simulation.orch.io/shutdown': '2s' }
  await pods.create(aPod('slow', {}, shutdown))
  const kept = aPod('kept', {}, shutdown)
  await pods.create({ ...kept, metadata: { ...kept.metadata, finalizers: ['example.com/keep'] } })
  await settled()
  for (const name of ['slow', 'kept']) await pods.delete(name, { namespace })
  await clock.advance('1s')
  const names = async () => (await pods.list()).items.map(({ metadata }) => metadata.name)
  expect(await names()).toEqual(['kept', 'slow'])
  await clock.advance('1s')
  expect(await names()).toEqual(['kept'])
  expect(await pods.get('kept', { namespace })).toMatchObject({
    status: { phase: 'Succeeded', containerStatuses: [{ ready: false, state: { terminated: { exitCode: 0 } } }] },
  })
})

test('NODE-SIM-51, NODE-SIM-53: a shorter grace period ends a Pod earlier, and a period of 0 at once; a finished Pod needs none', async () => {
  const { clock, settled, pods } = await aServer()
  for (const name of ['shorter', 'none']) await pods.create(aPod(name, {}, { 'simulation.orch.io/shutdown': '1h' }))
  await pods.create(aPod('finished', { restartPolicy: 'Never' }, { 'simulation.orch.io/run-for': '1s' }))
  await clock.advance('2s')
  const names = async () => (await pods.list()).items.map(({ metadata }) => metadata.name)
  for (const name of ['finished', 'none', 'shorter']) await pods.delete(name, { namespace })
  await settled()
  expect(await names()).toEqual(['none', 'shorter'])
  await pods.delete('none', { namespace }, { gracePeriodSeconds: 0 })
  await pods.delete('shorter', { namespace }, { gracePeriodSeconds: 5 })
  await clock.advance('4s')
  expect(await names()).toEqual(['shorter'])
  await clock.advance('1s')
  expect(await names()).toEqual([])
})

test('a Deployment becomes available and a Job completes on nodes that the scheduler chooses', async () => {
  const { clock, settled, resource } = await aServer({ profile: 'kubernetes', ...everyController })
  const containers = [{ name: 'main', image: 'img:1' }]
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } }
  const deployments = resource('deployments', 'apps')
  await deployments.create({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
  })
  await settled()
  expect(await deployments.get('web', { namespace })).toMatchObject({ status: { readyReplicas: 3, availableReplicas: 3 } })
  const jobs = resource('jobs', 'batch')
  await jobs.create({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once', namespace } },
    spec: { template: { spec: { containers, restartPolicy: 'Never' } } },
  })
  await clock.advance('5s')
  expect(await jobs.get('once', { namespace })).toMatchObject({ status: { succeeded: 1, completionTime: expect.any(String) } })
})

test('an unreadable annotation causes a Warning event of the Pod, which still runs', async () => {
  const { settled, pods, resource } = await aServer()
  await pods.create(aPod('web', {}, { 'simulation.orch.io/run-for': 'soon' }))
  await settled()
  expect(await pods.get('web', { namespace })).toMatchObject({ status: { phase: 'Running' } })
  const { items } = await resource('events').list({ fieldSelector: 'reason=InvalidSimulation' })
  expect(items).toMatchObject([
    { type: 'Warning', message: 'annotation simulation.orch.io/run-for: "soon": must be a duration such as 30s or 1m30s' },
  ])
})

test('NODE-SIM-15: with the Node authorizer and NodeRestriction each node writes with its own rights', async () => {
  const flags = ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction']
  const { clock, settled, pods } = await aServer({ flags, ...everyController })
  await pods.create(aPod('web'))
  await settled()
  expect(await pods.get('web', { namespace })).toMatchObject({ status: { phase: 'Running' } })
  await pods.delete('web', { namespace })
  await clock.advance('1s')
  expect((await pods.list()).items).toEqual([])
})

test('--simulated-nodes takes a number and enables the controllers of workloads, which --controllers can disable', async () => {
  const controllersOf = (controllers: readonly string[], simulatedNodes: number) => readControllers({ controllers, simulatedNodes })
  expect(controllersOf(['*'], 0)).not.toContain('deployment')
  expect(controllersOf(['*'], 1)).toEqual(expect.arrayContaining(['deployment', 'job']))
  expect(controllersOf(['*', '-job'], 1)).not.toContain('job')
  await expect(start({ nodes: -1 })).rejects.toThrow('nodes: -1: must be a whole number between 0 and 1000')
})

test('a start with nodes has the class of simulated volumes, unless their provisioner is off, and each start is another cluster', async () => {
  const startedWith = async (options: StartOptions) => {
    const server = await start({ nodes: 1, ...options })
    onTestFinished(() => server.stop())
    const listed = (plural: string, group = '') => server.client.resource({ group, version: 'v1', plural, namespaced: false }).list()
    const classes = (await listed('storageclasses', 'storage.orch.io')).items.map(({ metadata }) => metadata.name)
    const [node] = (await listed('nodes')).items
    return { classes, uid: node?.metadata.uid }
  }
  const first = await startedWith({})
  const second = await startedWith({})
  expect([first.classes, second.classes]).toEqual([['standard'], ['standard']])
  expect(first.uid).not.toBe(second.uid)
  expect((await startedWith({ controllers: ['*', '-simulated-provisioner'] })).classes).toEqual([])
})

test('NODE-SIM-17, NODE-SIM-18: a node refuses a Pod beyond its capacity, which no ended Pod takes, not even one with a finalizer', async () => {
  const { settled, pods, resource } = await aServer({ profile: 'kubernetes' })
  const large = aPod('large', requesting('6'))
  await pods.create({ ...large, metadata: { ...large.metadata, finalizers: ['example.com/keep'] } })
  await settled()
  await pods.create(aPod('other', requesting('3')))
  await settled()
  const text = "Node didn't have enough resource: cpu, requested: 3000, used: 6000, capacity: 8000"
  const { status } = await pods.get('other', { namespace })
  expect(status).toEqual({
    ...{ phase: 'Failed', reason: 'OutOfcpu', message: `Pod was rejected: ${text}`, qosClass: 'Burstable' },
    ...{ startTime: '2030-01-01T00:00:00Z', observedGeneration: 1 },
  })
  const { items } = await resource('events').list({ fieldSelector: 'involvedObject.name=other' })
  expect(items).toMatchObject([{ type: 'Warning', reason: 'OutOfcpu', message: text }])
  await pods.delete('large', { namespace })
  await settled()
  await pods.create(aPod('next', requesting('3')))
  await settled()
  expect(await pods.get('next', { namespace })).toMatchObject({ status: { phase: 'Running' } })
})

test('NODE-SIM-18: a Pod whose end its node still writes takes no room of another Pod', async () => {
  const { server, pods } = await aServer({ clock: systemClock })
  const body = (patch: unknown) => JSON.stringify(patch).includes('"phase":"Succeeded"')
  const end = { user: 'system:node:node-1', verb: 'patch', resource: 'pods', body }
  const fault = server.faults.add({ on: end, times: 1, effect: delay('1s') })
  const short = { 'simulation.orch.io/run-for': '100ms' }
  await pods.create(aPod('task', { ...requesting('6'), restartPolicy: 'Never' }, short))
  await fault.hit()
  await pods.create(aPod('next', requesting('3')))
  const status = async () => (await pods.get('next', { namespace }))['status']
  await expect.poll(status, { timeout: 10_000 }).toMatchObject({ phase: 'Running' })
})

test('a Pod is resized on its node, or when the node has room, and restarts with another image', async () => {
  const { settled, pods } = await aServer({ profile: 'kubernetes' })
  await pods.create(aPod('other', requesting('5')))
  await pods.create(aPod('web', requesting('1')))
  await settled()
  const resize = (cpu: string) => {
    const { containers } = requesting(cpu)
    const [{ name, resources } = { name: '', resources: {} }] = containers
    return pods.patch('web', { spec: { containers: [{ name, resources }] } }, { type: 'strategic', subresource: 'resize', namespace })
  }
  await resize('4')
  await settled()
  const pending = { type: 'PodResizePending', reason: 'Deferred' }
  const { status } = await pods.get('web', { namespace })
  expect(status).toMatchObject({ conditions: expect.arrayContaining([expect.objectContaining(pending)]) })
  expect(status).toMatchObject({ containerStatuses: [{ allocatedResources: { cpu: '1' } }] })
  await pods.delete('other', { namespace })
  await settled()
  const image = { spec: { containers: [{ name: 'main', image: 'img:2' }] } }
  await pods.patch('web', image, { type: 'strategic', namespace })
  await settled()
  const after = await pods.get('web', { namespace })
  expect(after['status']).toMatchObject({
    containerStatuses: [{ allocatedResources: { cpu: '4' }, resources: { requests: { cpu: '4' } }, image: 'img:2', restartCount: 1 }],
  })
  expect(JSON.stringify(after['status'])).not.toContain('PodResize')
})

test('NODE-SIM-39: of many Pods at once 300 normal events are written, and more later', async () => {
  const { clock, settled, pods, resource } = await aServer()
  const started = async () => (await resource('events').list({ fieldSelector: 'reason=Started' })).items.length
  for (const node of ['node-1', 'node-2']) {
    await Promise.all(Array.from({ length: 60 }, (_, index) => pods.create(aPod(`${node}-${index}`, { nodeName: node }))))
  }
  await settled()
  const phases = (await pods.list()).items.map(({ status }) => (status as { readonly phase: string }).phase)
  expect(phases).toEqual(phases.map(() => 'Running'))
  expect(await started()).toBe(100)
  await clock.advance('1s')
  await pods.create(aPod('later'))
  await settled()
  expect(await started()).toBe(101)
})

test('NODE-SIM-54: a node that is switched off leaves its Pods unchanged, and runs them again when it is back', async () => {
  const { server, clock, settled, pods, resource } = await aServer()
  await pods.create(aPod('old'))
  await settled()
  const node = server.nodes.get('node-1')
  node.stop()
  expect([node.isRunning, server.nodes.get('node-2').isRunning]).toEqual([false, true])
  await pods.delete('old', { namespace })
  await pods.create(aPod('new'))
  await clock.advance('1m')
  expect((await pods.list()).items.map(({ metadata }) => metadata.name)).toEqual(['new', 'old'])
  const leases = resource('leases', 'coordination.orch.io')
  const { renewTime } = (await leases.get('node-1', { namespace: 'orch-node-lease' }))['spec'] as { readonly renewTime: string }
  expect(Date.parse(renewTime) < startedAt.getTime() + 10_000).toBe(true)
  await node.start()
  await settled()
  expect((await pods.list()).items).toMatchObject([{ metadata: { name: 'new' }, status: { phase: 'Running' } }])
})

test('NODE-SIM-14: nodes are added by name, a deleted node is absent until it starts again, and a stopped one of many starts no more', async () => {
  const { server, clock, settled, pods, resource } = await aServer({ nodes: 0, profile: 'kubernetes' })
  expect(() => server.nodes.get('gpu-1')).toThrow('no node gpu-1 is simulated; there are: none')
  const taints = [{ key: 'gpu', effect: 'NoSchedule' }]
  await server.nodes.add({ name: 'gpu-1', capacity: { 'example.com/gpu': '4' }, labels: { pool: 'gpu' }, taints, zone: 'b' })
  await expect(server.nodes.add({ name: 'gpu-1' })).rejects.toThrow('a node gpu-1 is simulated already')
  const nodes = resource('nodes', '', false)
  expect(await nodes.get('gpu-1')).toMatchObject({
    metadata: { labels: { pool: 'gpu', 'topology.kubernetes.io/zone': 'b' } },
    spec: { taints },
    status: { allocatable: { cpu: '8', 'example.com/gpu': '4' } },
  })
  await pods.create(aPod('web', { nodeName: 'gpu-1' }))
  await settled()
  await nodes.delete('gpu-1')
  await clock.advance('10m')
  expect((await nodes.list()).items).toEqual([])
  await server.nodes.get('gpu-1').start()
  expect((await nodes.list()).items).toMatchObject([{ metadata: { name: 'gpu-1' } }])
  await server.nodes.get('gpu-1').delete()
  expect([(await nodes.list()).items, server.nodes.names]).toEqual([[], []])
  // More nodes than start in one turn of the event loop.
  const names = Array.from({ length: 11 }, (_, index) => `node-${index + 10}`)
  const added = names.map((name) => server.nodes.add({ name }))
  for (let step = 0; step < 10; step += 1) await undefined
  expect(server.nodes.names).toEqual(names)
  server.nodes.get('node-20').stop()
  await Promise.all(added)
  expect((await nodes.list()).items.map(({ metadata }) => metadata.name)).toEqual(names.slice(0, 10))
})

test('NODE-SIM-28: a restarted node assigns no address that one of its Pods has, finished or not', async () => {
  const { server, clock, settled, pods } = await aServer()
  await pods.create(aPod('ended', { restartPolicy: 'Never' }, { 'simulation.orch.io/run-for': '1s' }))
  await settled()
  await pods.create(aPod('running'))
  await clock.advance('1s')
  await server.nodes.get('node-1').delete()
  await server.nodes.add({ name: 'node-1' })
  await settled()
  await pods.create(aPod('new'))
  await settled()
  const { items } = await pods.list()
  const addresses = items.map(({ metadata, status }) => {
    const { phase, podIP } = status as { readonly phase: string; readonly podIP: string }
    return [metadata.name, phase, podIP]
  })
  expect(addresses).toEqual([
    ['ended', 'Succeeded', '10.244.0.2'],
    ['new', 'Running', '10.244.0.4'],
    ['running', 'Running', '10.244.0.3'],
  ])
})

test('NODE-SIM-28: a Pod that waited for its node gets no address that another Pod has meanwhile', async () => {
  const { server, settled, pods } = await aServer()
  await server.nodes.get('node-1').delete()
  await pods.create(aPod('waiting'))
  await pods.create(aPod('running'))
  const status = { podIP: '10.244.0.2', podIPs: [{ ip: '10.244.0.2' }] }
  await pods.patch('running', { status }, { type: 'merge', subresource: 'status', namespace })
  await settled()
  await server.nodes.add({ name: 'node-1' })
  await settled()
  const { items } = await pods.list()
  const addresses = items.map((pod) => [pod.metadata.name, (pod['status'] as { readonly podIP: string }).podIP])
  expect(addresses).toEqual([
    ['running', '10.244.0.2'],
    ['waiting', '10.244.0.3'],
  ])
})

test('NODE-SIM-13, NODE-LC-03: nodes stay ready over twenty minutes of virtual time', async () => {
  const { clock, settled, resource } = await aServer({ profile: 'kubernetes', ...everyController })
  await clock.advance('20m')
  await settled()
  const { items } = await resource('nodes', '', false).list()
  expect(items.map(({ spec }) => (spec as { readonly taints?: object[] }).taints)).toEqual([undefined, undefined])
  const ready = items.map(({ status }) => (status as { readonly conditions: readonly object[] }).conditions.at(-1))
  expect(ready).toMatchObject([
    { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' },
    { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' },
  ])
})

test('NODE-LC-02, NODE-LC-08: Pods of a node that is switched off are deleted after five minutes, run on other nodes, and disappear when the node is back', async () => {
  const { server, clock, settled, pods, resource } = await aServer({ profile: 'kubernetes', ...everyController })
  const deployments = resource('deployments', 'apps')
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'img:1' }] } }
  await deployments.create({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
  })
  await settled()
  const placed = async () =>
    (await pods.list()).items
      .map(({ metadata, spec }) => `${(spec as { readonly nodeName: string }).nodeName}${metadata.deletionTimestamp ? ' ends' : ''}`)
      .sort()
  expect(await placed()).toEqual(['node-1', 'node-2'])
  server.nodes.get('node-2').stop()
  await clock.advance('1m')
  const { status } = await resource('nodes', '', false).get('node-2')
  expect((status as { readonly conditions: readonly object[] }).conditions.at(-1)).toMatchObject({ type: 'Ready', status: 'Unknown' })
  expect(await placed()).toEqual(['node-1', 'node-2'])
  await clock.advance('6m')
  expect(await placed()).toEqual(['node-1', 'node-1', 'node-2 ends'])
  await server.nodes.get('node-2').start()
  await clock.advance('1m')
  expect(await placed()).toEqual(['node-1', 'node-1'])
})

test('the taint of a silent node whose writes fail is written with its next turn', async () => {
  const { server, clock, resource } = await aServer({ profile: 'kubernetes', ...everyController })
  const user = 'system:serviceaccount:kube-system:node-controller'
  const body = (patch: unknown) => JSON.stringify(patch).includes('NoExecute')
  const fault = server.faults.add({ on: { user, verb: 'patch', resource: 'nodes', body }, times: 2, effect: refuse(500) })
  server.nodes.get('node-1').stop()
  await clock.advance('90s')
  const { spec } = await resource('nodes', '', false).get('node-1')
  const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }
  expect([fault.hits, spec]).toMatchObject([2, { taints: expect.arrayContaining([expect.objectContaining(unreachable)]) }])
})

test('NODE-SIM-12: a node restores conditions that another client has changed', async () => {
  const { clock, resource } = await aServer()
  const nodes = resource('nodes', '', false)
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Test' }]
  await nodes.patch('node-1', { status: { conditions } }, { type: 'strategic', subresource: 'status' })
  await clock.advance('10s')
  const { status } = await nodes.get('node-1')
  expect((status as { conditions: object[] }).conditions.at(-1)).toMatchObject({
    ...{ type: 'Ready', status: 'True', reason: 'KubeletReady' },
  })
})

test('a server with simulated nodes in virtual time repeats with its seed, and an automatic clock stops', async () => {
  const texts: string[] = []
  for (const _ of [1, 2]) {
    const clock = virtualClock({ start: startedAt, auto: true })
    const { server, pods } = await aServer({ clock, ...everyController })
    await pods.create(aPod('crash', {}, { 'simulation.orch.io/exit-code': '1' }))
    await server.settled({ within: 60_000 })
    texts.push(await server.dump())
    await server.stop()
  }
  expect(texts[0]).toContain('CrashLoopBackOff')
  expect(texts[1]).toBe(texts[0])
})

test('a Pod that is made again while its node reads scripts runs the containers of the new Pod, and is deleted', async () => {
  const { server, pods } = await aServer({ nodes: 0, clock: systemClock })
  server.faults.add({ on: { user: 'system:simulated-nodes', verb: 'list', resource: 'podscripts' }, effect: delay('400ms') })
  await server.nodes.add({ name: 'node-1' })
  await pods.create(aPod('web', { containers: [{ name: 'former', image: 'img:1' }] }))
  await pods.get('web', { namespace })
  await pods.delete('web', { namespace }, { gracePeriodSeconds: 0 })
  await pods.create(aPod('web', { terminationGracePeriodSeconds: 0 }))
  const containers = async () => (await pods.get('web', { namespace })) as { status?: { containerStatuses?: { name: string }[] } }
  await expect
    .poll(async () => (await containers()).status?.containerStatuses?.map(({ name }) => name), { timeout: 60_000 })
    .toEqual(['main'])
  await pods.delete('web', { namespace })
  await expect.poll(async () => (await pods.list({ namespace })).items, { timeout: 60_000 }).toEqual([])
})

test('a Pod that is deleted while its node writes its end is gone', async () => {
  const { server, pods } = await aServer({ clock: systemClock })
  const body = (patch: unknown) => JSON.stringify(patch).includes('"phase":"Succeeded"')
  const end = { user: 'system:node:node-1', verb: 'patch', resource: 'pods', body }
  const fault = server.faults.add({ on: end, times: 1, effect: delay('500ms') })
  await pods.create(aPod('task', { restartPolicy: 'Never' }, { 'simulation.orch.io/run-for': '100ms' }))
  await fault.hit()
  await pods.delete('task', { namespace })
  const task = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'task' }
  expect(await server.eventually(task, (pod) => pod === undefined, { within: 60_000 })).toBe(undefined)
})

test('a Pod that is deleted during a write of its node ends, although a new list has one event for both', async () => {
  const { server, pods } = await aServer({ clock: systemClock })
  const { watches } = server.user('system:simulated-nodes')
  const on = { user: 'system:node:node-1', verb: 'patch', resource: 'pods' } as const
  const fault = server.faults.add({ on, after: 1, times: 1, effect: delay('500ms') })
  await pods.create(aPod('web', { terminationGracePeriodSeconds: 1 }, { 'simulation.orch.io/ready-after': '1s' }))
  await fault.hit()
  const hold = watches.hold({ resource: 'pods' })
  await pods.delete('web', { namespace })
  await expect.poll(async () => JSON.stringify(await pods.get('web', { namespace })), { timeout: 10_000 }).toContain('"ready":true')
  watches.expire({ resource: 'pods' })
  hold.release()
  await expect.poll(async () => (await pods.list({ namespace })).items, { timeout: 10_000 }).toEqual([])
})
