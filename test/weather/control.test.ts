import { Agent, request as requestOverHttps } from 'node:https'
import { silentLog } from '@orch/platform'
import { aConfigMap } from '@orch/testkit'
import { type RunningServer, start, virtualClock } from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wireOf } from './wire.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
let server: RunningServer
const agent = new Agent({ keepAlive: true })

beforeAll(async () => {
  server = await start({ profile: 'kubernetes', control: true, clock: virtualClock(), seed: 7, log: silentLog })
})
beforeEach(() => server.reset())
afterAll(async () => {
  agent.destroy()
  await server.stop()
})

interface Answer {
  readonly code: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies differ by call
  readonly body: any
}

type Access = NonNullable<RunningServer['control']>

/** A call like that of a program in another language: with only the URL, the token and the authority. */
function call(
  method: string,
  path: string,
  body?: unknown,
  access: Access | undefined = server.control,
  type = 'application/json',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${access?.token}`, 'content-type': type }
    const sent = requestOverHttps(`${access?.url}${path}`, { method, headers, ca: access?.certificateAuthority, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ code: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text }))
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const maps = (user = 'operator') => server.user(user).client.resource(configMaps)

/** The lines of a stream, one at a time. */
function streamOf(path: string) {
  const lines: string[] = []
  let wake = () => {}
  const { url, token, certificateAuthority: ca } = server.control as Access
  const sent = requestOverHttps(`${url}${path}`, { headers: { authorization: `Bearer ${token}` }, ca, agent: false }, (response) => {
    let rest = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      const pieces = (rest + part).split('\n')
      rest = pieces.pop() ?? ''
      lines.push(...pieces.filter((piece) => piece !== ''))
      wake()
    })
    response.on('error', () => {})
  })
  sent.on('error', () => {}).end()
  return {
    async next() {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return JSON.parse(lines.shift() ?? '')
    },
    close: () => sent.destroy(),
  }
}

describe('the control of a server', () => {
  test('lists its calls, and refuses others with the expected form', async () => {
    const { body } = await call('GET', '')
    expect(body.paths).toContainEqual({ method: 'POST', path: '/orch/v1/faults', doc: 'adds a fault' })
    const refused: [string, string, unknown, number, string][] = [
      ['PUT', '/faults', undefined, 405, 'expected one of GET, POST, DELETE'],
      ['GET', '/requests?limit=x', undefined, 400, 'limit=x: must be a whole number from 0 to 10000'],
      ['GET', '/requests?colour=red', undefined, 400, 'colour: unknown parameter; expected one of user, agent'],
      ['GET', '/work?colour=red', undefined, 400, 'colour: unknown parameter; expected one of pretty, timeout'],
      ['GET', '/objects?colour=red', undefined, 400, 'colour: unknown parameter; expected one of namespace, pretty, timeout'],
      ['GET', '/admission?colour=red', undefined, 400, 'colour: unknown parameter; expected one of pretty, timeout'],
      ['POST', '/load?colour=red', undefined, 400, 'colour: unknown parameter; expected one of name, existing, secrets'],
      ['GET', '/hot-loops?user=operatr', undefined, 400, 'user: operatr has sent no request, and is no user of the test: there is none'],
      ['POST', '/forks', { exploration: 'x' }, 400, 'exploration: ORCH_EXPLORE=x: must be a seed, such as 7'],
      ['GET', '/requests?since=noon', undefined, 400, 'since=noon: must be a time'],
      ['POST', '/faults', undefined, 400, 'must be a fault'],
      ['POST', '/faults', [], 400, 'the body: must be an object'],
      ['POST', '/faults', { effect: { explode: {} } }, 400, 'effect: must have exactly one member of delay, refuse'],
      ['POST', '/faults', { effect: { refuse: { code: 200 } } }, 400, '200 is no code of an error'],
      ['POST', '/faults', { effect: { refuse: { code: '500' } } }, 400, 'effect.refuse.code: must be a whole number, not "500"'],
      ['POST', '/faults', { times: 0, effect: { hang: {} } }, 400, 'times of a fault is 0'],
      ['POST', '/faults', { on: { who: 'a' }, effect: { hang: {} } }, 400, 'on.who: is no member: expected one of user'],
      ['POST', '/faults', { name: 'a\nb', effect: { hang: {} } }, 400, 'expected 1 to 253 printable characters of ASCII'],
      ['POST', '/faults', { effect: { refuse: { code: 503, retryAfter: -1 } } }, 400, 'retryAfter is -1'],
      [
        'POST',
        '/faults',
        { on: { user: '*'.repeat(1_001) }, effect: { hang: {} } },
        400,
        'on.user: must be a text of at most 1000 characters of Unicode',
      ],
      ['POST', '/users', { name: '\ud800' }, 400, 'name: must be a text of at most 1000 characters of Unicode'],
      ['DELETE', '/faults/none', undefined, 404, 'there is no fault "none"'],
      ['POST', '/clock/advance', { by: 'soon' }, 400, 'soon is not a duration'],
      ['POST', '/clock/advance', { to: '1990-01-01T00:00:00Z' }, 400, 'time does not go back'],
      ['POST', '/clock/advance', { to: '+275760-09-13T00:00:00Z' }, 400, 'the clock ends with the year 9999'],
      ['POST', '/clock/advance', {}, 400, 'must have one of by and to'],
      ['POST', '/users', { name: '' }, 400, 'name: is required'],
      ['GET', '/users/nobody', undefined, 404, 'there is no user "nobody"'],
      ['POST', '/reads/freeze', { user: 'nobody' }, 404, 'there is no user "nobody"'],
      ['POST', '/scenarios/earthquake', { user: 'operator' }, 400, 'expected one of apiServerRestart'],
      ['POST', '/watches/delay', {}, 400, 'time: is required'],
      ['POST', '/snapshots', { name: 'a/b' }, 400, 'name: must be 1 to 63 letters, digits'],
      ['POST', '/forks', { name: '' }, 400, 'name: must be 1 to 63 letters, digits'],
      ['POST', '/restore', { snapshot: 'none' }, 404, 'there is no snapshot "none"'],
      ['DELETE', '/weather/none', undefined, 404, 'there is no weather "none"'],
      ['DELETE', '/forks/none', undefined, 404, 'there is no fork "none"'],
    ]
    expect((await call('GET', '/nothing')).code).toBe(404)
    expect((await call('GET', '/timeline?limit=1')).body.items).toEqual([])
    for (const [method, path, sent, code, message] of refused) {
      const answer = await call(method, path, sent)
      expect([path, answer.code, answer.body.message]).toEqual([path, code, expect.stringContaining(message)])
    }
    for (const type of ['application/x-ndjson', 'application/octet-stream'])
      expect(await call('POST', '/forks', {}, server.control, type)).toMatchObject({
        code: 415,
        body: { message: expect.stringContaining('application/json') },
      })
    expect((await call('GET', '/forks')).body.items).toEqual([])
  })

  test('needs the token, or the right to its paths', async () => {
    expect((await call('GET', '/faults', undefined, { ...(server.control as Access), token: 'wrong' })).code).toBe(401)
    const allowed = server.user('watcher', { rules: [{ verbs: ['get'], nonResourceURLs: ['/orch/v1/requests'] }] })
    const wire = await wireOf('http2', allowed.kubeconfig)
    expect((await wire.send({ path: '/orch/v1/requests' })).status).toBe(200)
    expect((await wire.send({ path: '/orch/v1/faults' })).status).toBe(403)
    expect((await wire.send({ method: 'DELETE', path: '/orch/v1/requests' })).status).toBe(403)
    const api = new URL(server.url)
    const { token, certificateAuthority } = server.control as Access
    expect((await call('GET', '/api/v1/pods', undefined, { url: api.origin, token, certificateAuthority })).code).toBe(403)
  })

  test('shows requests in pages, without its own', async () => {
    await maps().create(aConfigMap({ name: 'a' }))
    await maps().create(aConfigMap({ name: 'b' }))
    await maps().get('a', inDefault)
    const first = await call('GET', '/requests?user=oper*&limit=2')
    expect(first.body.items).toMatchObject([
      { user: 'operator', verb: 'create', resource: 'configmaps', name: 'a', code: 201, changed: true },
      { name: 'b' },
    ])
    expect(first.body.remaining).toBe(true)
    const rest = await call('GET', `/requests?user=operator&limit=2&after=${first.body.next}`)
    expect([rest.body.items.length, rest.body.items[0].verb, rest.body.remaining]).toEqual([1, 'get', false])
    const last = await call('GET', '/requests?user=operator&last=1')
    expect(last.body.items).toEqual(rest.body.items)
    expect((await call('GET', '/requests?verb=create,delete&changed=true')).body.items.length).toBe(2)
    expect((await call('GET', '/requests?path=/orch*')).body.items).toEqual([])
    await call('DELETE', '/requests')
    expect((await call('GET', '/requests')).body.items).toEqual([])
  })

  test('streams requests as they arrive, and a watch again at its end', async () => {
    await maps().create(aConfigMap({ name: 'a' }))
    const stream = streamOf('/requests?watch=true&user=operator')
    expect(await stream.next()).toMatchObject({ verb: 'create', name: 'a' })
    const watching = await maps().watch({ ...inDefault, resourceVersion: '0' })
    expect((await watching.next()).value?.type).toBe('ADDED')
    expect(await stream.next()).toMatchObject({ verb: 'watch', watch: expect.any(Number) })
    expect((await call('POST', '/watches/end', { user: 'operator', resource: 'configmaps' })).body).toEqual({ watches: 1 })
    expect(await stream.next()).toMatchObject({ verb: 'watch', durationMs: expect.any(Number) })
    await watching.return()
    stream.close()
  })

  test('adds faults, waits for their hits, lists and removes them', async () => {
    const added = await call('POST', '/faults', {
      name: 'lost',
      on: { user: 'operator', verb: 'create' },
      times: 1,
      effect: { loseReply: {} },
    })
    expect([added.code, added.body]).toMatchObject([201, { name: 'lost', times: 1, effect: { loseReply: {} }, hits: 0 }])
    const waiting = call('GET', '/faults/lost?hits=1&within=30s')
    await expect(maps().create(aConfigMap({ name: 'a' }))).rejects.toThrow()
    expect((await waiting).body.hits).toBe(1)
    expect((await call('GET', '/faults')).body.items).toMatchObject([{ name: 'lost', hits: 1 }])
    expect((await server.client.resource(configMaps).get('a', inDefault)).metadata.name).toBe('a')
    expect((await call('GET', '/faults/lost?hits=2&within=1ms')).body.message).toContain('has hit 1 of 2 requests within 1ms')
    expect((await call('DELETE', '/faults/lost')).body).toEqual({ hits: 1 })
    server.faults.add({ name: 'code', on: { agent: /^x/, body: () => true }, effect: { kind: 'delay', ms: 5 } })
    expect((await call('GET', '/faults')).body.items).toEqual([
      { name: 'code', on: { agent: '/^x/', body: 'function' }, effect: { delay: { time: '5ms' } }, hits: 0 },
    ])
    await call('DELETE', '/faults')
    expect((await call('GET', '/faults')).body.items).toEqual([])
  })

  test('matches parts of bodies, and never its own calls', async () => {
    await call('POST', '/faults', { on: { body: { data: { a: '1' } } }, effect: { refuse: { code: 500 } } })
    await call('POST', '/faults', { name: 'all', on: { user: '*' }, effect: { refuse: { code: 503 } } })
    expect((await call('GET', '/faults')).code).toBe(200)
    await call('DELETE', '/faults/all')
    await expect(maps().create(aConfigMap({ name: 'a', data: { a: '1', b: '2' } }))).rejects.toMatchObject({ code: 500 })
    await maps().create(aConfigMap({ name: 'b', data: { a: '2' } }))
  })

  test('moves the clock, and shows its timers', async () => {
    const before = (await call('GET', '/clock')).body
    expect(before).toMatchObject({ virtual: true, now: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) })
    const after = (await call('POST', '/clock/advance', { by: '1m' })).body
    expect(Date.parse(after.now) - Date.parse(before.now)).toBe(60_000)
    expect(after.timers).toBeGreaterThan(0)
    expect((await call('POST', '/clock/next', {})).body).toMatchObject({ moved: expect.any(Boolean), virtual: true })
  })

  test('shows a system clock and does not move it, observes a user, lists leaks, and explores a fork', async () => {
    await using real = await start({ control: true })
    expect((await call('GET', '/clock', undefined, real.control)).body).toMatchObject({ virtual: false, pending: [] })
    const refused = await call('POST', '/clock/advance', { by: '1s' }, real.control)
    expect([refused.code, refused.body.message]).toEqual([409, expect.stringContaining('cannot be moved')])
    await using other = await start({ control: false })
    expect(other.control).toBeUndefined()
    real.user('operator')
    expect((await call('GET', '/hot-loops?user=operator&for=1ms', undefined, real.control)).body).toEqual({ items: [] })
    await real.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } })
    expect((await call('GET', '/leaks', undefined, real.control)).body.items).toEqual([{ text: 'Namespace left is still there' }])
    const explored = (await call('POST', '/forks', { exploration: '10:0' }, real.control)).body
    await call('POST', '/users', { name: 'explorer' }, explored.control)
    expect((await call('GET', '/faults', undefined, explored.control)).body.items).toMatchObject([
      { name: 'a conflict', on: { user: 'operator' } },
      { name: 'a conflict', on: { user: 'explorer' } },
    ])
  })

  test('creates users with a client configuration and rights', async () => {
    const made = await call('POST', '/users', {
      name: 'reader',
      rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }],
    })
    expect(made.code).toBe(201)
    const wire = await wireOf('http1', made.body.kubeconfig)
    expect((await wire.send({ path: '/api/v1/namespaces/default/configmaps' })).status).toBe(200)
    expect((await wire.send({ path: '/api/v1/namespaces/default/secrets' })).status).toBe(403)
    expect((await call('POST', '/users', { name: 'reader' })).code).toBe(200)
    expect((await call('POST', '/users', { name: 'reader', groups: ['x'] })).body.message).toContain('options cannot be changed')
    expect((await call('GET', '/users')).body.items).toContainEqual({ name: 'reader' })
    expect((await call('GET', '/users/reader')).body.kubeconfig).toBe(made.body.kubeconfig)
    const wrong = await call('POST', '/users', { name: 'other', rules: [{ resources: ['pods'] }] })
    expect([wrong.code, wrong.body.message]).toEqual([400, 'rules[0].verbs: is required'])
  })

  test('holds and releases watches, and freezes and thaws reads', async () => {
    await maps('other').create(aConfigMap({ name: 'a' }))
    const watching = await maps().watch({ ...inDefault, resourceVersion: '0' })
    await watching.next()
    const { name } = (await call('POST', '/watches/hold', { user: 'operator' })).body
    expect((await call('GET', '/weather')).body.items).toEqual([{ name, kind: 'watches/hold', given: { user: 'operator' } }])
    let got = false
    const second = watching.next().finally(() => {
      got = true
    })
    await maps('other').create(aConfigMap({ name: 'b' }))
    await server.settled()
    expect(got).toBe(false)
    await call('DELETE', `/weather/${name}`)
    expect((await second).done).toBe(false)
    await watching.return()

    const frozen = await call('POST', '/reads/freeze', { user: 'operator', strength: 'all', on: { resource: 'configmaps' } })
    await maps('other').create(aConfigMap({ name: 'c' }))
    expect((await maps().list(inDefault)).items.map(({ metadata }) => metadata.name)).not.toContain('c')
    await call('DELETE', `/weather/${frozen.body.name}`)
    expect((await maps().list(inDefault)).items.map(({ metadata }) => metadata.name)).toContain('c')
  })

  test('starts and ends scenarios of a user', async () => {
    const { name } = (await call('POST', '/scenarios/throttled', { user: 'operator', perSecond: 1 })).body
    await maps().list(inDefault)
    const seen = () => server.requests({ user: 'operator', fault: 'throttled' }).length
    await maps()
      .list(inDefault)
      .catch(() => {})
    expect(seen()).toBeGreaterThan(0)
    await call('DELETE', `/weather/${name}`)
    expect((await call('GET', '/weather')).body.items).toEqual([])
    const wrong = await call('POST', '/scenarios/quietWatch', { user: 'operator' })
    expect([wrong.code, wrong.body.message]).toEqual([400, 'time: is required'])
  })

  test('stores and restores snapshots, and resets', async () => {
    await maps().create(aConfigMap({ name: 'a' }))
    const kept = await call('POST', '/snapshots', { name: 'with-a' })
    expect(kept.code).toBe(201)
    expect((await call('POST', '/snapshots', { name: 'with-a' })).code).toBe(409)
    await maps().delete('a', inDefault)
    await call('POST', '/restore', { snapshot: 'with-a' })
    expect((await maps().get('a', inDefault)).metadata.name).toBe('a')
    await call('POST', '/reset', {})
    await expect(maps().get('a', inDefault)).rejects.toMatchObject({ code: 404 })
    expect((await call('GET', '/snapshots')).body.items).toMatchObject([{ name: 'with-a' }])
    await call('DELETE', '/snapshots/with-a')
    expect((await call('GET', '/settled?within=60s')).body).toEqual({ settled: true })
  })

  test('forks a server, whose fork has a separate control', async () => {
    await maps().create(aConfigMap({ name: 'a' }))
    const [{ code, body: fork }, second] = await Promise.all([
      call('POST', '/forks', { name: 'one' }),
      call('POST', '/forks', { name: 'one' }),
    ])
    expect([second.code, second.body.message]).toEqual([409, 'there is a fork "one" already'])
    expect(code).toBe(201)
    const wire = await wireOf('http1', fork.kubeconfig)
    expect((await wire.send({ method: 'DELETE', path: '/api/v1/namespaces/default/configmaps/a' })).status).toBe(200)
    expect((await maps().get('a', inDefault)).metadata.name).toBe('a')
    expect((await call('GET', '/requests?verb=delete', undefined, fork.control)).body.items.length).toBe(1)
    expect((await call('GET', '/requests?verb=delete')).body.items.length).toBe(0)
    expect((await call('GET', '/forks')).body.items.map(({ name }: { name: string }) => name)).toEqual(['one'])
    expect((await call('DELETE', '/forks/one')).code).toBe(200)
    await expect(wire.send({ path: '/readyz' })).resolves.toMatchObject({ status: 0 })
  })
})
