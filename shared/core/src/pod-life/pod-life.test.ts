import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { PodLife, statusPatch } from './pod-life.ts'
import { scriptOf } from './script.ts'

type Spec = Omit<Partial<Pod['spec']>, 'containers'> & { readonly containers?: readonly object[] }

const beganMs = Date.parse('2030-01-01T00:00:00Z')
const aContainer = (name: string, more: object = {}) => ({ name, image: 'img:1', ...more })

interface Words {
  readonly annotations?: Readonly<Record<string, string>>
  readonly owner?: string
  readonly spec?: Spec
  readonly status?: Partial<Pod['status']>
  readonly level?: number
}

/** A Pod on a node. Times are seconds from its start. */
class Life {
  #pod: Pod
  readonly #life: PodLife

  constructor({ annotations = {}, owner, spec = {}, status = {}, level = 37 }: Words) {
    this.#pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{ name: 'web', namespace: 'team', uid: 'u', generation: 1 },
        annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`simulation.orch.io/${name}`, value])),
        ...(owner !== undefined && { ownerReferences: [{ apiVersion: 'batch/v1', kind: owner, name: 'o', uid: 'o', controller: true }] }),
      },
      spec: { containers: [aContainer('main')], nodeName: 'node-1', ...spec } as Pod['spec'],
      status: { phase: 'Pending', ...status },
    }
    let ids = 0
    this.#life = new PodLife({
      pod: this.#pod,
      script: scriptOf(this.#pod, namesOf('orch')),
      level,
      address: '10.244.0.2',
      hostAddress: '10.250.0.1',
      newId: () => `id-${++ids}`,
      digestOf: (image) => `digest of ${image}`,
    })
  }

  at(seconds: number) {
    const nowMs = beganMs + seconds * 1000
    const { events, due, isGone } = this.#life.advance(nowMs)
    const status = this.#life.status(this.#pod.status, nowMs)
    const isWritten = statusPatch(this.#pod, status) !== undefined
    this.#pod = { ...this.#pod, status }
    return {
      status,
      isWritten,
      isGone,
      events: events.map(({ reason, message }) => `${reason} ${message}`),
      due: due === undefined ? undefined : (due.atMs - beganMs) / 1000,
      isHopeless: due?.isHopeless,
      state: states(status),
    }
  }

  change(metadata: Partial<Pod['metadata']>, spec: Spec = {}): void {
    this.#pod = { ...this.#pod, metadata: { ...this.#pod.metadata, ...metadata }, spec: { ...this.#pod.spec, ...spec } as Pod['spec'] }
    this.#life.observe(this.#pod)
  }

  delete(graceSeconds: number): void {
    this.change({ deletionTimestamp: '2030-01-01T00:10:00Z', deletionGracePeriodSeconds: graceSeconds })
  }
}

/** `Running: main running ready` */
function states({ phase, initContainerStatuses, containerStatuses }: Pod['status']): string {
  const texts = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].map(({ name, state = {}, ready, restartCount }) => {
    const { running, terminated, waiting } = state ?? {}
    const what = running ? 'running' : terminated ? `ended with ${terminated.exitCode}` : (waiting?.reason ?? 'waiting')
    return `${name} ${what}${ready ? ' ready' : ''}${restartCount > 0 ? ` (${restartCount})` : ''}`
  })
  return `${phase}: ${texts.join(', ')}`
}

const conditionsOf = ({ conditions }: Pod['status']) =>
  (conditions ?? []).map(({ type, status, reason, message }) =>
    [type, status, reason, message].filter((text) => text !== undefined).join(' '),
  )

describe('a Pod that nothing holds back', () => {
  test('NODE-SIM-22, NODE-SIM-30: runs and is ready in one status, with all conditions in their order', () => {
    const { status, events, due } = new Life({}).at(0)
    expect(states(status)).toBe('Running: main running ready')
    expect(conditionsOf(status)).toEqual([
      'PodReadyToStartContainers True',
      'Initialized True',
      'Ready True',
      'ContainersReady True',
      'PodScheduled True',
    ])
    expect(status).toMatchObject({
      ...{ podIP: '10.244.0.2', hostIP: '10.250.0.1', hostIPs: [{ ip: '10.250.0.1' }], startTime: '2030-01-01T00:00:00Z' },
      ...{ observedGeneration: 1 },
      containerStatuses: [{ containerID: 'containerd://id-1', imageID: 'img:1@sha256:digest of img:1', started: true }],
    })
    expect(events).toEqual([
      'Pulled Container image "img:1" already present on machine and can be accessed by the pod',
      'Created Container created',
      'Started Container started',
    ])
    expect(due).toBeUndefined()
  })

  test.each([
    [25, ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'], 'Created container main', false],
    [29, ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'], 'Created container main', true],
  ])('NODE-SIM-22, NODE-SIM-38: at level 1.%i it has the conditions and texts of that level', (level, types, created, hasHostAddresses) => {
    const { status, events } = new Life({ level }).at(0)
    expect(status.conditions?.map(({ type }) => type)).toEqual(types)
    expect('hostIPs' in status).toBe(hasHostAddresses)
    expect(events).toEqual([
      'Pulled Container image "img:1" already present on machine',
      `Created ${created}`,
      'Started Started container main',
    ])
  })

  test('NODE-SIM-48: is not written again while nothing changes', () => {
    const life = new Life({ spec: { containers: [aContainer('main', { readinessProbe: { periodSeconds: 10 }, livenessProbe: {} })] } })
    expect(life.at(0)).toMatchObject({ isWritten: true, due: undefined })
    expect(life.at(500)).toMatchObject({ isWritten: false, events: [] })
  })
})

describe('a Pod that ends', () => {
  test('NODE-SIM-24: a container of a Job ends with 0 after a second', () => {
    const life = new Life({ owner: 'Job', spec: { restartPolicy: 'Never' } })
    expect(life.at(0)).toMatchObject({ state: 'Running: main running ready', due: 1 })
    const { status, state, due } = life.at(1)
    expect({ state, due }).toEqual({ state: 'Succeeded: main ended with 0', due: undefined })
    expect(status.containerStatuses?.[0]?.state?.terminated).toEqual({
      ...{ exitCode: 0, reason: 'Completed', containerID: 'containerd://id-1' },
      ...{ startedAt: '2030-01-01T00:00:00Z', finishedAt: '2030-01-01T00:00:01Z' },
    })
    expect(conditionsOf(status)).toContain('Ready False PodCompleted')
  })

  test('NODE-SIM-49, NODE-SIM-50: a deleted Pod stops its containers, shows their ends, and is gone', () => {
    const life = new Life({ annotations: { shutdown: '2s' } })
    life.at(0)
    life.delete(30)
    expect(life.at(5)).toMatchObject({ isGone: false, due: 7, events: ['Killing Stopping container main'] })
    expect(life.at(7)).toMatchObject({ isGone: true, due: undefined, state: 'Succeeded: main ended with 0', events: [] })
  })

  test.each([
    [25, 'Running: main ended with 137'],
    [27, 'Failed: main ended with 137'],
  ])('NODE-SIM-49, NODE-SIM-50: at level 1.%i a container that takes longer than the grace period is killed', (level, state) => {
    const life = new Life({ annotations: { shutdown: '60s' }, level })
    life.at(0)
    life.delete(30)
    expect(life.at(5)).toMatchObject({ due: 35 })
    life.delete(10)
    expect(life.at(6)).toMatchObject({ due: 15, events: [] })
    expect(life.at(15)).toMatchObject({ isGone: true, state })
  })

  test('NODE-SIM-40: a Pod is stopped at its deadline', () => {
    const life = new Life({ spec: { activeDeadlineSeconds: 20 } })
    expect(life.at(0)).toMatchObject({ due: 20 })
    const { status, events } = life.at(20)
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    })
    expect(events).toContain('DeadlineExceeded Pod was active on the node longer than the specified deadline')
  })
})

describe('annotations of a Pod', () => {
  test('one that cannot be read is a sentence that names it and what was expected', () => {
    const pod = {
      metadata: {
        annotations: { 'simulation.orch.io/run-for': 'soon', 'simulation.orch.io/exit-code.b': '1', 'simulation.orch.io/x': '' },
      },
      spec: { containers: [aContainer('a')] },
    }
    expect(scriptOf(pod as unknown as Pod, namesOf('kubernetes')).problems).toEqual([
      'annotation simulation.orch.io/run-for: "soon": must be a duration such as 30s or 1m30s',
      expect.stringMatching(/^annotation simulation.orch.io\/x: is unknown; known after the slash: run-for, exit-code, /),
      'annotation simulation.orch.io/exit-code.b: the Pod has no container b',
    ])
  })
})
