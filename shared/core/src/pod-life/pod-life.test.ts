import { describe, expect, test } from 'vitest'
import { namesOf } from '../names.ts'
import type { Pod } from '../workloads/pods.ts'
import { statusPatch } from './conditions.ts'
import { PodLife } from './pod-life.ts'
import { scriptOf } from './script.ts'
import { compileScript, type ScriptObject } from './script-object.ts'

const beganMs = Date.parse('2030-01-01T00:00:00Z')
const aContainer = (name: string, more: object = {}) => ({ name, image: 'img:1', ...more })

interface Words {
  readonly annotations?: Readonly<Record<string, string>>
  readonly owner?: string
  readonly spec?: object
  readonly status?: Partial<Pod['status']>
  readonly level?: number
  readonly metadata?: object
  /** The script of the container `main`. */
  readonly script?: Partial<ScriptObject['spec']['containers'][number]>
}

/** A Pod on a node. Times are seconds from its start. */
class Life {
  #pod: Pod
  readonly #life: PodLife

  constructor({ annotations = {}, owner, spec = {}, status = {}, level = 37, metadata = {}, script = {} }: Words) {
    this.#pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{ name: 'web', namespace: 'team', uid: 'u', generation: 1 },
        annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`simulation.orch.io/${name}`, value])),
        ...(owner !== undefined && { ownerReferences: [{ apiVersion: 'batch/v1', kind: owner, name: 'o', uid: 'o', controller: true }] }),
        ...metadata,
      },
      spec: { containers: [aContainer('main')], nodeName: 'node-1', ...spec } as unknown as Pod['spec'],
      status: { phase: 'Pending', ...status },
    }
    let ids = 0
    this.#life = new PodLife({
      pod: this.#pod,
      names: namesOf('orch'),
      level,
      addresses: ['10.244.0.2'],
      hostAddresses: ['10.250.0.1'],
      layers: [compileScript({ apiVersion: '', kind: '', metadata: {}, spec: { containers: [{ name: 'main', ...script }] } }).layer],
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

  change(metadata: Partial<Pod['metadata']>, spec: object = {}): void {
    this.#pod = {
      ...this.#pod,
      metadata: { ...this.#pod.metadata, ...metadata },
      spec: { ...this.#pod.spec, ...spec } as unknown as Pod['spec'],
    }
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

describe('a Pod without delays', () => {
  test('NODE-SIM-22, NODE-SIM-30: runs and is ready in one status, with all conditions in order', () => {
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

describe('a Pod that terminates', () => {
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

  test('a container of a Job with the image pause runs until it is stopped', () => {
    const pauses = (image: string) =>
      new Life({ owner: 'Job', spec: { restartPolicy: 'Never', containers: [aContainer('main', { image })] } }).at(0).due === undefined
    expect(['registry.k8s.io/pause:3.10', 'pause', 'shop/pause-all:1', 'pause/web'].map(pauses)).toEqual([true, true, false, false])
  })

  test.each([
    ['Never', 'Succeeded: main ended with 0'],
    ['OnFailure', 'Succeeded: main ended with 0'],
    ['Always', 'Running: main running ready'],
  ])('a hook of Helm with the restart policy %s ends with 0 after a second, unless it always restarts', (restartPolicy, state) => {
    const life = new Life({ metadata: { annotations: { 'helm.sh/hook': 'test' } }, spec: { restartPolicy } })
    life.at(0)
    expect(life.at(1)).toMatchObject({ state })
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

  test.each([
    ['an annotation', { annotations: { evict: '30s' } }, 'The node was low on resource: memory. '],
    ['an annotation with a message', { annotations: { 'evict.main': '30s: low on disk' } }, 'low on disk'],
    ['a script', { script: { evict: { after: '30s', message: 'low on inodes' } } }, 'low on inodes'],
  ])('NODE-SIM-41: a Pod is evicted by %s', (_title, words, message) => {
    const life = new Life({ ...words, spec: { terminationGracePeriodSeconds: 600 } })
    expect(life.at(0)).toMatchObject({
      due: 30,
      isHopeless: false,
      events: expect.not.arrayContaining([expect.stringContaining('Evicted')]),
    })
    const { status, state, events, due } = life.at(30)
    expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message })
    expect([state, due]).toEqual(['Failed: main ended with 137', undefined])
    expect(events).toEqual([`Evicted ${message}`, 'Killing Stopping container main'])
    expect(conditionsOf(status)[0]).toBe(`DisruptionTarget True TerminationByKubelet ${message}`)
    expect(life.at(60).isWritten).toBe(false)
  })

  test('NODE-SIM-41: a Pod that is deleted before its eviction ends by its grace period', () => {
    const life = new Life({ annotations: { evict: '30s', shutdown: '60s' } })
    life.at(0)
    life.delete(40)
    expect(life.at(20)).toMatchObject({ due: 30 })
    expect(life.at(30)).toMatchObject({ due: 60, events: [] })
    expect(life.at(60)).toMatchObject({ isGone: true })
  })
})

describe('lifecycle hooks', () => {
  const withHook = (lifecycle: object, more: object = {}) => ({ spec: { containers: [aContainer('main', { lifecycle, ...more })] } })
  const exec = (...command: readonly string[]) => ({ exec: { command } })

  test.each([
    ['a sleep', { sleep: { seconds: 5 } }, 5],
    ['a sleep of a shell', exec('sh', '-c', 'sleep 5 && nginx -s quit; /bin/sleep 1m'), 65],
    ['a program that sleeps', exec('/bin/sleep', '2.5'), 2.5],
    ['another program', exec('nginx', '-s', 'quit'), 0],
    ['a request', { httpGet: { port: 80 } }, 0],
    ['a word in another one', exec('sh', '-c', 'nosleep 5; echo sleep5'), 0],
  ])('before the stop signal delay it: %s', (_name, preStop, seconds) => {
    const life = new Life({ ...withHook({ preStop }), annotations: { shutdown: '1s' } })
    life.at(0)
    life.delete(120)
    if (seconds > 0) expect(life.at(0)).toMatchObject({ state: 'Running: main running ready', due: seconds })
    expect(life.at(seconds)).toMatchObject({ isGone: false, due: seconds + 1 })
    expect(life.at(seconds + 1)).toMatchObject({ isGone: true, state: 'Succeeded: main ended with 0' })
  })

  test('before the stop signal end with the grace period, and leave two seconds', () => {
    const life = new Life({ ...withHook({ preStop: { sleep: { seconds: 60 } } }), annotations: { shutdown: '10s' } })
    life.at(0)
    life.delete(30)
    expect(life.at(0).due).toBe(30)
    expect(life.at(30).due).toBe(32)
    expect(life.at(32)).toMatchObject({ isGone: true, state: 'Failed: main ended with 137' })
    const killed = new Life(withHook({ preStop: { sleep: { seconds: 60 } } }))
    killed.at(0)
    killed.delete(0)
    expect(killed.at(0)).toMatchObject({ isGone: true, state: 'Failed: main ended with 137' })
  })

  test('after the start delay it, and the probes', () => {
    const readinessProbe = { exec: { command: ['true'] }, initialDelaySeconds: 1 }
    const life = new Life(withHook({ postStart: { sleep: { seconds: 3 } } }, { readinessProbe }))
    expect(life.at(0)).toMatchObject({ state: 'Pending: main ContainerCreating', due: 3 })
    expect(life.at(3)).toMatchObject({ state: 'Running: main running ready', due: undefined })
  })

  test('that sleep for a long text without a meaning end at once', () => {
    const life = new Life(withHook({ preStop: exec('sleep', `${'1'.repeat(300_000)}x`) }))
    life.at(0)
    life.delete(30)
    expect(life.at(0)).toMatchObject({ isGone: true })
  })

  test('that a script fails are events, and after the start kill the container', () => {
    const answers = { exec: [{ command: ['bad'], exitCode: 1 }] }
    const life = new Life({ ...withHook({ postStart: exec('bad'), preStop: exec('bad') }), script: answers })
    const { events, state } = life.at(0)
    expect(events.filter((text) => /Hook|Killing/.test(text)).slice(0, 3)).toEqual([
      'FailedPostStartHook PostStartHook failed',
      'Killing FailedPostStartHook',
      'FailedPreStopHook PreStopHook failed',
    ])
    expect(state).toBe('Running: main CrashLoopBackOff (1)')
    const stopped = new Life({ ...withHook({ preStop: exec('bad') }), script: answers })
    stopped.at(0)
    stopped.delete(30)
    expect(stopped.at(0)).toMatchObject({
      isGone: true,
      events: ['Killing Stopping container main', 'FailedPreStopHook PreStopHook failed'],
    })
  })
})

describe('a container that ends', () => {
  test('NODE-SIM-32, NODE-SIM-33: starts again at once, then after 10 s, 20 s, 40 s from each end', () => {
    const life = new Life({ annotations: { 'run-for': '1s', 'exit-code': '3' }, level: 25 })
    life.at(0)
    const first = life.at(1)
    expect(first.state).toBe('Running: main running ready (1)')
    expect(first.status.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 3, reason: 'Error' })
    const second = life.at(2)
    expect(second).toMatchObject({ state: 'Running: main CrashLoopBackOff (1)', due: 12, isHopeless: false })
    expect(second.events).toEqual(['BackOff Back-off restarting failed container'])
    expect(second.status.containerStatuses?.[0]?.state).toEqual({
      waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=main pod=web_team(u)' },
    })
    expect(conditionsOf(second.status)).toContain('Ready False ContainersNotReady containers with unready status: [main]')
    expect(life.at(12)).toMatchObject({ state: 'Running: main running ready (2)', due: 13 })
    expect(life.at(13).due).toBe(33)
    expect(life.at(33).due).toBe(34)
    expect(life.at(34).due).toBe(74)
  })

  test('starts at once with a new image, without the pauses of the former one, and shows the image of its last run', () => {
    const life = new Life({ annotations: { 'run-for': '1s', 'exit-code': '3' } })
    const imageAt = (seconds: number) => life.at(seconds).status.containerStatuses?.[0]?.image
    for (const seconds of [0, 1]) life.at(seconds)
    expect(life.at(2).state).toBe('Running: main CrashLoopBackOff (1)')
    life.change({}, { containers: [{ ...aContainer('main'), image: 'other:2' }] })
    expect(life.at(3).state).toBe('Running: main running ready (2)')
    expect(imageAt(3)).toBe('other:2')
    const completed = new Life({
      spec: { containers: [aContainer('main'), aContainer('other')], restartPolicy: 'Never' },
      script: { starts: [{ runFor: '1s' }] },
    })
    for (const seconds of [0, 1]) completed.at(seconds)
    completed.change({}, { containers: [{ ...aContainer('main'), image: 'other:2' }, aContainer('other')] })
    expect(completed.at(2)).toMatchObject({ state: 'Running: main ended with 0, other running ready', isWritten: false })
  })

  test('NODE-SIM-33: at level 1.37 the event names container and Pod, the back-off ends at five minutes, and no automatic clock advances for it', () => {
    const life = new Life({ annotations: { 'run-for': '1s' } })
    let at = life.at(0)
    const pauses: number[] = []
    const texts: string[] = []
    let last = 0
    while (pauses.length < 8) {
      const due = at.due ?? 0
      if (due - last > 1) pauses.push(due - last)
      last = due
      at = life.at(due)
      texts.push(...at.events.filter((text) => text.startsWith('BackOff')))
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300, 300])
    expect(texts[0]).toBe('BackOff Back-off restarting failed container main in pod web_team(u)')
    expect(life.at(last + 1)).toMatchObject({ isHopeless: true })
  })

  test('NODE-SIM-33: resets its back-off after a run of ten minutes', () => {
    const life = new Life({ annotations: { 'run-for': '700s' } })
    for (const seconds of [0, 700]) life.at(seconds)
    expect(life.at(1400).state).toBe('Running: main running ready (2)')
  })

  test.each([
    ['Never', 'Failed: main ended with 1'],
    ['OnFailure', 'Running: main running ready (1)'],
    ['Always', 'Running: main running ready (1)'],
  ])('NODE-SIM-32: with restartPolicy %s and exit code 1 its Pod is %s', (restartPolicy, state) => {
    const life = new Life({ annotations: { 'run-for': '5s', 'exit-codes': '1,0' }, spec: { restartPolicy } })
    life.at(0)
    expect(life.at(5).state).toBe(state)
  })

  test('NODE-SIM-24, NODE-SIM-32: follows its own restart rules before the policy of the Pod', () => {
    const rules = { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] }
    const spec = { restartPolicy: 'Never', containers: [aContainer('main', rules)] }
    const life = new Life({ annotations: { 'run-for': '5s', 'exit-codes': '42,1' }, spec })
    life.at(0)
    expect(life.at(5).state).toBe('Running: main running ready (1)')
    expect(life.at(10).state).toBe('Failed: main ended with 1 (1)')
  })
})

describe('init containers', () => {
  const initContainers = [aContainer('one'), aContainer('two')]

  test('NODE-SIM-25, NODE-SIM-34: run one after another before the other containers', () => {
    const life = new Life({ annotations: { 'run-for.one': '2s', 'run-for.two': '3s' }, spec: { initContainers } })
    const first = life.at(0)
    expect(first.state).toBe('Pending: one running, two PodInitializing, main PodInitializing')
    expect(conditionsOf(first.status)).toContain('Initialized False ContainersNotInitialized containers with incomplete status: [one two]')
    expect(life.at(2).state).toBe('Pending: one ended with 0 ready, two running, main PodInitializing')
    expect(life.at(5).state).toBe('Running: one ended with 0 ready, two ended with 0 ready, main running ready')
  })

  test.each([
    ['Never', 'Failed: one ended with 1, main PodInitializing'],
    ['Always', 'Pending: one running (1), main PodInitializing'],
  ])('NODE-SIM-34: that fail with restartPolicy %s: %s', (restartPolicy, state) => {
    const spec = { initContainers: [aContainer('one')], restartPolicy }
    const life = new Life({ annotations: { 'exit-code.one': '1', 'run-for.one': '1s' }, spec })
    life.at(0)
    expect(life.at(1).state).toBe(state)
  })

  test('NODE-SIM-34: as sidecars run beside the other containers and end after them', () => {
    const sidecar = aContainer('side', { restartPolicy: 'Always' })
    const spec = { initContainers: [sidecar, aContainer('one')], restartPolicy: 'Never' }
    const life = new Life({ annotations: { 'run-for.one': '1s', 'run-for.main': '5s', 'shutdown.side': '2s' }, spec })
    expect(life.at(0).state).toBe('Pending: side running ready, one running, main PodInitializing')
    expect(life.at(1).state).toBe('Running: side running ready, one ended with 0 ready, main running ready')
    const ended = life.at(6)
    expect(ended.state).toBe('Running: side running ready, one ended with 0 ready, main ended with 0')
    expect(ended.events).toEqual(['Killing Stopping container side'])
    expect(life.at(8).state).toBe('Succeeded: side ended with 0, one ended with 0 ready, main ended with 0')
  })
})

describe('probes', () => {
  const probe = { periodSeconds: 10, httpGet: { port: 80 } }
  const withProbes = (probes: object) => ({ containers: [aContainer('main', probes)] })

  test('NODE-SIM-43, NODE-SIM-46: make a container ready from the first passed call until failures reach the threshold', () => {
    const spec = withProbes({ readinessProbe: { ...probe, initialDelaySeconds: 3 } })
    const life = new Life({ annotations: { readiness: '0s:fail,10s:pass,40s:fail' }, spec })
    expect(life.at(0)).toMatchObject({ state: 'Running: main running', due: 3 })
    const failed = life.at(3)
    expect(failed).toMatchObject({ due: 13, events: ['Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 500'] })
    expect(life.at(13)).toMatchObject({ state: 'Running: main running ready', due: 43, events: [] })
    for (const seconds of [43, 53]) expect(life.at(seconds).state).toBe('Running: main running ready')
    expect(life.at(63)).toMatchObject({ state: 'Running: main running', isWritten: true })
  })

  test.each([
    [25, 'Unhealthy Readiness probe errored: strconv.Atoi: parsing "web": invalid syntax'],
    [33, 'Unhealthy Readiness probe errored and resulted in unknown state: strconv.Atoi: parsing "web": invalid syntax'],
    [37, 'Unhealthy Readiness probe errored and resulted in unknown state: port "web" not found'],
  ])('NODE-SIM-46: at level %i fail each time with the reason if the named port does not exist', (level, event) => {
    const port = { httpGet: { port: 'web', path: '/' }, tcpSocket: undefined }
    const life = new Life({ level, spec: withProbes({ readinessProbe: { ...probe, ...port } }) })
    expect(life.at(0)).toMatchObject({ state: 'Running: main running', due: 10, events: expect.arrayContaining([event]) })
    expect(life.at(10)).toMatchObject({ state: 'Running: main running', events: [event] })
  })

  test('NODE-SIM-47: stop and restart a container that is not alive', () => {
    const life = new Life({
      annotations: { liveness: '0s:pass,15s:fail' },
      spec: withProbes({ livenessProbe: { ...probe, failureThreshold: 2 } }),
    })
    expect(life.at(0).due).toBe(20)
    life.at(20)
    const { state, events, status } = life.at(30)
    expect(state).toBe('Running: main running ready (1)')
    expect(events.slice(0, 2)).toEqual([
      'Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 500',
      'Killing Container main failed liveness probe, will be restarted',
    ])
    expect(status.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({ exitCode: 137 })
  })

  test('NODE-SIM-44: for startup delay the others until they pass', () => {
    const life = new Life({
      annotations: { startup: '0s:fail,12s:pass' },
      spec: withProbes({ startupProbe: probe, readinessProbe: probe }),
    })
    const { status, due } = life.at(0)
    expect(status.containerStatuses?.[0]).toMatchObject({ started: false, ready: false })
    expect(due).toBe(10)
    life.at(10)
    expect(life.at(20).status.containerStatuses?.[0]).toMatchObject({ started: true, ready: true })
  })

  test('for readiness include a gate that a client sets', () => {
    const life = new Life({ spec: { readinessGates: [{ conditionType: 'example.com/lb' }] } })
    expect(conditionsOf(life.at(0).status)).toContain(
      'Ready False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/lb" does not exist.',
    )
  })
})

describe('images and starts', () => {
  test('NODE-SIM-36: an image is pulled, then the container starts', () => {
    const life = new Life({ annotations: { 'pull-delay': '4s', 'start-delay': '2s' }, level: 31 })
    expect(life.at(0)).toMatchObject({ state: 'Pending: main ContainerCreating', events: ['Pulling Pulling image "img:1"'], due: 4 })
    expect(life.at(4)).toMatchObject({
      events: ['Pulled Successfully pulled image "img:1" in 4s (4s including waiting). Image size: 0 bytes.'],
      due: 6,
    })
    expect(life.at(6).state).toBe('Running: main running ready')
  })

  test('NODE-SIM-36: an image that cannot be pulled is tried again after 10 s, 20 s and longer', () => {
    const life = new Life({ annotations: { image: 'fail' } })
    const refused = life.at(0)
    expect(refused.state).toBe('Pending: main ErrImagePull')
    expect(refused.events).toContain('Failed Error: ErrImagePull')
    expect(life.at(1)).toMatchObject({ state: 'Pending: main ImagePullBackOff', due: 10 })
    expect(life.at(10)).toMatchObject({ state: 'Pending: main ErrImagePull', due: 11 })
    expect(life.at(11).due).toBe(30)
  })

  test.each([
    ['web:', 'invalid reference format'],
    ['NGINX:1', 'invalid reference format: repository name (library/NGINX) must be lowercase'],
    ['registry.io:5000/team/Web', 'invalid reference format: repository name (team/Web) must be lowercase'],
    ['a//b', 'invalid reference format'],
    ['web@sha256:abc', 'invalid reference format'],
  ])('an image with the invalid name %s is never pulled, until it has another one', (image, problem) => {
    const life = new Life({ spec: { containers: [aContainer('main', { image })] } })
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${problem}`
    const { state, events, due, status } = life.at(0)
    expect([state, due, events]).toEqual([
      'Pending: main InvalidImageName',
      undefined,
      [`InspectFailed ${message}`, 'Failed Error: InvalidImageName'],
    ])
    expect(status.containerStatuses?.[0]?.state).toEqual({ waiting: { reason: 'InvalidImageName', message } })
    life.change({}, { containers: [aContainer('main', { image: `r.io:5000/a/b_c/d-e:v1@sha256:${'0a'.repeat(32)}` })] })
    expect(life.at(1).state).toBe('Running: main running ready')
  })

  test('ready-after delays the readiness of a container, with or without a probe', () => {
    const life = new Life({ annotations: { 'ready-after': '5s' } })
    expect(life.at(0)).toMatchObject({ state: 'Running: main running', due: 5 })
    expect(life.at(5)).toMatchObject({ state: 'Running: main running ready', due: undefined })
  })

  test('NODE-SIM-35: an ephemeral container starts when it is added, is never ready, and never restarts', () => {
    const life = new Life({ annotations: { 'run-for.debug': '3s' } })
    life.at(0)
    life.change({}, { ephemeralContainers: [aContainer('debug')] })
    const statuses = life.at(10).status.ephemeralContainerStatuses
    expect(statuses).toMatchObject([{ name: 'debug', state: { running: {} }, ready: false }])
    expect(statuses?.[0]).not.toHaveProperty('started')
    expect(life.at(13)).toMatchObject({
      due: undefined,
      status: { phase: 'Running', ephemeralContainerStatuses: [{ state: { terminated: { exitCode: 0 } }, restartCount: 0 }] },
    })
  })
})

describe('a Pod with a PodScript', () => {
  test('NODE-SIM-31: ends its runs with the given exit code, reason and message', () => {
    const starts = [{ runFor: '5s', exitCode: 137, reason: 'OOMKilled', message: 'lost database' }, { runFor: 'forever' }]
    const life = new Life({ script: { starts } })
    life.at(0)
    const { status, due } = life.at(5)
    expect(status.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      ...{ exitCode: 137, reason: 'OOMKilled', message: 'lost database' },
    })
    expect(due).toBeUndefined()
  })

  test('NODE-SIM-36: fails the given number of pulls with the given text, and then has the image', () => {
    const life = new Life({ script: { pull: { after: '2s', error: 'manifest unknown', times: 1 }, starts: [{ runFor: '60s' }] } })
    expect(life.at(0)).toMatchObject({ due: 2, events: ['Pulling Pulling image "img:1"'] })
    expect(life.at(2).events).toEqual(['Failed Failed to pull image "img:1": manifest unknown', 'Failed Error: ErrImagePull'])
    expect(life.at(3).state).toBe('Pending: main ImagePullBackOff')
    expect(life.at(12)).toMatchObject({ events: ['Pulling Pulling image "img:1"'], due: 14 })
    expect(life.at(14)).toMatchObject({ state: 'Running: main running ready', due: 74 })
    expect(life.at(74).events[0]).toBe('Pulled Container image "img:1" already present on machine and can be accessed by the pod')
  })

  test('NODE-SIM-36: reports an image that is absent and must not be pulled', () => {
    const spec = { containers: [aContainer('main', { imagePullPolicy: 'Never' })] }
    const { state, status, due } = new Life({ script: { pull: { after: '1s' } }, spec }).at(0)
    expect([state, due]).toEqual(['Pending: main ErrImageNeverPull', undefined])
    expect(status.containerStatuses?.[0]?.state?.waiting?.message).toBe('Container image "img:1" is not present with pull policy of Never')
  })

  test('NODE-SIM-46: shows the output that the script gives a failed probe', () => {
    const spec = { containers: [aContainer('main', { readinessProbe: { periodSeconds: 10, failureThreshold: 1 } })] }
    const ready = [
      { at: '60s', pass: false, output: 'HTTP probe failed with statuscode: 503' },
      { at: '2s', pass: true },
    ]
    const life = new Life({ script: { ready }, spec })
    expect(life.at(0)).toMatchObject({ state: 'Running: main running ready', due: 60 })
    expect(life.at(60)).toMatchObject({
      state: 'Running: main running',
      events: ['Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 503'],
    })
  })

  test.each([
    [{ after: '1s', exitCode: 3 }, 1, 3],
    [{ after: '1m' }, 30, 137],
    [{ ignoreTerm: true, exitCode: 3 }, 30, 137],
  ])('NODE-SIM-49: ends a container with the shutdown %o after %i s with %i', (shutdown, seconds, exitCode) => {
    const life = new Life({ script: { shutdown } })
    life.at(0)
    life.delete(30)
    expect(life.at(0)).toMatchObject({ due: seconds })
    expect(life.at(seconds)).toMatchObject({ isGone: true, state: expect.stringContaining(`main ended with ${exitCode}`) })
  })
})

describe('a Pod after a restart of its node', () => {
  test('continues from its status: restarts, ends of runs and back-off', () => {
    const running = { running: { startedAt: '2030-01-01T00:00:00Z' } }
    const ended = { exitCode: 1, reason: 'Error', startedAt: '2030-01-01T00:00:00Z', finishedAt: '2030-01-01T00:00:10Z' }
    const common = { image: 'img:1', imageID: '', started: true, ready: true, containerID: 'containerd://old' }
    const status = {
      ...{ phase: 'Running', startTime: '2030-01-01T00:00:00Z' },
      containerStatuses: [
        { ...common, name: 'a', state: running, lastState: {}, restartCount: 2 },
        { ...common, name: 'b', state: { waiting: {} }, lastState: { terminated: ended }, restartCount: 1, ready: false },
      ],
    }
    const life = new Life({ annotations: { 'run-for.a': '60s' }, spec: { containers: [aContainer('a'), aContainer('b')] }, status })
    expect(life.at(15)).toMatchObject({ state: 'Running: a running ready (2), b CrashLoopBackOff (1)', due: 20 })
    expect(life.at(20)).toMatchObject({ state: 'Running: a running ready (2), b running ready (2)', due: 60 })
  })

  test('starts 1,000 containers in one status', () => {
    const life = new Life({
      spec: { containers: Array.from({ length: 1000 }, (_, index) => aContainer(`c${index}`, { readinessProbe: {} })) },
    })
    const { status, events } = life.at(0)
    expect(status.containerStatuses?.every(({ ready }) => ready)).toBe(true)
    expect(events).toHaveLength(3000)
  })
})

describe('annotations of a Pod', () => {
  test('that are invalid are reported by name with the expected form', () => {
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
