import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { blackHole, cut, delay, type Effect, hang, loseReply, type RunningServer, refuse, refuseConnection, start, truncate } from 'orch'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { aCalledServer, type CalledServer } from './called-server.ts'
import { type Wire, type WireAnswer, wireOf } from './wire.ts'

const within = '60s'
let called: CalledServer
let server: RunningServer
let wires: Readonly<Record<'admin' | 'nobody' | 'stranger', Wire>>
let count = 0
const fresh = (what: string) => {
  count += 1
  return `${what}-${count}`
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const rule = (resource: string) => ({ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] })

/** A webhook at the called server, for creates of a resource. */
const hooks = (kind: string, path: string, resource: string, timeoutSeconds = 10) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name: `${path}-${resource}` },
  webhooks: [
    {
      name: `${path}.${resource}.example.com`,
      rules: [rule(resource)],
      clientConfig: { url: `https://${called.address}/${path}`, caBundle: called.caBundle },
      ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds },
    },
  ],
})
const widgets = () => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { url: `https://${called.address}/convert`, caBundle: called.caBundle },
        conversionReviewVersions: ['v1'],
      },
    },
    versions: ['v1', 'v2'].map((name) => ({
      ...{ name, served: true, storage: name === 'v1' },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
})
const flavors = () => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.example.io' },
  spec: {
    ...{ group: 'example.io', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, caBundle: called.caBundle },
    service: { namespace: 'team', name: 'api' },
  },
})

beforeAll(async () => {
  called = await aCalledServer()
  const policy = called.file('policy.json', {
    ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy' },
    rules: [{ level: 'Metadata', omitStages: ['RequestReceived'], resources: [{ group: '', resources: ['secrets'] }] }, { level: 'None' }],
  })
  server = await start({
    ...{ profile: 'kubernetes', nodes: 1, seed: 7 },
    flags: [
      '--fault-injection',
      `--webhook-service-map=team/api=${called.address}`,
      '--authorization-mode=RBAC,Webhook',
      `--authorization-webhook-config-file=${called.configFile('access')}`,
      `--authentication-token-webhook-config-file=${called.configFile('token')}`,
      `--audit-policy-file=${policy}`,
      `--audit-webhook-config-file=${called.configFile('audit')}`,
      '--audit-webhook-mode=blocking-strict',
    ],
  })
  const pod = { metadata: { name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'busybox' }] } }
  const objects = [
    hooks('Validating', 'validate', 'configmaps'),
    hooks('Mutating', 'mutate', 'services'),
    hooks('Validating', 'validate', 'limitranges', 1),
    ...[widgets(), flavors(), { apiVersion: 'v1', kind: 'Pod', ...pod }],
  ]
  for (const object of objects) await server.client.objects.create(object as ApiObject)
  await server.eventually(
    { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' },
    { status: { phase: 'Running' } },
    { within },
  )
  const served = (kind: string, name: string, type: string) =>
    server.eventually(
      { apiVersion: kind === 'APIService' ? 'apiregistration.k8s.io/v1' : 'apiextensions.k8s.io/v1', kind, name },
      (object) => JSON.stringify(object).includes(`"type":"${type}"`) && !JSON.stringify(object).includes('"status":"False"'),
      { within },
    )
  await served('CustomResourceDefinition', 'widgets.example.com', 'Established')
  await served('APIService', 'v1.example.io', 'Available')
  await server.client.objects.create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } })
  const { kubeconfig } = server.user('operator')
  const nobody = server.user('nobody', { rules: [] }).kubeconfig
  wires = {
    admin: await wireOf('http1', kubeconfig),
    nobody: await wireOf('http1', nobody),
    stranger: await wireOf('http1', nobody.replace(/client-(certificate|key)-data: .*/g, '')),
  }
})
afterEach(() => server.faults.clear())
afterAll(async () => {
  await server.stop()
  called.stop()
})

const post = (path: string, object: object) => wires.admin.send({ method: 'POST', path, body: JSON.stringify(object) })
/** The status code of an answer; 0: the connection broke. */
const codeOf = async (answer: Promise<WireAnswer>) => {
  const { status, error } = await answer
  return error === '' ? status : 0
}

/** A call by name, the request that causes it with its status code, and the first part of the call's path at the called server. */
interface Case {
  readonly to: string
  readonly kind: string
  ask(): Promise<WireAnswer>
  readonly code: number
  /** The status code if the call fails. */
  readonly failed: number
  /** The status code if the weather refuses the call with 503, where it differs. */
  readonly refused?: number
  /** The server forwards the answer unchanged. */
  readonly isPassedOn?: boolean
}

const cases: readonly Case[] = [
  {
    to: 'webhook/validate.configmaps.example.com',
    kind: 'validate',
    ask: () => post(configMaps, aConfigMap({ name: fresh('c') })),
    ...{ code: 201, failed: 500 },
  },
  {
    to: 'webhook/mutate.services.example.com',
    kind: 'mutate',
    ask: () =>
      post('/api/v1/namespaces/default/services', {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: fresh('s') }, spec: { ports: [{ port: 80 }] } },
      }),
    ...{ code: 201, failed: 500 },
  },
  {
    to: 'conversion/widgets.example.com',
    kind: 'convert',
    ask: () => wires.admin.send({ path: '/apis/example.com/v2/namespaces/default/widgets/w' }),
    ...{ code: 200, failed: 500 },
  },
  {
    to: 'apiservice/v1.example.io',
    kind: 'apis',
    ask: () => wires.admin.send({ path: '/apis/example.io/v1/namespaces/default/flavors' }),
    ...{ code: 200, failed: 503, isPassedOn: true },
  },
  {
    to: 'kubelet/node-1/logs',
    kind: 'kubelet',
    ask: () => wires.admin.send({ path: '/api/v1/namespaces/default/pods/web/log' }),
    ...{ code: 200, failed: 500, refused: 503, isPassedOn: true },
  },
]

const arrivedAt = (kind: string) => called.calls.get(kind) ?? 0

describe.each(cases)('a fault in a call of $to', ({ to, kind, ask, code, failed, refused = failed, isPassedOn = false }) => {
  /** The status code of the request under a fault of the call, and true if a call has arrived. */
  const under = async (effect: Effect) => {
    using fault = server.faults.add({ on: { outgoing: to }, effect })
    const before = arrivedAt(kind)
    const found = await codeOf(ask())
    expect(fault.hits).toBe(1)
    return [found, arrivedAt(kind) > before]
  }

  test('makes the call fail before it arrives, by a refused or cut connection, or by a status', async () => {
    expect(await codeOf(ask())).toBe(code)
    expect(await under(refuseConnection())).toEqual([failed, false])
    expect(await under(cut())).toEqual([failed, false])
    expect(await under(refuse(503))).toEqual([refused, false])
  })

  test('lets the call arrive if only its answer is lost, cut off or late', async () => {
    const isArrived = kind !== 'kubelet'
    expect(await under(loseReply())).toEqual([failed, isArrived])
    expect(await under(cut({ when: 'after' }))).toEqual([failed, isArrived])
    expect(await under(truncate(5))).toEqual([isPassedOn ? 0 : failed, isArrived])
    const beganMs = performance.now()
    expect(await under(delay('30ms'))).toEqual([code, isArrived])
    expect(performance.now() - beganMs).toBeGreaterThan(29)
  })
})

const retried = [
  {
    to: 'authentication/webhook',
    kind: 'token',
    ask: () => wires.stranger.send({ path: configMaps, headers: { authorization: `Bearer ${fresh('token')}` } }),
    denied: 401,
  },
  {
    to: 'authorization/webhook',
    kind: 'access',
    ask: () => wires.nobody.send({ path: `/api/v1/namespaces/${fresh('n')}/configmaps` }),
    denied: 500,
  },
] as const

describe.each(retried)('a fault in a call of $to', ({ to, kind, ask, denied }) => {
  test('is retried after a lost answer, and is a refusal with a status', async () => {
    const lost = server.faults.add({ on: { outgoing: to }, times: 1, effect: loseReply() })
    const before = arrivedAt(kind)
    expect(await codeOf(ask())).toBe(200)
    expect([lost.hits, arrivedAt(kind) - before]).toEqual([1, 2])
    using refused = server.faults.add({ on: { outgoing: to }, effect: refuse(400) })
    expect(await codeOf(ask())).toBe(denied)
    expect([refused.hits, arrivedAt(kind) - before]).toEqual([1, 2])
  })
})

test('an audit webhook misses an event whose call was cut, and gets an event whose answer was lost', async () => {
  const read = () => wires.admin.send({ path: '/api/v1/namespaces/default/secrets' })
  const before = arrivedAt('audit')
  const cutOff = server.faults.add({ on: { outgoing: 'audit/webhook' }, times: 1, effect: cut() })
  await read()
  await cutOff.hit()
  const lost = server.faults.add({ on: { outgoing: 'audit/webhook' }, times: 1, effect: loseReply() })
  await read()
  await lost.hit()
  await expect.poll(() => arrivedAt('audit') - before, { timeout: 10_000 }).toBe(1)
})

test.each([
  ['hang', hang()],
  ['black-hole', blackHole()],
] as const)('a call with %s lasts until its caller aborts', async (_name, effect) => {
  const limitRange = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: fresh('l') }, spec: { limits: [] } }
  using fault = server.faults.add({ on: { outgoing: /limitranges/ }, effect })
  const { status, body } = await wires.admin.send({
    ...{ method: 'POST', path: '/api/v1/namespaces/default/limitranges?timeout=100ms', body: JSON.stringify(limitRange) },
  })
  expect([status, fault.hits]).toEqual([500, 1])
  expect(body).toContain('context deadline exceeded')
})

test('faults of calls count like others, and are in the metric and the list', async () => {
  const fault = server.faults.add({ name: 'once', on: { outgoing: /^webhook\/validate/ }, after: 1, times: 1, effect: refuse(500) })
  const codes = []
  for (let turn = 0; turn < 3; turn += 1) codes.push(await codeOf(post(configMaps, aConfigMap({ name: fresh('c') }))))
  expect([codes, fault.hits]).toEqual([[201, 500, 201], 1])
  const { body } = await wires.admin.send({ path: '/metrics' })
  expect(body).toContain('orch_faults_injected_total{fault="once",effect="refuse"} 1')
})

test('a FaultRule with outgoing is in effect when its status has a count of hits, and counts matched calls', async () => {
  const named = { apiVersion: 'faults.orch.io/v1', kind: 'FaultRule', name: 'away' }
  const spec = { match: { outgoing: 'webhook/validate.*' }, times: 1, effect: { refuseConnection: {} } }
  await server.client.objects.create({ ...named, metadata: { name: 'away' }, spec } as ApiObject)
  await server.eventually(named, { status: { hits: 0 } }, { within })
  const codes = []
  for (let turn = 0; turn < 2; turn += 1) codes.push(await codeOf(post(configMaps, aConfigMap({ name: fresh('c') }))))
  expect(codes).toEqual([500, 201])
  await server.eventually(named, { status: { hits: 1 } }, { within })
})

test('a fault of outgoing calls accepts no other member in on', () => {
  const add = () => server.faults.add({ on: { outgoing: 'kms/one', verb: 'get' }, effect: hang() })
  expect(add).toThrow('on.verb of a fault is about requests, and on.outgoing about calls of the server: expected one of the two')
})
