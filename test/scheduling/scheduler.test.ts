import type { ApiObject } from '@orch/core/meta'
import { delay, type RunningServer, refuse, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const resource = (group: string, plural: string, namespaced = true) => ({ group, version: 'v1', plural, namespaced })

interface Pod extends ApiObject {
  readonly spec?: { readonly nodeName?: string }
  readonly status?: { readonly conditions?: readonly object[]; readonly nominatedNodeName?: string }
}

interface Event extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly note?: string
  readonly action?: string
  readonly related?: { readonly name?: string }
  readonly reportingController?: string
  readonly series?: { readonly count: number }
}

interface NodeWords {
  readonly cpu?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly object[]
  readonly unschedulable?: boolean
}

/** A namespace with Pods on a server whose scheduler runs; the test creates the nodes. */
function clusterOf(server: () => RunningServer, clock: () => VirtualClock) {
  const nodes = () => server().client.resource(resource('', 'nodes', false))
  const patchNode = (name: string, patch: object, subresource?: string) => nodes().patch(name, patch, { type: 'merge', subresource })
  return {
    settle: (duration: '100ms' | '1s' | '2s' | '5s' = '100ms') => clock().advance(duration),
    patchNode,
    empty: async () => {
      const pods = server().client.resource(resource('', 'pods'))
      for (const { metadata } of (await pods.list()).items) {
        await pods.delete(metadata.name ?? '', { namespace: metadata.namespace }, { gracePeriodSeconds: 0 })
      }
      for (const { metadata } of (await nodes().list()).items) await nodes().delete(metadata.name ?? '')
      await clock().advance('100ms')
    },
    addNode: async (name: string, { cpu = '4', labels = {}, taints = [], unschedulable = false }: NodeWords = {}) => {
      const allocatable = { cpu, memory: '8Gi', pods: '110' }
      const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } }
      const node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata,
        spec: { taints, unschedulable },
        status: { allocatable, capacity: allocatable },
      }
      await nodes().create(node)
      // Admission adds a taint to new nodes.
      await patchNode(name, { spec: { taints } })
    },
    open: async (namespace: string) => {
      const { client } = server()
      await client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const pods = client.resource<Pod>(resource('', 'pods'))
      const events = client.resource<Event>(resource('events.k8s.io', 'events'))
      return {
        pods,
        create: (name: string, cpu: string, spec: object = {}) => {
          const containers = [{ name: 'c', image: 'registry.example/app:1', resources: { requests: { cpu } } }]
          return pods.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers, ...spec } } as Pod)
        },
        remove: (name: string) => pods.delete(name, { namespace }, { gracePeriodSeconds: 0 }),
        nodeOf: async (name: string) => (await pods.get(name, { namespace })).spec?.nodeName,
        condition: async (name: string) => (await pods.get(name, { namespace })).status?.conditions?.[0],
        events: async (name: string) =>
          (await events.list({ namespace })).items
            .filter(({ metadata }) => metadata.name?.startsWith(`${name}.`) === true)
            .sort((left, right) => (left.reason ?? '').localeCompare(right.reason ?? '')),
      }
    },
  }
}

describe.each(['1.25', '1.37'])('the scheduler at level %s', (version) => {
  let server: RunningServer
  let clock: VirtualClock
  const cluster = clusterOf(
    () => server,
    () => clock,
  )

  beforeAll(async () => {
    clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    server = await start({ clock, seed: 1, profile: 'kubernetes', controllers: ['*', 'scheduler', 'persistentvolume-binder'], version })
  })
  afterEach(() => cluster.empty())
  afterAll(() => server?.stop())

  test('SCHED-14, SCHED-15, SCHED-16: a Pod is bound to a node that fits, with an event', async () => {
    const { create, nodeOf, condition, events } = await cluster.open('bound')
    await cluster.addNode('n1')
    await create('p', '1')
    await cluster.settle()
    expect(await nodeOf('p')).toBe('n1')
    expect(await condition('p')).toMatchObject({ type: 'PodScheduled', status: 'True' })
    expect(await events('p')).toMatchObject([
      {
        type: 'Normal',
        reason: 'Scheduled',
        action: 'Binding',
        reportingController: 'default-scheduler',
        note: 'Successfully assigned bound/p to n1',
        regarding: { kind: 'Pod', namespace: 'bound', name: 'p' },
      },
    ])
  })

  test('SCHED-18, SCHED-05: a Pod waits for a node, and is bound when a node is added', async () => {
    const { create, nodeOf, condition } = await cluster.open('waits')
    await create('p', '1')
    await cluster.settle()
    expect(await condition('p')).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no nodes available to schedule pods',
    })
    await cluster.addNode('n1')
    await cluster.settle('1s')
    expect(await nodeOf('p')).toBe('n1')
  })

  test('SCHED-01: a Pod of another scheduler is not bound', async () => {
    const { create, nodeOf, condition, events } = await cluster.open('other')
    await cluster.addNode('n1')
    await create('p', '1', { schedulerName: 'another' })
    await cluster.settle()
    expect([await nodeOf('p'), await condition('p'), await events('p')]).toEqual([undefined, undefined, []])
  })

  test('SCHED-10: Pods bound in one turn do not exceed the capacity of their node', async () => {
    const { create, nodeOf } = await cluster.open('assumed')
    await cluster.addNode('n1')
    await Promise.all(['a', 'b', 'c'].map((name) => create(name, '2')))
    await cluster.settle()
    expect((await Promise.all(['a', 'b', 'c'].map(nodeOf))).filter((node) => node === 'n1')).toHaveLength(2)
  })

  test('SCHED-11: a slow binding of one Pod delays no other Pod', async () => {
    const { create, nodeOf } = await cluster.open('beside')
    await cluster.addNode('n1')
    const slow = server.faults.add({
      on: { user: 'system:kube-scheduler', resource: 'pods', subresource: 'binding', name: 'slow' },
      effect: delay('1s'),
    })
    await create('slow', '1')
    await create('quick', '1')
    await cluster.settle()
    expect([await nodeOf('slow'), await nodeOf('quick')]).toEqual([undefined, 'n1'])
    await cluster.settle('1s')
    expect(await nodeOf('slow')).toBe('n1')
    slow.remove()
  })

  test('SCHED-07: a refused Pod is bound when another Pod leaves its node', async () => {
    const { create, remove, nodeOf } = await cluster.open('leaves')
    await cluster.addNode('n1')
    await create('a', '4')
    await cluster.settle()
    await create('b', '4')
    await cluster.settle('2s')
    expect(await nodeOf('b')).toBeUndefined()
    await remove('a')
    await cluster.settle()
    expect(await nodeOf('b')).toBe('n1')
  })

  test('SCHED-16, SCHED-17, SCHED-19: a refusal adds a condition and an event, with the reasons of all nodes', async () => {
    const { create, condition, events } = await cluster.open('refused')
    await cluster.addNode('small', { cpu: '1' })
    await cluster.addNode('tainted', { taints: [{ key: 'a', value: '1', effect: 'NoSchedule' }] })
    await create('p', '2')
    await cluster.settle()
    const taint = version === '1.25' ? 'node(s) had untolerated taint {a: 1}' : 'node(s) had untolerated taint(s)'
    const preemption =
      version === '1.25'
        ? '1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.'
        : '2 Preemption is not helpful for scheduling.'
    const message = `0/2 nodes are available: 1 Insufficient cpu, 1 ${taint}. preemption: 0/2 nodes are available: ${preemption}`
    expect(await condition('p')).toMatchObject({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message })
    expect(await events('p')).toMatchObject([{ type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message }])
  })

  test('SCHED-63, SCHED-64: a Pod of higher priority preempts another, whose event has the reason', async () => {
    const { client } = server
    const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 }
    await client.objects.create(priority)
    const { create, pods, nodeOf, condition, events } = await cluster.open('preempted')
    await cluster.addNode('n1')
    await create('low', '3', { terminationGracePeriodSeconds: 0 })
    await cluster.settle()
    const high = await create('high', '3', { priorityClassName: 'high' })
    await cluster.settle('2s')
    expect(await nodeOf('high')).toBe('n1')
    expect((await pods.list({ namespace: 'preempted' })).items.map(({ metadata }) => metadata.name)).toEqual(['high'])
    const isOld = version === '1.25'
    const by = isOld ? 'a pod' : `pod ${high.metadata.uid}`
    const ofLow = await events('low')
    expect(ofLow).toMatchObject([
      { type: 'Normal', reason: 'Preempted', action: 'Preempting', note: `Preempted by ${by} on node n1` },
      { reason: 'Scheduled' },
    ])
    // kube-scheduler 1.37.2 loses the reference to the Pod.
    expect(ofLow.map(({ related }) => related?.name)).toEqual([isOld ? 'high' : undefined, undefined])
    expect(await condition('high')).toMatchObject({ type: 'PodScheduled', status: 'True' })
    const placement = isOld ? '' : ' preemption: found a potential placement for pod on node n1, preempting 1 victims'
    expect(await events('high')).toMatchObject([
      { reason: 'FailedScheduling', note: `0/1 nodes are available: 1 Insufficient cpu.${placement}` },
      { reason: 'Scheduled' },
    ])
  })

  test('SCHED-63: a Pod tries again after its back-off if the deletion of its victim has failed', async () => {
    const metadata = { name: 'urgent' }
    await server.client.objects.create({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value: 1000 } as ApiObject)
    const { create, nodeOf } = await cluster.open('undeleted')
    await cluster.addNode('n1')
    await create('low', '3', { terminationGracePeriodSeconds: 0 })
    await cluster.settle()
    const on = { user: 'system:kube-scheduler', verb: 'delete', resource: 'pods' } as const
    const fault = server.faults.add({ on, times: 1, effect: refuse(403) })
    await create('high', '3', { priorityClassName: 'urgent' })
    await cluster.settle('5s')
    expect(await nodeOf('high')).toBe('n1')
    fault.remove()
  })

  test('SCHED-02: a Pod that is being deleted gets no node', async () => {
    const { create, pods, nodeOf, events } = await cluster.open('deleted')
    await create('p', '1', {})
    await cluster.settle()
    await pods.patch('p', { metadata: { finalizers: ['example.com/kept'] } }, { type: 'merge', namespace: 'deleted' })
    await pods.delete('p', { namespace: 'deleted' })
    await cluster.addNode('n1')
    await cluster.settle('2s')
    expect(await nodeOf('p')).toBeUndefined()
    expect((await events('p')).map(({ note }) => note)).toContain('skip schedule deleting pod: deleted/p')
    await pods.patch('p', { metadata: { finalizers: [] } }, { type: 'merge', namespace: 'deleted' })
  })

  test('SCHED-03: waiting Pods are tried by priority, then by age', async () => {
    const { client } = server
    await client.objects.create({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'first' }, value: 10 })
    const { create, nodeOf } = await cluster.open('order')
    await create('a', '4')
    await create('b', '4', { priorityClassName: 'first' })
    await cluster.settle('2s')
    await cluster.addNode('n1')
    await cluster.settle('2s')
    expect([await nodeOf('a'), await nodeOf('b')]).toEqual([undefined, 'n1'])
    await client.resource(resource('scheduling.k8s.io', 'priorityclasses', false)).delete('first')
  })

  test('SCHED-39: a Pod waits for a missing claim', async () => {
    const { create, condition } = await cluster.open('claimless')
    await cluster.addNode('n1')
    await create('p', '1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] })
    await cluster.settle()
    const message =
      version === '1.25'
        ? '0/1 nodes are available: 1 persistentvolumeclaim "c" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
        : '0/1 nodes are available: persistentvolumeclaim "c" not found. not found'
    expect(await condition('p')).toMatchObject({ reason: 'Unschedulable', message })
  })

  test('SCHED-41, SCHED-42: a claim that waits for its first Pod gets a volume that is reachable from the node of the Pod', async () => {
    const { client } = server
    const storageClass = { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' }
    await client.objects.create({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'wait' },
      ...storageClass,
    } as ApiObject)
    const { create, nodeOf } = await cluster.open('volumes')
    const namespace = 'volumes'
    await cluster.addNode('n1')
    await cluster.addNode('n2')
    const key = 'kubernetes.io/hostname'
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['n2'] }] }] }
    const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'wait' }
    const volume = { ...common, capacity: { storage: '1Gi' }, local: { path: '/x' }, nodeAffinity: { required } }
    await client.objects.create({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' }, spec: volume } as ApiObject)
    const claim = { ...common, resources: { requests: { storage: '1Gi' } } }
    await client.objects.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c', namespace },
      spec: claim,
    } as ApiObject)
    await cluster.settle('2s')
    await create('p', '1', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] })
    await cluster.settle('5s')
    expect(await nodeOf('p')).toBe('n2')
    const claims = client.resource<ApiObject & { spec?: { volumeName?: string } }>(resource('', 'persistentvolumeclaims'))
    expect((await claims.get('c', { namespace })).spec?.volumeName).toBe('v')
  })

  test('SCHED-04: a Pod with scheduling gates waits until they are removed; a level without them binds it at once', async () => {
    const { create, pods, nodeOf, condition, events } = await cluster.open('gated')
    await cluster.addNode('n1')
    await create('p', '1', { schedulingGates: [{ name: 'example.com/quota' }] })
    await cluster.settle('2s')
    if (version === '1.25') {
      expect(await nodeOf('p')).toBe('n1')
      return
    }
    expect([await nodeOf('p'), await events('p')]).toEqual([undefined, []])
    expect(await condition('p')).toMatchObject({ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' })
    await pods.patch('p', { spec: { schedulingGates: [] } }, { type: 'merge', namespace: 'gated' })
    await cluster.settle()
    expect(await nodeOf('p')).toBe('n1')
  })
})
