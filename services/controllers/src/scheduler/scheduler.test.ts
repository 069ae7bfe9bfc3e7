import { createClient } from '@orch/client'
import { type IsGateOn, parseFeatureGates } from '@orch/core/feature-gates'
import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import type { AddedAffinity, SchedulerProfiles } from '@orch/core/scheduling'
import { createMetrics, silentLog, workqueueMetricsOf } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { schedulerController } from './scheduler.ts'

type Request = Parameters<Parameters<typeof createClient>[0]['send']>[0]

const turn = async () => {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
}

async function* linesOf(...values: readonly object[]) {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}

const aNode = (resourceVersion: string, labels: object, name = 'n') => ({
  metadata: { name, uid: name, resourceVersion, labels },
  spec: {},
  status: { allocatable: { pods: '110', cpu: '8', memory: '8Gi' } },
})

const aPod = (name: string, spec: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name, resourceVersion: '2' },
  spec: { schedulerName: 'default-scheduler', containers: [{ name: 'main' }], ...spec },
  status: { phase: 'Pending' },
})

/** Runs a scheduler over these objects, by plural, until the test ends. `changesOf` sends the changes of a collection, by default none. */
function run(
  lists: Readonly<Record<string, readonly object[]>>,
  changesOf: (path: string) => AsyncGenerator<Buffer> = () => linesOf(),
  {
    hasDevices = false,
    level = 37,
    isGateOn = () => hasDevices,
    profiles,
    refuses = () => false,
  }: { hasDevices?: boolean; level?: number; isGateOn?: IsGateOn; profiles?: SchedulerProfiles; refuses?(path: string): boolean } = {},
) {
  const ending = new AbortController()
  const ended = Promise.withResolvers<void>()
  async function* watched(path: string) {
    yield* changesOf(path)
    await ended.promise
  }
  const sent: Request[] = []
  const client = createClient({
    async send(request) {
      const { method, path } = request
      if (method !== 'GET') sent.push(request)
      if (method !== 'GET' && refuses(path)) return { status: 500, headers: {}, body: linesOf({ kind: 'Status', message: 'refused' }) }
      if (method !== 'GET') return { status: 201, headers: {}, body: linesOf({}) }
      if (path.includes('watch=')) return { status: 200, headers: {}, body: watched(path) }
      const [, plural = ''] = /([a-z]+)\?/.exec(path) ?? []
      return { status: 200, headers: {}, body: linesOf({ metadata: { resourceVersion: '2' }, items: lists[plural] ?? [] }) }
    },
    close() {},
  })
  const clock = createFakeClock()
  const queues = workqueueMetricsOf(createMetrics({ process: false }), clock)
  const { signal } = ending
  const running = schedulerController({ level, isGateOn, host: 'here', newUid: () => 'uid', profiles }).run({
    ...{ client, names: namesOf('kubernetes'), clock, random: () => 0, log: silentLog, queues, signal },
  })
  onTestFinished(async () => {
    ending.abort()
    ended.resolve()
    await running
  })
  return { clock, sent }
}

/** Schedules a Pod, while a changed Node, whose event arrives so many microtasks later, allows another one. Returns the bound Pods. */
async function boundPods(microtasks: number): Promise<string[]> {
  const [podAdded, nodeChanged] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function* changesOf(path: string) {
    if (path.includes('/pods?')) {
      await podAdded.promise
      yield* linesOf({ type: 'ADDED', object: aPod('any') })
    } else if (path.includes('/nodes?')) {
      await nodeChanged.promise
      yield* linesOf({ type: 'MODIFIED', object: aNode('3', { zone: 'z' }) })
    }
  }
  const { clock, sent } = run({ nodes: [aNode('1', {})], pods: [aPod('zoned', { nodeSelector: { zone: 'z' } })] }, changesOf)
  await turn()
  clock.advance(60_000)
  podAdded.resolve()
  for (let passed = 0; passed < microtasks; passed++) await undefined
  nodeChanged.resolve()
  await turn()
  return sent.flatMap(({ path }) => /pods\/([a-z]+)\/binding/.exec(path)?.[1] ?? []).sort()
}

test('SCHED-08: a change that wakes a Pod counts at each moment of an attempt for another Pod', async () => {
  const bound = await Promise.all(Array.from({ length: 10 }, (_, microtasks) => boundPods(microtasks)))
  expect(bound).toEqual(Array.from({ length: 10 }, () => ['any', 'zoned']))
})

test('the signal for the claims of a Pod ends with their writes, so that no listener keeps it', async () => {
  const claim = { metadata: { name: 'gpu', namespace: 'a', uid: 'c', resourceVersion: '1' }, spec: {}, status: { allocation: {} } }
  const pod = aPod('user', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] })
  const { sent } = run({ nodes: [aNode('1', {})], pods: [pod], resourceclaims: [claim] }, undefined, { hasDevices: true })
  await turn()
  const claims = sent.filter(({ path }) => path.includes('/resourceclaims/'))
  expect(claims.map(({ signal }) => signal?.aborted)).toEqual([true])
})

const nomination = ['/api/v1/namespaces/a/pods/user/status', { status: { nominatedNodeName: 'n' } }]

test.each([
  [34, [], []],
  [34, ['NominatedNodeNameForExpectation=true'], [nomination]],
  [35, [], [nomination]],
  [35, ['NominatedNodeNameForExpectation=false'], []],
])(
  'a Pod whose claims are prepared before its binding is nominated for its node by the gate (level %i, %j)',
  async (level, words, nominations) => {
    const gates = parseFeatureGates(words, level)
    if (gates.kind === 'refused') throw new Error(gates.message)
    const claim = { metadata: { name: 'gpu', namespace: 'a', uid: 'c', resourceVersion: '1' }, spec: {}, status: { allocation: {} } }
    const pod = aPod('user', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] })
    const { sent } = run({ nodes: [aNode('1', {})], pods: [pod], resourceclaims: [claim] }, undefined, { level, isGateOn: gates.isOn })
    await turn()
    const writes = sent
      .filter(({ path }) => path.includes('/pods/'))
      .map(({ path, body }) => [path.split('?')[0], JSON.parse(String(body))])
    expect(writes).toEqual([...nominations, ['/api/v1/namespaces/a/pods/user/binding', expect.objectContaining({ kind: 'Binding' })]])
  },
)

test('a nomination is cleared when the preparation fails before the informer shows it', async () => {
  const claim = { metadata: { name: 'gpu', namespace: 'a', uid: 'c', resourceVersion: '1' }, spec: {}, status: { allocation: {} } }
  const pod = aPod('user', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] })
  const refuses = (path: string) => path.includes('/resourceclaims/')
  const { sent } = run({ nodes: [aNode('1', {})], pods: [pod], resourceclaims: [claim] }, undefined, { hasDevices: true, refuses })
  await turn()
  const statuses = sent.filter(({ path }) => path.includes('/pods/user/status')).map(({ body }) => JSON.parse(String(body)).status)
  expect(statuses).toMatchObject([{ nominatedNodeName: 'n' }, { nominatedNodeName: null, conditions: [{ reason: 'SchedulerError' }] }])
})

test('a Pod that waits for resources is tried again when a resize frees them', async () => {
  const withCpus = (cpu: string) => ({ containers: [{ name: 'main', resources: { requests: { cpu } } }] })
  const placed = (cpu: string, resourceVersion = '2') => {
    const { metadata, ...pod } = aPod('large', { ...withCpus(cpu), nodeName: 'n' })
    return { ...pod, metadata: { ...metadata, resourceVersion } }
  }
  const resized = Promise.withResolvers<void>()
  async function* changesOf(path: string) {
    if (!path.includes('/pods?')) return
    await resized.promise
    yield* linesOf({ type: 'MODIFIED', object: placed('3', '4') })
  }
  const { clock, sent } = run({ nodes: [aNode('1', {})], pods: [placed('6'), aPod('waiting', withCpus('4'))] }, changesOf)
  const isBound = () => sent.some(({ path }) => path.includes('/pods/waiting/binding'))
  await turn()
  clock.advance(10_000)
  await turn()
  expect(isBound()).toBe(false)
  resized.resolve()
  await turn()
  clock.advance(10_000)
  await turn()
  expect(isBound()).toBe(true)
})

test('SCHED-32: each profile has a name, and adds its affinity to that of its Pods', async () => {
  const inPool = (pool: string) => ({ matchExpressions: [{ key: 'pool', operator: 'In', values: [pool] }] })
  const requires = (pool: string): AddedAffinity => ({
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [inPool(pool)] },
  })
  const prefers: AddedAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: inPool('batch') }] }
  const profiles = new Map([
    ['plain', undefined],
    ['batch', requires('batch')],
    ['gpu', requires('gpu')],
    ['soft', prefers],
  ])
  const nodes = ['n', 'm', 'o'].map((name) => aNode('1', name === 'm' ? { pool: 'batch' } : {}, name))
  const pods = [...profiles.keys(), 'default-scheduler'].map((schedulerName) => aPod(schedulerName.slice(0, 7), { schedulerName }))
  const { sent } = run({ nodes, pods }, undefined, { profiles })
  await turn()
  const bodies = sent.map(({ path, body }) => ({ path, body: JSON.parse(String(body)) }))
  const bound = bodies.flatMap(({ path, body }) => (path.endsWith('/binding') ? [[body.metadata.name, body.target.name]] : []))
  expect(Object.fromEntries(bound)).toEqual({ plain: 'n', batch: 'm', soft: 'm' })
  const refused = bodies.filter(({ body }) => body.status !== undefined)
  expect(refused).toMatchObject([{ path: expect.stringContaining('/pods/gpu/status') }])
  expect(refused[0]?.body.status.conditions[0].message).toBe(
    "0/3 nodes are available: 3 node(s) didn't match scheduler-enforced node affinity. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  )
  const events = bodies.flatMap(({ body: { reason, reportingController } }) =>
    reason === undefined ? [] : [[reason, reportingController]],
  )
  expect(events.sort()).toEqual([
    ['FailedScheduling', 'gpu'],
    ['Scheduled', 'batch'],
    ['Scheduled', 'plain'],
    ['Scheduled', 'soft'],
  ])
})

test('SCHED-63, SCHED-64: a victim that is terminating already is not deleted again, and its node is nominated', async () => {
  const resources = { requests: { cpu: '8' } }
  const spec = { containers: [{ name: 'main', resources }] }
  const victim = aPod('victim', { ...spec, nodeName: 'n', priority: 1 })
  const ending = { ...victim, metadata: { ...victim.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
  const { sent } = run({ nodes: [aNode('1', {})], pods: [ending, aPod('urgent', { ...spec, priority: 2 })] })
  await turn()
  expect(sent.filter(({ path }) => path.includes('/victim'))).toEqual([])
  const [patch] = sent.filter(({ path }) => path.includes('/urgent/status'))
  const { conditions, nominatedNodeName } = JSON.parse(String(patch?.body)).status
  expect(nominatedNodeName).toBe('n')
  expect(conditions[0].message).toBe(
    '0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n, preempting 1 victims',
  )
})
