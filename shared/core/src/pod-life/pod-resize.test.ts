import { expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { resizeRefusalOf } from './admission.ts'
import { statusPatch } from './conditions.ts'
import { PodLife } from './pod-life.ts'
import { compileScript } from './script-object.ts'

const beganMs = Date.parse('2030-01-01T00:00:00Z')
const amounts = (cpu: string, memory = '1Gi') => ({ limits: { memory, cpu }, requests: { memory, cpu } })
const restartsForMemory = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]

function aPod(containers: Pod['spec']['containers'], uid = 'u'): Pod {
  const spec = { containers, nodeName: 'node-1', restartPolicy: 'Never' as const }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'team', uid, generation: 1 },
    spec,
    status: { phase: 'Pending' },
  }
}

const nodeInfo = {
  ...{
    architecture: '',
    bootID: '',
    containerRuntimeVersion: '',
    kernelVersion: '',
    kubeProxyVersion: '',
    kubeletVersion: '',
    machineID: '',
  },
  ...{ operatingSystem: '', osImage: '', systemUUID: '' },
}
const node = {
  ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec: {} },
  status: { allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, daemonEndpoints: { kubeletEndpoint: { Port: 10250 } }, nodeInfo },
}

/** A Pod with the container `main` on a node of 8 CPUs. Times are seconds from its start. */
class ResizedPod {
  pod: Pod
  life: PodLife
  readonly others: Pod[] = []
  readonly #level: number

  constructor(level = 37, container: object = {}, shutdown = {}) {
    this.#level = level
    this.pod = aPod([{ name: 'main', image: 'img:1', resources: amounts('1'), ...container }])
    this.life = this.restart(shutdown)
  }

  restart(shutdown = {}): PodLife {
    const script = { apiVersion: '', kind: '', metadata: {}, spec: { containers: [{ name: 'main', shutdown }] } }
    let ids = 0
    const life = new PodLife({
      ...{ pod: this.pod, names: namesOf('orch'), level: this.#level, addresses: ['10.244.0.2'], hostAddresses: ['10.250.0.1'] },
      layers: [compileScript(script).layer],
      admitResize: (pod) => resizeRefusalOf({ pod, node, others: this.others, level: this.#level }),
      newId: () => `id-${++ids}`,
      digestOf: (image) => `digest of ${image}`,
    })
    this.life = life
    return life
  }

  at(seconds: number) {
    const nowMs = beganMs + seconds * 1000
    this.life.observe(this.pod)
    const { events } = this.life.advance(nowMs)
    const before = this.pod
    const status = this.life.status(before.status, nowMs)
    this.pod = { ...before, status }
    const { image, resources, allocatedResources, restartCount, state } = status.containerStatuses?.[0] ?? {}
    return {
      events: events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
      conditions: (status.conditions ?? []).filter(({ type }) => type.startsWith('PodResize')),
      ...{ cpu: resources?.limits?.['cpu'], allocated: allocatedResources?.['cpu'], memory: resources?.limits?.['memory'], image },
      state: `${state?.running ? 'running' : 'stopped'} ${restartCount}`,
      patch: statusPatch(before, status),
    }
  }

  change(container: object): void {
    const { metadata, spec } = this.pod
    const containers = (spec.containers ?? []).map((one) => ({ ...one, ...container }))
    this.pod = { ...this.pod, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 }, spec: { ...spec, containers } }
  }
}

const summary = (cpu: string, generation: number, memory = '1Gi') =>
  `{"containers":[{"name":"main","resources":{"limits":{"cpu":"${cpu}","memory":"${memory}"},"requests":{"cpu":"${cpu}","memory":"${memory}"}}}],"generation":${generation}}`

test('a resized Pod has its new resources at once, with the events of a kubelet', () => {
  const pod = new ResizedPod()
  expect(pod.at(0)).toMatchObject({ cpu: '1', allocated: '1' })
  pod.change({ resources: amounts('2') })
  expect(pod.at(1)).toMatchObject({
    ...{ cpu: '2', allocated: '2', state: 'running 0', conditions: [] },
    events: [
      `Normal ResizeStarted Pod resize started: ${summary('2', 2)}`,
      `Normal ResizeCompleted Pod resize completed: ${summary('2', 2)}`,
    ],
  })
  expect(pod.at(2)).toMatchObject({ events: [], patch: undefined })
})

test('a container whose resize policy says so restarts for its resources, and the resize is in progress until then', () => {
  const pod = new ResizedPod(37, { resizePolicy: restartsForMemory }, { after: '4s' })
  pod.at(0)
  pod.change({ resources: amounts('1', '2Gi') })
  const condition = { type: 'PodResizeInProgress', status: 'True', observedGeneration: 2 }
  expect(pod.at(1)).toMatchObject({
    ...{ memory: '1Gi', state: 'running 0', conditions: [condition] },
    events: [`Normal ResizeStarted Pod resize started: ${summary('1', 2, '2Gi')}`, 'Normal Killing Container main resize requires restart'],
  })
  const { events, ...rest } = pod.at(5)
  expect(rest).toMatchObject({ memory: '2Gi', state: 'running 1', conditions: [] })
  expect(rest.patch).toMatchObject({
    status: { conditions: expect.arrayContaining([{ $patch: 'delete', type: 'PodResizeInProgress' }]) },
  })
  expect(events.at(-1)).toBe(`Normal ResizeCompleted Pod resize completed: ${summary('1', 2, '2Gi')}`)
})

test('a resize for which the node has no room is deferred until another Pod has left', () => {
  const pod = new ResizedPod()
  pod.others.push(aPod([{ name: 'main', resources: amounts('5') }], 'other'))
  pod.at(0)
  pod.change({ resources: amounts('4') })
  const message = "Node didn't have enough resource: cpu, requested: 4000, used: 5000, capacity: 8000"
  const time = '2030-01-01T00:00:01Z'
  const condition = { type: 'PodResizePending', status: 'True', reason: 'Deferred', message, observedGeneration: 2 }
  expect(pod.at(1)).toMatchObject({
    ...{ cpu: '1', allocated: '1', conditions: [{ ...condition, lastProbeTime: time, lastTransitionTime: time }] },
    events: [`Warning ResizeDeferred Pod resize OutOfcpu: ${summary('4', 2).slice(0, -1)},"error":"${message}"}`],
  })
  expect(pod.life.isResizePending).toBe(true)
  expect(pod.at(2)).toMatchObject({ events: [], patch: undefined })
  pod.restart()
  expect(pod.at(3)).toMatchObject({ events: [], cpu: '1', patch: undefined })
  pod.others.pop()
  expect(pod.at(4)).toMatchObject({ cpu: '4', conditions: [], events: [expect.stringContaining('ResizeStarted'), expect.anything()] })
  expect(pod.life.isResizePending).toBe(false)
})

test('the allocated Pod has the resources of a deferred resize once there is room, without a change of the Pod', () => {
  const pod = new ResizedPod()
  pod.others.push(aPod([{ name: 'main', resources: amounts('5') }], 'other'))
  pod.at(0)
  pod.change({ resources: amounts('4') })
  pod.at(1)
  const allocated = () => pod.life.allocatedPod.spec.containers?.[0]?.resources
  expect(allocated()).toEqual(amounts('1'))
  pod.others.pop()
  pod.life.advance(beganMs + 2000)
  expect(allocated()).toEqual(amounts('4'))
})

test('a node that starts again restarts no container for a resize that is still deferred, and counts allocated resources', () => {
  const pod = new ResizedPod(37, { resizePolicy: restartsForMemory })
  pod.others.push(aPod([{ name: 'main', resources: amounts('1', '30Gi') }], 'other'))
  pod.at(0)
  pod.change({ resources: amounts('1', '4Gi') })
  pod.at(1)
  pod.restart()
  expect(pod.life.allocatedPod.spec.containers).toMatchObject([{ resources: amounts('1') }])
  expect(pod.at(2)).toMatchObject({ events: [], memory: '1Gi', state: 'running 0' })
})

test('a node that starts again restarts a container that was resized meanwhile, if its policy says so', () => {
  const pod = new ResizedPod(37, { resizePolicy: restartsForMemory })
  pod.at(0)
  pod.change({ resources: amounts('1', '2Gi') })
  pod.restart()
  expect(pod.at(1)).toMatchObject({ memory: '2Gi', state: 'running 1', conditions: [] })
})

test.each([
  [33, [], undefined],
  [35, ['Warning ResizeInfeasible Pod resize Infeasible'], 2],
])('a resize beyond the node is infeasible below level 36, where the API does not refuse it (%i)', (level, texts, observedGeneration) => {
  const pod = new ResizedPod(level)
  pod.at(0)
  pod.change({ resources: amounts('100') })
  const { events, conditions, cpu } = pod.at(1)
  expect(events.map((event) => event.split(':')[0])).toEqual(texts)
  expect(cpu).toBe('1')
  const message = "Node didn't have enough capacity: cpu, requested: 100000, capacity: 8000"
  expect(conditions).toMatchObject([{ type: 'PodResizePending', reason: 'Infeasible', message }])
  expect(conditions[0]?.observedGeneration).toBe(observedGeneration)
  pod.change({ resources: amounts('1') })
  expect(pod.at(2)).toMatchObject({ events: [], conditions: [] })
})

test('a container with a new image restarts with it, whatever its policy', () => {
  const pod = new ResizedPod(37, {}, { after: '4s' })
  pod.at(0)
  pod.change({ image: 'img:2' })
  expect(pod.at(1)).toMatchObject({
    ...{ image: 'img:1', state: 'running 0', events: ['Normal Killing Container main definition changed, will be restarted'] },
  })
  expect(pod.at(2)).toMatchObject({ events: [] })
  expect(pod.at(5)).toMatchObject({
    ...{ image: 'img:2', state: 'running 1', conditions: [] },
    events: [expect.stringContaining('"img:2" already present'), expect.stringContaining('Created'), expect.stringContaining('Started')],
  })
})
