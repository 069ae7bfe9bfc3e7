import { createClient, type TransportRequest } from '@orch/client'
import { createCatalogue } from '@orch/core/catalogue'
import { aggregatedDocument, apiResourceListDocument } from '@orch/core/discovery'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, someQueueMetrics } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { garbageCollector } from './garbage-collector.ts'

const names = namesOf('orch')
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A version of a remote server. If that server was unreachable at the start, the version is stale and empty. */
const remoteVersion = (freshness: 'Current' | 'Stale', kind = 'Thing') => ({
  version: 'v1',
  freshness,
  resources:
    freshness === 'Stale'
      ? []
      : [
          {
            resource: 'things',
            singularResource: '',
            scope: 'Cluster',
            verbs: ['delete', 'list', 'watch'],
            responseKind: { group: '', version: '', kind },
          },
        ],
})

interface Metadata {
  readonly name: string
  readonly uid: string
  readonly [field: string]: unknown
}

const secrets = '/api/v1/secrets'
const configMaps = '/api/v1/configmaps'
const line = (type: string, metadata: object) => Buffer.from(`${JSON.stringify({ type, object: { metadata } })}\n`)
const synced = line('BOOKMARK', { resourceVersion: '5', annotations: { 'orch.io/initial-events-end': 'true' } })
const expired = Buffer.from('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n')

/** The collector with a server that has the built-in kinds. Its watches send only the objects of the test. */
async function following() {
  const ending = new AbortController()
  const clock = createFakeClock()
  const catalogue = createCatalogue('orch')
  const asked: string[] = []
  const logged: string[] = []
  const definitionEvents: ((line: object) => void)[] = []
  const remote = { version: remoteVersion('Current') }
  const open = new Set<string>()
  const server = {
    /** Objects by the path of their collection over all namespaces. */
    objects: new Map<string, Metadata[]>(),
    /** Paths of collections whose watches never complete the initial state. */
    unsynced: new Set<string>(),
    /** Prefixes of failing requests, by method and path. */
    failing: new Set<string>(),
    /** Groups in addition to the built-in and the remote one. */
    others: [] as object[],
    apiServices: [] as object[],
  }
  const breaks = new Map<string, () => void>()
  async function* text(value: unknown) {
    yield Buffer.from(JSON.stringify(value))
  }
  async function* events(signal: AbortSignal | undefined) {
    while (signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<object>()
      definitionEvents.push(resolve)
      yield Buffer.from(`${JSON.stringify(await promise)}\n`)
    }
  }
  async function* watch(collection: string, signal: AbortSignal | undefined) {
    open.add(collection)
    const { promise, resolve } = Promise.withResolvers<void>()
    breaks.set(collection, resolve)
    signal?.addEventListener('abort', () => {
      open.delete(collection)
      resolve()
    })
    for (const metadata of server.objects.get(collection) ?? []) yield line('ADDED', metadata)
    if (!server.unsynced.has(collection)) yield synced
    await promise
    if (signal?.aborted !== true) yield expired
  }
  const found = (path: string) => {
    const [, plural = '', name = ''] = /^\/api\/v1\/namespaces\/n\/(\w+)\/(\w+)$/.exec(path) ?? []
    return server.objects.get(`/api/v1/${plural}`)?.find((metadata) => metadata.name === name)
  }
  const answer = ({ path, signal }: TransportRequest) => {
    if (path === '/api/v1') return text(apiResourceListDocument('v1', catalogue.inGroupVersion('', 'v1'), String))
    if (path === '/apis') {
      const document = aggregatedDocument(catalogue, catalogue.groups, (group, version) => catalogue.inGroupVersion(group, version))
      const items = [...document.items, { metadata: { name: 'remote.io' }, versions: [remote.version] }, ...server.others]
      return text({ ...document, items })
    }
    // The informer of definitions lists first; the reflector of their metadata only watches.
    if (path.startsWith(`${definitions}?watch`) && !path.includes('sendInitialEvents')) return events(signal)
    if (path.includes('watch=')) return watch(path.replace(/\?.*/, ''), signal)
    const items = path.includes('/apiservices') ? server.apiServices : []
    return text(path.startsWith('/api/v1/namespaces/n/') ? { metadata: found(path) } : { metadata: { resourceVersion: '1' }, items })
  }
  const client = createClient({
    async send(request) {
      const what = `${request.method} ${request.path}`
      asked.push(what)
      if ([...server.failing].some((start) => what.startsWith(start))) throw new Error('on purpose')
      const isAbsent = request.path.startsWith('/api/v1/namespaces/n/') && found(request.path) === undefined
      if (isAbsent) return { status: 404, headers: {}, body: text({ kind: 'Status', code: 404, reason: 'NotFound', message: '' }) }
      return { status: 200, headers: {}, body: answer(request) }
    },
    close() {},
  })
  const note = (fields: unknown, message: string) => void logged.push(`${message} ${Object.keys(fields as object)}`)
  const log = { ...silentLog, debug: note, warn: note }
  const context = { client, names, clock, random: () => 0, log, queues: someQueueMetrics(), signal: ending.signal }
  const begin = async () => {
    const running = garbageCollector.run(context)
    onTestFinished(async () => {
      ending.abort()
      definitionEvents.at(-1)?.({})
      await running
    })
    await expect.poll(() => definitionEvents.length).toBe(1)
  }
  const count = (start: string) => asked.filter((what) => what.startsWith(start)).length
  const change = async (name: string) => {
    const before = definitionEvents.length
    definitionEvents.at(-1)?.({ type: 'ADDED', object: { metadata: { name, uid: name, resourceVersion: name } } })
    await expect.poll(() => definitionEvents.length).toBe(before + 1)
  }
  /** Ends a watch whose version has expired, so that the initial state is sent again. */
  const breakWatch = (collection: string) => breaks.get(collection)?.()
  return {
    begin,
    clock,
    looks: () => asked.filter((what) => what === 'GET /apis').length,
    change,
    remote,
    open,
    server,
    count,
    breakWatch,
    logged,
    context,
    ending,
  }
}

const owner = (uid: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, ...more })
const anObject = (uid: string, more: object = {}): Metadata => ({ name: uid, uid, namespace: 'n', resourceVersion: '2', ...more })
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }

test('successive changes of definitions cause one discovery request, and one more a second later', async () => {
  const { begin, clock, looks, change } = await following()
  await begin()
  expect(looks()).toBe(1)
  for (const name of ['oaks.trees.io', 'elms.trees.io', 'figs.trees.io']) await change(name)
  clock.advance(199)
  await turn()
  expect(looks()).toBe(1)
  clock.advance(1)
  await expect.poll(looks).toBe(2)
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  await change('ashes.trees.io')
  clock.advance(200)
  await expect.poll(looks).toBe(4)
})

test('kinds of a remote server that is down are still watched, as their objects still exist; unserved kinds are dropped', async () => {
  const { begin, clock, looks, change, remote, open, server } = await following()
  await begin()
  const things = '/apis/remote.io/v1/things'
  await expect.poll(() => open.has(things)).toBe(true)
  remote.version = remoteVersion('Stale')
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(looks).toBe(2)
  await turn()
  expect(open.has(things)).toBe(true)
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  // An unreachable remote server does not affect this one.
  server.others = [{ metadata: { name: 'down.io' }, versions: [remoteVersion('Stale')] }]
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  await expect.poll(() => open.has(things)).toBe(false)
})

test('a kind that is served later is watched, and no kind is watched twice', async () => {
  const { begin, clock, looks, change, remote, open, count } = await following()
  const things = '/apis/remote.io/v1/things'
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  await begin()
  await expect.poll(() => open.has(secrets)).toBe(true)
  expect(open.has(things)).toBe(false)
  remote.version = remoteVersion('Current')
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(() => open.has(things)).toBe(true)
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  await turn()
  expect([count(`GET ${things}?watch`), count(`GET ${secrets}?watch`)]).toEqual([1, 1])
})

test('a kind that a gateway serves seconds after the change of its definition is watched half a minute after the change', async () => {
  const { begin, clock, looks, change, remote, open } = await following()
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  await begin()
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(looks).toBe(2)
  clock.advance(800)
  await expect.poll(looks).toBe(3)
  remote.version = remoteVersion('Current')
  clock.advance(29_000)
  await expect.poll(() => open.has('/apis/remote.io/v1/things')).toBe(true)
})

test('DEL-12: an object whose owner has an unserved kind is checked once, and again when the kind is served', async () => {
  const { begin, clock, change, remote, server, count, open, logged } = await following()
  const look = 'GET /api/v1/namespaces/n/secrets/s'
  const ownerReferences = [owner('t', { apiVersion: 'remote.io/v1', kind: 'Thing' })]
  server.objects.set(secrets, [anObject('s', { ownerReferences })])
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  await begin()
  await expect.poll(() => count(look)).toBe(1)
  // A failed item would be retried.
  clock.advance(100_000)
  for (let count = 0; count < 10; count++) await turn()
  expect([count(look), logged.filter((line) => line.startsWith('an object will be checked again'))]).toEqual([1, []])
  remote.version = remoteVersion('Current')
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(() => open.has('/apis/remote.io/v1/things')).toBe(true)
  await expect.poll(() => count(look)).toBe(2)
  await expect.poll(() => count('GET /apis/remote.io/v1/things/t')).toBe(1)
})

test('DEL-12: a kind in the place of another one is watched anew, and objects that it owns are checked', async () => {
  const { begin, clock, change, remote, server, count, open } = await following()
  const things = '/apis/remote.io/v1/things'
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('t', { apiVersion: 'remote.io/v1', kind: 'Thing' })] })])
  remote.version = remoteVersion('Current', 'Gadget')
  await begin()
  await expect.poll(() => [open.has(things), count('GET /api/v1/namespaces/n/secrets/s')]).toEqual([true, 1])
  remote.version = remoteVersion('Current')
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(() => [count(`GET ${things}?watch`), count(`GET ${things}/t`)]).toEqual([2, 1])
})

test('nothing is collected before every kind has been listed, even if an unlisted kind is no longer served', async () => {
  const { begin, clock, change, remote, open, server, count, breakWatch } = await following()
  const things = '/apis/remote.io/v1/things'
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('gone')] })])
  for (const collection of [things, configMaps]) server.unsynced.add(collection)
  await begin()
  await expect.poll(() => open.has(things)).toBe(true)
  remote.version = { ...remoteVersion('Stale'), freshness: 'Current' }
  await change('oaks.trees.io')
  clock.advance(200)
  await expect.poll(() => open.has(things)).toBe(false)
  for (let count = 0; count < 10; count++) await turn()
  expect(count('GET /api/v1/namespaces/n/secrets/s')).toBe(0)
  server.unsynced.clear()
  breakWatch(configMaps)
  await expect.poll(() => clock.advance(1_000) ?? count('DELETE /api/v1/namespaces/n/secrets/s')).toBeGreaterThan(0)
})

test('an owner that waits is deleted when its last dependant is deleted while the watch is broken', async () => {
  const { begin, server, count, breakWatch } = await following()
  server.objects.set(configMaps, [anObject('o', { ...going, finalizers: ['foregroundDeletion'] })])
  server.objects.set(secrets, [
    anObject('s', { ...going, finalizers: ['example.com/x'], ownerReferences: [owner('o', { blockOwnerDeletion: true })] }),
  ])
  await begin()
  await expect.poll(() => count('GET /api/v1/namespaces/n/configmaps/o')).toBeGreaterThan(0)
  for (let count = 0; count < 10; count++) await turn()
  expect(count('PATCH')).toBe(0)
  server.objects.set(secrets, [])
  breakWatch(secrets)
  await expect.poll(() => count('PATCH /api/v1/namespaces/n/configmaps/o')).toBe(1)
})

test('an object whose owner is reported before the check causes no request', async () => {
  const { begin, server, count } = await following()
  server.objects.set(configMaps, [anObject('top'), anObject('c', { ownerReferences: [owner('s', { kind: 'Secret' })] })])
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('top')] })])
  await begin()
  await expect.poll(() => count('GET /api/v1/namespaces/n/configmaps/top')).toBe(1)
  expect(count('GET /api/v1/namespaces/n/configmaps/c')).toBe(0)
})

test('cached results about owners are dropped when a kind is listed again, as the list may show an older state', async () => {
  const { begin, server, count, breakWatch } = await following()
  server.objects.set(configMaps, [anObject('o')])
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('o')] })])
  await begin()
  await expect.poll(() => count('GET /api/v1/namespaces/n/configmaps/o')).toBe(1)
  server.unsynced.add(secrets)
  breakWatch(secrets)
  await expect.poll(() => count('GET /api/v1/namespaces/n/configmaps/o')).toBe(2)
})

test('a failure is logged, and retried after a pause', async () => {
  const { begin, server, count, logged, clock } = await following()
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('gone')] })])
  server.failing.add('GET /api/v1/namespaces/n/secrets/s')
  server.failing.add(`GET ${configMaps}?watch`)
  await begin()
  for (let count = 0; count < 10; count++) await turn()
  expect(count(`GET ${configMaps}?watch`)).toBe(1)
  expect(logged).toContain('a resource is listed or watched again err,resource')
  server.failing.delete(`GET ${configMaps}?watch`)
  await expect.poll(() => clock.advance(100) ?? logged).toContain('an object will be checked again uid,err')
})

test('the initial list of a remote server is not awaited, as it may never arrive', async () => {
  const { begin, server, count } = await following()
  server.apiServices = [{ metadata: { name: 'v1.remote.io' }, spec: { service: {} } }]
  server.unsynced.add('/apis/remote.io/v1/things')
  server.objects.set(secrets, [anObject('s', { ownerReferences: [owner('gone')] })])
  await begin()
  await expect.poll(() => count('DELETE /api/v1/namespaces/n/secrets/s')).toBe(1)
})

test('Events, and kinds that cannot be listed, watched and deleted, are not watched', async () => {
  const { begin, open } = await following()
  await begin()
  await expect.poll(() => open.has(secrets)).toBe(true)
  expect(
    [...open]
      .filter((path) => /events|bindings$|componentstatuses|reviews/.test(path))
      .filter((path) => !/rolebindings|policybindings/.test(path)),
  ).toEqual([])
})

test('an APIService without a spec belongs to no remote server', async () => {
  const { begin, server, open } = await following()
  server.apiServices = [{ metadata: { name: 'v1.trees.io' } }]
  await begin()
  await expect.poll(() => open.has(secrets)).toBe(true)
})

test('discovery that fails is tried again after a second, until the collector closes', async () => {
  const { server, count, logged, context, ending, clock } = await following()
  server.failing.add('GET ')
  const running = garbageCollector.run(context)
  await expect.poll(() => logged).toEqual(['the resources could not be discovered err'])
  const before = count('GET ')
  clock.advance(999)
  await turn()
  expect(count('GET ')).toBe(before)
  clock.advance(1)
  await expect.poll(() => count('GET ')).toBeGreaterThan(before)
  ending.abort()
  await running
})
