import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aConfigMap, aNamespace } from '@orch/testkit'
import { type RunningServer, type ServerUser, start, virtualClock } from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../../services/orch/src/start/eventually.ts'
import { matchers } from '../../services/orch/src/testing/index.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }
const clock = virtualClock()
let server: RunningServer
let operator: ServerUser

beforeAll(async () => {
  server = await start({ clock, profile: 'kubernetes' })
  operator = server.user('operator')
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

type Map = ReturnType<typeof aConfigMap> & { readonly data?: Readonly<Record<string, string>> }
const maps = () => server.client.resource<Map>(configMaps)

describe('a hot loop', () => {
  test('is found from the time of the call on, for the users of the test or one user', async () => {
    const object = await operator.client.resource(configMaps).create(aConfigMap({ name: 'a' }))
    // Three concurrent writes without a change, in the middle of the time.
    const loopLater = () => clock.after(500, () => [1, 2, 3].map(() => operator.client.resource(configMaps).update(object)))
    loopLater()
    await clock.advance('1s')
    await server.expectNoHotLoop()
    loopLater()
    await expect(server.expectNoHotLoop({ for: '1s' })).rejects.toThrow(
      'operator has written configmaps default/a 3 times without a change',
    )
    loopLater()
    server.user('other')
    await server.expectNoHotLoop({ user: 'other' })
    const { pass, message } = await matchers.toHaveNoHotLoop(server)
    expect([pass, message()]).toEqual([true, 'no client of the server is in a hot loop'])
  })
})

describe('the assertion about an object', () => {
  test('waits for a function or for its members, and for its absence', async () => {
    const waiting = server.eventually(reference, { data: { size: '2' } })
    await maps().create(aConfigMap({ name: 'a', data: { size: '1' } }))
    await maps().patch('a', { data: { size: '2' } }, { ...inDefault, type: 'merge' })
    expect(await waiting).toMatchObject({ data: { size: '2' } })
    const gone = server.eventually(reference, (object) => object === undefined)
    await maps().delete('a', inDefault)
    expect(await gone).toBeUndefined()
  })

  test('fails with the timeline of the object', async () => {
    await maps().create(aConfigMap({ name: 'a', data: { size: '1' } }))
    const [found, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const waiting = eventually<Map>(server.client, reference, {
      matcher: (object) => {
        found.resolve()
        if (object?.data?.['size'] === '2') seen.resolve()
        throw new Error('not yet')
      },
      end: () => seen.promise,
      within: 'a day',
    })
    const message = waiting.catch((error: Error) => error.message)
    await found.promise
    await maps().patch('a', { data: { size: '2' } }, { ...inDefault, type: 'merge', fieldManager: 'operator' })
    expect(await message).toMatch(
      /^ConfigMap default\/a has not become as expected within a day: not yet\n@\d+ FOUND\n@\d+ MODIFIED .*by operator.* data\.size: "1" → "2"$/,
    )
    await expect(server.eventually(reference, { data: { size: '3' } }, { within: 0 })).rejects.toThrow('within 0 ms')
    const watches = () => operator.requests.count({ verb: 'watch' })
    const before = watches()
    const end = () => vi.waitUntil(() => watches() > before, { timeout: 60_000 }).then(() => {})
    await expect(
      eventually(operator.client, reference, { matcher: { data: { size: '3' }, spec: {} }, end, within: 'a day' }),
    ).rejects.toThrow('within a day: data.size: expected "3", found "2", spec: expected {}, found nothing\n')
    await expect(server.eventually({ ...reference, kind: 'Widget' }, {})).rejects.toThrow('v1 has no kind Widget')
  })
})

describe('leaks', () => {
  test('are open watches, held objects, namespaces and leases', async () => {
    expect(await server.leaks()).toEqual([])
    const leaving = new AbortController()
    await operator.client.resource(configMaps).watch({ ...inDefault, signal: leaving.signal })
    await server.client.objects.create(aConfigMap({ name: 'a', finalizers: ['example.com/held'] }))
    await maps().delete('a', inDefault)
    await server.client.objects.create(aNamespace({ name: 'team-a' }))
    const spec = { holderIdentity: 'operator' }
    await server.client.objects.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader', ...inDefault },
      spec,
    })
    expect(await server.leaks()).toEqual([
      'operator has an open watch of /api/v1/namespaces/default/configmaps',
      'Lease default/leader is held by operator',
      'ConfigMap default/a is being deleted, and held by example.com/held',
      'Namespace team-a is still there',
    ])
    const { pass, message } = await matchers.toHaveNoLeaks(server)
    expect([pass, message()]).toEqual([false, expect.stringContaining('the server has leaks:\noperator has an open watch')])
    leaving.abort()
    await using fork = await server.fork()
    expect(await fork.leaks()).toEqual([])
  })

  test('are at most a thousand', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'leaks-'))
    const dump = join(folder.path, 'dump.json')
    const held = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/held'] }
    const items = Array.from({ length: 1_001 }, (_, index) => aConfigMap({ name: `m-${index}`, ...held }))
    writeFileSync(dump, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    await server.load(dump)
    const leaks = await server.leaks()
    expect([leaks.length, leaks.at(-1)]).toEqual([1_001, 'the search ended after 1000 leaks'])
  })
})
