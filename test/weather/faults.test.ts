import { silentLog } from '@orch/platform'
import { aConfigMap } from '@orch/testkit'
import { blackHole, cut, delay, hang, loseReply, type RunningServer, refuse, refuseConnection, start, truncate, virtualClock } from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Wire, type WireAnswer, wireOf } from './wire.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const path = '/api/v1/namespaces/default/configmaps'
const inDefault = { namespace: 'default' }
const nothing: Partial<WireAnswer> = { status: 0, headers: {}, body: '' }
const lines: { readonly fields: object; readonly text: string }[] = []
let server: RunningServer

beforeAll(async () => {
  const log = { ...silentLog, info: (fields: object, text: string) => void lines.push({ fields, text }) }
  server = await start({ profile: 'kubernetes', seed: 7, log })
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const maps = () => server.user('operator').client.resource(configMaps)
const stored = async () => (await server.client.resource(configMaps).list(inDefault)).items.map(({ metadata }) => metadata.name)
const codeOf = (sent: Promise<unknown>): Promise<number> =>
  sent.then(
    () => 200,
    (error: { readonly code: number }) => error.code,
  )
const bodyOf = (name: string) => JSON.stringify(aConfigMap({ name }))
const protocols = ['http1', 'http2'] as const
const wireFor = (protocol: (typeof protocols)[number]): Promise<Wire> => wireOf(protocol, server.user('operator').kubeconfig)

describe('a refusal by a fault', () => {
  test('has its code, its reason and the name of the fault, is counted and logged, and is not served', async () => {
    const { send } = await wireFor('http2')
    const fault = server.faults.add({ name: 'down', on: { verb: 'create' }, times: 1, effect: refuse(503) })
    const { status, headers, body } = await send({ method: 'POST', path, body: bodyOf('a') })
    expect([status, headers['orch-fault'], headers['retry-after']]).toEqual([503, 'down', '0'])
    expect(JSON.parse(body)).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable', details: { kind: 'configmaps' } })
    expect([fault.hits, await stored()]).toEqual([1, []])
    expect(server.requests({ fault: 'down' })).toMatchObject([{ user: 'operator', verb: 'create', code: 503, changed: false }])
    expect(lines.at(-1)).toMatchObject({ text: 'a fault was injected', fields: { fault: 'down', effect: 'refuse', user: 'operator' } })
    const metrics = await send({ path: '/metrics' })
    expect(metrics.body).toContain('orch_faults_injected_total{fault="down",effect="refuse"} 1')
  })

  test('has the requested code, reason, causes and Retry-After', async () => {
    const { send } = await wireFor('http1')
    const cases = [
      [refuse(410), 410, { reason: 'Expired' }, undefined],
      [refuse(429), 429, { reason: 'TooManyRequests' }, '0'],
      [refuse(429, { retryAfter: 3 }), 429, {}, '3'],
      [refuse(500, { reason: 'ServerTimeout', message: 'so' }), 500, { reason: 'ServerTimeout', message: 'so' }, undefined],
      [
        refuse(422, { causes: [{ field: 'data', message: 'bad' }] }),
        422,
        { details: { causes: [{ field: 'data', message: 'bad' }] } },
        undefined,
      ],
      [refuse(504), 504, { reason: 'Timeout' }, undefined],
    ] as const
    for (const [effect, status, expected, retryAfter] of cases) {
      using _fault = server.faults.add({ on: { resource: 'configmaps' }, effect })
      const answer = await send({ path })
      expect([answer.status, answer.headers['retry-after']]).toEqual([status, retryAfter])
      expect(JSON.parse(answer.body)).toMatchObject(expected)
    }
    expect((await send({ path })).status).toBe(200)
    expect(() => refuse(200)).toThrow('200 is no code of an error')
  })

  test('with 409 applies only to writes with a resourceVersion', async () => {
    const created = await maps().create(aConfigMap({ name: 'a' }))
    using fault = server.faults.add({ on: { user: 'operator' }, effect: refuse(409) })
    const { resourceVersion: _none, ...metadata } = created.metadata
    expect(await codeOf(maps().update({ ...created, metadata }))).toBe(200)
    expect(await codeOf(maps().get('a', inDefault))).toBe(200)
    expect(fault.hits).toBe(0)
    await expect(maps().update(created)).rejects.toMatchObject({
      code: 409,
      message: expect.stringContaining('the object has been modified'),
    })
    const preconditions = { resourceVersion: '1' }
    expect(await codeOf(maps().delete('a', inDefault, { preconditions }))).toBe(409)
    fault.remove()
    using _always = server.faults.add({ on: { verb: 'create' }, effect: refuse(409, { always: true }) })
    expect(await codeOf(maps().create(aConfigMap({ name: 'b' })))).toBe(409)
  })
})

describe('requests that match a fault', () => {
  const hitsOf = async (fault: object, requests: number) => {
    using _fault = server.faults.add({ on: { user: 'operator' }, effect: refuse(500), ...fault })
    const codes = []
    for (let count = 0; count < requests; count += 1) codes.push(await codeOf(maps().list(inDefault)))
    return codes.map((code) => (code === 500 ? 'x' : '.')).join('')
  }

  test('are limited by after, times and every', async () => {
    expect(await hitsOf({ after: 2, times: 1 }, 5)).toBe('..x..')
    expect(await hitsOf({ every: 2 }, 5)).toBe('x.x.x')
    expect(await hitsOf({ after: 1, every: 3, times: 2 }, 9)).toBe('.x..x....')
  })

  test('are drawn from the seed with a probability', async () => {
    const drawn = async () => {
      await using other = await start({ seed: 11 })
      const client = other.user('operator').client.resource(configMaps)
      other.user('operator').faults.add({ probability: 0.5, effect: refuse(500) })
      const codes = []
      for (let count = 0; count < 20; count += 1) codes.push(await codeOf(client.list(inDefault)))
      return codes
    }
    const first = await drawn()
    expect(new Set(first)).toEqual(new Set([200, 500]))
    expect(await drawn()).toEqual(first)
  })

  test('no longer exist after its block, its promise, its removal and clear', async () => {
    const until = Promise.withResolvers<void>()
    const fault = server.faults.add({ on: { user: 'operator' }, until: until.promise, effect: refuse(500) })
    const second = fault.hit(2)
    expect(await codeOf(maps().list(inDefault))).toBe(500)
    await fault.hit()
    until.resolve()
    await expect(second).rejects.toThrow('was removed after 1 of 2 hits')
    expect(await codeOf(maps().list(inDefault))).toBe(200)
    server.faults.add({ effect: refuse(500) })
    server.faults.clear()
    expect(await codeOf(maps().list(inDefault))).toBe(200)
  })

  test('have its user, agent, header, verb, resource, namespace, name, dry run and body', async () => {
    const { send } = await wireFor('http2')
    const yaml = { 'content-type': 'application/yaml' }
    const read = { path: `${path}/a`, headers: { 'user-agent': 'manager/v1', 'x-try': 'two' } }
    const write = { method: 'POST', path: `${path}?dryRun=All`, body: JSON.stringify(aConfigMap({ name: 'a', data: { size: '3' } })) }
    const inYaml = { ...write, headers: yaml, body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: "3"}\n' }
    const isOfSize = (size: string) => (body: unknown) => (body as { data?: { size?: string } }).data?.size === size
    const cases = [
      [read, { user: 'operator' }, { user: 'other' }],
      [read, { agent: /^manager\// }, { agent: /^kubectl/ }],
      [read, { header: { 'X-Try': 'two' } }, { header: { 'x-try': 'three' } }],
      [read, { verb: ['get', 'list'], name: 'a' }, { verb: 'list' }],
      [read, { resource: 'configmaps', subresource: '' }, { resource: 'secrets' }],
      [read, { namespace: 'default', name: /^a$/ }, { namespace: 'other' }],
      [write, { dryRun: true }, { dryRun: false }],
      [write, { body: isOfSize('3') }, { body: isOfSize('4') }],
      [inYaml, { body: isOfSize('3') }, { body: isOfSize('4') }],
      [{ path: '/version' }, { path: '/version' }, { path: /^.readyz/ }],
    ] as const
    for (const [request, hit, spared] of cases) {
      using _other = server.faults.add({ on: spared, effect: refuse(501) })
      expect((await send(request)).status, `spared by ${JSON.stringify(spared)}`).not.toBe(501)
      using _fault = server.faults.add({ on: hit, effect: refuse(500) })
      expect((await send(request)).status, `hit by ${JSON.stringify(hit)}`).toBe(500)
    }
    expect(await stored()).toEqual([])
  })

  test('exclude those of the harness and of the server, unless the fault names their user', async () => {
    using fault = server.faults.add({ effect: refuse(500) })
    await server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
    await server.settled({ within: 60_000 })
    expect(fault.hits).toBe(0)
    fault.remove()
    using _harness = server.faults.add({ on: { user: 'kubernetes-admin' }, effect: refuse(500) })
    expect(await codeOf(server.client.resource(configMaps).list(inDefault))).toBe(500)
    using own = server.faults.add({ on: { user: /^system:/, verb: 'update', resource: 'namespaces' }, times: 1, effect: refuse(500) })
    await server.user('operator').client.request({ method: 'DELETE', path: '/api/v1/namespaces/team-a' })
    await own.hit()
  })

  test('have one user if the fault belongs to that user', async () => {
    using _fault = server.user('operator').faults.add({ on: { verb: 'list' }, effect: refuse(500) })
    expect(await codeOf(maps().list(inDefault))).toBe(500)
    expect(await codeOf(server.user('other').client.resource(configMaps).list(inDefault))).toBe(200)
  })

  test('cannot be selected by an unknown member', () => {
    expect(() => server.faults.add({ effect: refuse(500), on: { verbs: 'get' } as object })).toThrow('verbs is no member of a match')
    expect(() => server.faults.add({ effect: refuse(500), ...{ time: 1 } })).toThrow('time is no member of a fault')
    for (const wrong of [{ times: 0 }, { after: -1 }, { every: 0.5 }, { probability: 2 }])
      expect(() => server.faults.add({ effect: refuse(500), ...wrong })).toThrow(RangeError)
  })
})

describe.each(protocols)('faults over %s', (protocol) => {
  test('that lose a reply store the object and its event, and send no byte of an answer', async () => {
    const { send } = await wireFor(protocol)
    const watch = await server.client.resource(configMaps).watch(inDefault)
    const fault = server.faults.add({ on: { user: 'operator' }, times: 2, effect: loseReply() })
    expect(await send({ path })).toMatchObject({ status: 200, error: '' })
    const create = { method: 'POST', path, body: bodyOf('a') }
    const lost = await send(create)
    expect(lost).toMatchObject(nothing)
    expect(lost.error).not.toBe('')
    expect((await watch.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    await watch.return()
    // The server refuses the write, so no reply can be lost: the second attempt meets the result of the first.
    expect(JSON.parse((await send(create)).body)).toMatchObject({ reason: 'AlreadyExists' })
    const object = await server.client.resource(configMaps).get('a', inDefault)
    const update = { method: 'PUT', path: `${path}/a`, body: JSON.stringify({ ...object, data: { x: '1' } }) }
    expect(await send(update)).toMatchObject(nothing)
    expect(JSON.parse((await send(update)).body)).toMatchObject({ reason: 'Conflict' })
    expect(fault.hits).toBe(2)
    expect(server.requests({ fault: fault.name }).map(({ verb, changed }) => [verb, changed])).toEqual([
      ['create', true],
      ['update', true],
    ])
  })

  test('that cut a connection before the request write nothing', async () => {
    const { send } = await wireFor(protocol)
    using _fault = server.faults.add({ on: { verb: 'create' }, effect: cut() })
    expect(await send({ method: 'POST', path, body: bodyOf('a') })).toMatchObject(nothing)
    expect(await stored()).toEqual([])
    expect(server.requests({ user: 'operator' })).toMatchObject([{ verb: 'create', code: 0, changed: false }])
  })

  test('that cut a connection after the request serve it', async () => {
    const { send } = await wireFor(protocol)
    using _fault = server.faults.add({ on: { user: 'operator' }, effect: cut({ when: 'after' }) })
    expect(await send({ method: 'POST', path, body: bodyOf('a') })).toMatchObject(nothing)
    expect(await send({ path })).toMatchObject(nothing)
    expect(await stored()).toEqual(['a'])
  })

  test('that truncate an answer end within its body, so that it is not taken for complete', async () => {
    const { send } = await wireFor(protocol)
    using _fault = server.faults.add({ on: { user: 'operator', path: '/version' }, effect: truncate(10) })
    using _none = server.faults.add({ on: { user: 'operator', path: '/apis' }, effect: truncate(0) })
    using _list = server.faults.add({ on: { user: 'operator', verb: 'list' }, effect: truncate(30) })
    for (const [target, length] of [
      ['/version', 10],
      ['/apis', 0],
      [path, 30],
    ] as const) {
      const { status, body, error } = await send({ path: target })
      expect([status, body.length, error === '']).toEqual([200, length, false])
    }
  })

  test('that hang a request end with its client', async () => {
    const client = server.user('operator').client.resource(configMaps)
    using fault = server.faults.add({ on: { user: 'operator' }, effect: hang() })
    const leaving = new AbortController()
    const sent = client.list({ ...inDefault, signal: leaving.signal })
    await fault.hit()
    leaving.abort()
    await expect(sent).rejects.toThrow()
    await server.settled({ within: 60_000 })
    expect(server.requests({ user: 'operator' })).toMatchObject([{ verb: 'list', code: 0 }])
  })
})

describe('a connection over HTTP/2', () => {
  test('keeps its other streams when one is cut, and loses all with the connection', async () => {
    const wire = await wireFor('http2')
    const effects = { stream: cut(), connection: cut({ scope: 'connection' }), refused: refuseConnection() }
    for (const [name, effect] of Object.entries(effects)) {
      const { send, ...other } = name === 'stream' ? wire : await wireFor('http2')
      using hung = server.faults.add({ on: { path: '/healthz' }, effect: hang() })
      using _cut = server.faults.add({ on: { path: '/version' }, effect })
      const waiting = send({ path: '/healthz' })
      await hung.hit()
      expect(await send({ path: '/version' })).toMatchObject(nothing)
      if (name !== 'stream') expect(await waiting).toMatchObject(nothing)
      expect(await other.ping(name === 'stream' ? 10_000 : 0).catch(() => false)).toBe(name === 'stream')
    }
  })
})

test('a black hole answers no ping, and a connection with a hanging request does', async () => {
  const [silent, hanging] = [await wireFor('http2'), await wireFor('http2')]
  using hole = server.faults.add({ on: { path: '/version' }, effect: blackHole() })
  using hung = server.faults.add({ on: { path: '/healthz' }, effect: hang() })
  void silent.send({ path: '/version' })
  void hanging.send({ path: '/healthz' })
  await Promise.all([hole.hit(), hung.hit()])
  let isAnswered = false
  void silent.ping(60_000).then((answered) => {
    isAnswered = answered
  })
  for (let count = 0; count < 3; count += 1) expect(await hanging.ping(60_000)).toBe(true)
  expect(isAnswered).toBe(false)
})

describe.each([
  ['hang', hang],
  ['blackHole', blackHole],
] as const)('a request of a part of the server that the fault %s holds', (_name, effect) => {
  const user = 'system:serviceaccount:kube-system:namespace-controller'
  /** A server whose controller of namespaces waits for the answer to such a request. */
  async function waiting(on: object) {
    const own = await server.fork()
    const fault = own.faults.add({ on: { user, ...on }, effect: effect() })
    const namespaces = own.client.resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false })
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } })
    await namespaces.delete('a')
    await fault.hit()
    return { own, fault }
  }

  test('ends with the fault, so that the part goes on', async () => {
    const { own, fault } = await waiting({ verb: 'get', resource: 'namespaces' })
    await using _ = own
    fault.remove()
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'a' }
    expect(await own.eventually(namespace, (object) => object === undefined, { within: 60_000 })).toBe(undefined)
  })

  test('does not delay the end of the server', async () => {
    const { own, fault } = await waiting({ path: '/apis' })
    await own.stop()
    expect(fault.hits).toBe(1)
  })
})

test('a watch that is paused keeps its connection, which answers pings', async () => {
  const { send, ping } = await wireFor('http2')
  const operator = server.user('operator')
  const watch = send({ path: `${path}?watch=true` })
  await vi.waitFor(() => expect(operator.requests.count({ verb: 'watch' })).toBe(1), 10_000)
  using _hold = operator.watches.hold()
  expect(await ping(60_000)).toBe(true)
  expect(operator.requests({ verb: 'watch' })).toMatchObject([{ code: 200, fault: 'holdWatch' }])
  operator.watches.endNow()
  expect(await watch).toMatchObject({ status: 200, error: '' })
})

test('a reset removes faults and logged requests', async () => {
  const { send } = await wireFor('http2')
  server.faults.add({ effect: refuse(500) })
  const fault = server.user('operator').faults.add({ effect: hang() })
  expect((await send({ path })).status).toBe(500)
  await server.reset()
  expect([(await send({ path })).status, fault.hits, server.requests({ user: 'operator' }).length]).toEqual([200, 0, 1])
})

test('a delay uses the clock of the server', async () => {
  const clock = virtualClock()
  await using own = await start({ clock })
  const { client, faults } = own.user('operator')
  using fault = faults.add({ on: { verb: 'list' }, effect: delay('30s') })
  let isAnswered = false
  const sent = client
    .resource(configMaps)
    .list(inDefault)
    .then(() => {
      isAnswered = true
    })
  await fault.hit()
  await clock.advance('29s')
  expect(isAnswered).toBe(false)
  await clock.advance('1s')
  await sent
  expect(own.requests({ verb: 'list', user: 'operator' })[0]?.durationMs).toBe(30_000)
  expect(() => delay('soon')).toThrow('soon is not a duration')
})
