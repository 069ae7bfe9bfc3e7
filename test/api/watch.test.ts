import { createFakeClock, type FakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { aNamespace, anApi, configMap, configMapsIn, created, failure, sharedApi, someConfigMaps, until, untilEverywhere } from './api.ts'
import { readEnvelope, readFrames, wireField } from './raw.ts'
import type { WatchEvent } from './watch-reader.ts'

const server = sharedApi({ version: '1.25' })
const today = sharedApi({ flags: ['--emulated-version=1.36'] })

/** Shortens an event to `ADDED a`. */
const told = (events: readonly WatchEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`)

const versionOf = async (path: string) => (await server.api.get(path)).body.metadata.resourceVersion

describe('the stream of a watch', () => {
  test('WATCH-01, WATCH-02, WATCH-03, WATCH-07: is chunked, and has one JSON document per line', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=true`)
    expect(watch.status).toBe(200)
    expect(watch.headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'application/json' })
    expect(watch.headers['content-length']).toBeUndefined()
    const { body } = await server.api.get(`${path}/a`)
    expect(await watch.next()).toEqual({ type: 'ADDED', object: body })
  })

  test.each(['1', 'true', 'TRUE', ''])('QP-02: exists for watch=%j', async (value) => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=${value}`)
    expect(told(await watch.take(1))).toEqual(['ADDED a'])
  })

  test.each(['0', 'false', 'False'])('QP-02: does not exist for watch=%j, which is a list', async (value) => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await server.api.get(`${path}?watch=${value}`)).body.kind).toBe('ConfigMapList')
  })

  test('WATCH-04, WATCH-06, WATCH-07, WATCH-21: has creates, changes and deletions, each with the whole object', async () => {
    const path = await someConfigMaps(server.api)
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${await versionOf(path)}`)
    const made = await created(server.api, path, configMap({ name: 'a', data: { x: '1' } }))
    const { body: patched } = await server.api.patch(`${path}/a`, { data: { x: '2' } })
    const { body: put } = await server.api.put(`${path}/a`, { ...patched, data: { x: '3' } })
    await server.api.delete(`${path}/a`)
    const [first, second, third, last] = await watch.take(4)
    expect([first, second, third]).toEqual([
      { type: 'ADDED', object: made },
      { type: 'MODIFIED', object: patched },
      { type: 'MODIFIED', object: put },
    ])
    const deletion = last!.object.metadata.resourceVersion
    expect(last).toEqual({ type: 'DELETED', object: { ...put, metadata: { ...put.metadata, resourceVersion: deletion } } })
    expect(Number(deletion)).toBeGreaterThan(Number(put.metadata.resourceVersion))
  })

  test('WATCH-06: has MODIFIED when the deletion of an object with finalizers is requested, DELETED when it is removed', async () => {
    const path = await someConfigMaps(server.api)
    await created(server.api, path, configMap({ name: 'a', finalizers: ['example.com/hold'] }))
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${await versionOf(path)}`)
    await server.api.delete(`${path}/a`)
    await server.api.patch(`${path}/a`, { metadata: { finalizers: null } })
    const [marked, gone] = await watch.take(2)
    expect(marked).toMatchObject({ type: 'MODIFIED', object: { metadata: { deletionTimestamp: expect.any(String) } } })
    expect(gone).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } })
  })

  test('WATCH-06: has no event for a write without a change', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${await versionOf(path)}`)
    await server.api.patch(`${path}/a`, {})
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    await created(server.api, path, configMap({ name: 'b' }))
    expect(told(await watch.take(2))).toEqual(['MODIFIED a', 'ADDED b'])
  })

  test('WATCH-17: has events in the order of their versions, each once', async () => {
    const path = await someConfigMaps(server.api)
    const from = await versionOf(path)
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${from}`)
    await Promise.all(Array.from({ length: 50 }, (_, at) => created(server.api, path, configMap({ name: `m-${at}` }))))
    const events = await watch.take(50)
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(versions).toEqual([...versions].sort((left, right) => left - right))
    expect(new Set(told(events)).size).toBe(50)
  })

  test('WATCH-17: is equal for many watches of one collection', async () => {
    const path = await someConfigMaps(server.api)
    const from = await versionOf(path)
    const watches = await Promise.all(Array.from({ length: 40 }, () => server.api.watch(`${path}?watch=1&resourceVersion=${from}`)))
    const names = Array.from({ length: 20 }, (_, at) => `m-${at}`)
    for (const name of names) await created(server.api, path, configMap({ name }))
    const late = await server.api.watch(`${path}?watch=1&resourceVersion=${from}`)
    const seen = await Promise.all([...watches, late].map((watch) => watch.take(20)))
    expect(told(seen[0]!)).toEqual(names.map((name) => `ADDED ${name}`))
    for (const events of seen) expect(events).toEqual(seen[0])
  })

  test('VERB-04, EP-36: of one object is below /watch, as its own path is for get', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const ownPath = await server.api.get(`${path}/a?watch=1&limit=x&continue=x&fieldSelector=x&timeoutSeconds=x`)
    expect(ownPath).toMatchObject({ status: 200, body: { kind: 'ConfigMap', metadata: { name: 'a' } } })
    const watch = await server.api.watch(`${path.replace('/api/v1/', '/api/v1/watch/')}/a`)
    await server.api.patch(`${path}/b`, { data: { x: '1' } })
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    await server.api.delete(`${path}/a`)
    expect(told(await watch.take(3))).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a'])
  })

  test('VERB-03: is also served at the old path', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const collection = await server.api.watch(path.replace('/api/v1/', '/api/v1/watch/'))
    expect(told(await collection.take(2))).toEqual(['ADDED a', 'ADDED b'])
    const one = await server.api.watch(`${path.replace('/api/v1/', '/api/v1/watch/')}/b`)
    expect(told(await one.take(1))).toEqual(['ADDED b'])
  })

  test('VERB-16: may cover all namespaces', async () => {
    const [first, second] = [await someConfigMaps(server.api), await someConfigMaps(server.api)]
    const watch = await server.api.watch(`/api/v1/configmaps?watch=1&resourceVersion=${await versionOf('/api/v1/configmaps')}`)
    await created(server.api, first, configMap({ name: 'a' }))
    await created(server.api, second, configMap({ name: 'b' }))
    expect(told(await watch.take(2))).toEqual(['ADDED a', 'ADDED b'])
  })

  test('WATCH-02: may not be YAML', async () => {
    const path = await someConfigMaps(server.api)
    const { status, text } = await server.api.get(`${path}?watch=1`, { accept: 'application/yaml' })
    expect(status).toBe(406)
    expect(text).toMatch(/only the following media types are accepted:\s+application\/json;stream=watch/)
  })

  test('PROTO-09, WATCH-02: in Protobuf has the current fields, in initial events and in changes', async () => {
    const namespace = await aNamespace(today.api)
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (trafficDistribution: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { trafficDistribution, ports: [{ port: 80 }], selector: { app: 'web' } },
    })
    const { metadata } = await created(today.api, path, service('PreferSameZone'))
    const distributionOf = (frame: Buffer | undefined) =>
      wireField(readEnvelope(wireField(frame as Buffer, 2, 1)).message, 2, 23).toString()
    const ofState = await readFrames(today.api, `${path}?watch=1`, 'application/vnd.orch.protobuf', 1)
    expect(distributionOf(ofState.frames[0])).toBe('PreferSameZone')
    const reading = readFrames(today.api, `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`, 'application/vnd.orch.protobuf', 1)
    await today.api.patch(`${path}/web`, { spec: { trafficDistribution: 'PreferSameNode' } })
    expect(distributionOf((await reading).frames[0])).toBe('PreferSameNode')
  })
})

describe('the start of a watch', () => {
  test.each([
    ['WATCH-05, WATCH-12', 'unset', ''],
    ['WATCH-05, WATCH-13', '0', '&resourceVersion=0'],
  ])('%s: at version %s: sends current objects as ADDED, then changes', async (_id, _what, query) => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const watch = await server.api.watch(`${path}?watch=1${query}`)
    expect(told(await watch.take(2)).sort()).toEqual(['ADDED a', 'ADDED b'])
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    await created(server.api, path, configMap({ name: 'c' }))
    expect(told(await watch.take(2))).toEqual(['MODIFIED a', 'ADDED c'])
  })

  test('WATCH-14: at a version sends only later changes', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const from = await versionOf(path)
    await server.api.delete(`${path}/b`)
    await created(server.api, path, configMap({ name: 'c' }))
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${from}`)
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    expect(told(await watch.take(3))).toEqual(['DELETED b', 'ADDED c', 'MODIFIED a'])
  })

  test('WATCH-23: may be the version of a get', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body } = await server.api.get(`${path}/a`)
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
    expect(told(await watch.take(1))).toEqual(['MODIFIED a'])
  })

  test('WATCH-17: at the version of a list loses and repeats nothing while others write', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const count = 60
    const writing = (async () => {
      for (let at = 0; at < count; at++) await created(server.api, path, configMap({ name: `m-${at}` }))
    })()
    const { body: list } = await until(
      () => server.api.get(path),
      ({ body }) => body.items.length > 10,
    )
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
    const events = await watch.take(count + 1 - list.items.length)
    await writing
    const seen = [...list.items.map(({ metadata }) => metadata.name), ...events.map(({ object }) => object.metadata.name)]
    expect(seen.sort()).toEqual(['a', ...Array.from({ length: count }, (_, at) => `m-${at}`)].sort())
  })

  test('WATCH-18: may be the last seen version of a broken watch', async () => {
    const path = await someConfigMaps(server.api)
    const first = await server.api.watch(`${path}?watch=1&resourceVersion=${await versionOf(path)}`)
    await created(server.api, path, configMap({ name: 'a' }))
    const [seen] = await first.take(1)
    first.close()
    await created(server.api, path, configMap({ name: 'b' }))
    const second = await server.api.watch(`${path}?watch=1&resourceVersion=${seen!.object.metadata.resourceVersion}`)
    await created(server.api, path, configMap({ name: 'c' }))
    expect(told(await second.take(2))).toEqual(['ADDED b', 'ADDED c'])
  })

  // Forty objects of a megabyte each; services apart send each object to one another several times.
  const muchIsWritten = { timeout: 300_000 }
  test('WATCH-15, WATCH-20, WATCH-22, ERR-08: at a compacted version is one ERROR with 410, and the end', muchIsWritten, async () => {
    const api = await anApi({ version: '1.25', watchHistoryMs: 20 })
    const path = await someConfigMaps(api, 'a')
    const { body } = await api.get(path)
    const version = body.metadata.resourceVersion
    // More changes than memory keeps for resumed watches, at any age of the history.
    for (let at = 0; at < 40; at++) await api.patch(`${path}/a`, { data: { at: String(at), text: 'x'.repeat(1_000_000) } })
    await untilEverywhere(
      () => api.get(`${path}?resourceVersionMatch=Exact&resourceVersion=${version}`),
      ({ status }) => status === 410,
    )
    const watch = await api.watch(`${path}?watch=1&resourceVersion=${version}`)
    expect(watch.status).toBe(200)
    expect(await watch.rest()).toEqual([
      {
        type: 'ERROR',
        object: failure(410, 'Expired', expect.stringMatching(`^too old resource version: ${version} \\(\\d+\\)$`) as unknown as string),
      },
    ])
  })

  test('WATCH-16: at a future version sends nothing until that version has passed', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const from = Number(await versionOf(path)) + 3
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${from}`)
    expect(watch.status).toBe(200)
    for (let at = 0; at < 6; at++) await created(server.api, path, configMap({ name: `m-${at}` }))
    const [event] = await watch.take(1)
    expect(event!.type).toBe('ADDED')
    expect(Number(event!.object.metadata.resourceVersion)).toBeGreaterThan(from)
  })

  test('WATCH-14: at an invalid version is a bad request', async () => {
    const { status, body } = await server.api.get('/api/v1/configmaps?watch=1&resourceVersion=abc')
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
  })

  test('RV-39: with a match is refused, and limit and continue have no effect', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    expect((await server.api.get(`${path}?watch=1&resourceVersion=1&resourceVersionMatch=Exact`)).body).toMatchObject({
      code: 422,
      message: 'ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch',
    })
    const watch = await server.api.watch(`${path}?watch=1&limit=1&continue=bogus`)
    expect(told(await watch.take(2))).toEqual(['ADDED a', 'ADDED b'])
  })
})

describe('selectors of a watch', () => {
  test('QP-10, QP-12: show objects that enter and leave the selection', async () => {
    const path = await someConfigMaps(server.api)
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${await versionOf(path)}&labelSelector=app%3Dweb`)
    await created(server.api, path, configMap({ name: 'never', labels: { app: 'db' } }))
    const { body: before } = await server.api.post(path, configMap({ name: 'a', data: { x: '1' } }))
    const { body: inside } = await server.api.patch(`${path}/a`, { metadata: { labels: { app: 'web' } } })
    const { body: changed } = await server.api.patch(`${path}/a`, { data: { x: '2' } })
    const { body: outside } = await server.api.patch(`${path}/a`, { metadata: { labels: { app: 'db' } }, data: { x: '3' } })
    await server.api.delete(`${path}/a`)
    await server.api.patch(`${path}/never`, { metadata: { labels: { app: 'web' } } })
    const [entered, modified, left, last] = await watch.take(4)
    expect(before.metadata.labels).toBeUndefined()
    expect(entered).toEqual({ type: 'ADDED', object: inside })
    expect(modified).toEqual({ type: 'MODIFIED', object: changed })
    const version = outside.metadata.resourceVersion
    expect(left).toEqual({ type: 'DELETED', object: { ...changed, metadata: { ...changed.metadata, resourceVersion: version } } })
    expect(last).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'never' } } })
  })

  test('QP-10, WATCH-14: show past objects entering and leaving as if the watch had been open', async () => {
    const path = await someConfigMaps(server.api)
    const from = await versionOf(path)
    const labelled = (name: string, app: string) => configMap({ name, labels: { app }, data: { app } })
    await created(server.api, path, labelled('a', 'db'))
    const { body: entered } = await server.api.patch(`${path}/a`, { metadata: { labels: { app: 'web' } } })
    const { body: left } = await server.api.patch(`${path}/a`, { metadata: { labels: { app: 'db' } }, data: { app: 'db again' } })
    const born = await created(server.api, path, labelled('b', 'web'))
    await server.api.delete(`${path}/b`)
    await created(server.api, path, labelled('c', 'web'))
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${from}&labelSelector=app%3Dweb`)
    const events = await watch.take(5)
    expect(told(events)).toEqual(['ADDED a', 'DELETED a', 'ADDED b', 'DELETED b', 'ADDED c'])
    const { resourceVersion } = left.metadata
    expect(events[0]!.object).toEqual(entered)
    expect(events[1]!.object).toEqual({ ...entered, metadata: { ...entered.metadata, resourceVersion } })
    expect(events[3]!.object).toMatchObject({ metadata: { uid: born.metadata.uid }, data: { app: 'web' } })
  })

  test('QP-12: select one object by field', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const watch = await server.api.watch(`${path}?watch=1&fieldSelector=metadata.name%3Db`)
    await server.api.patch(`${path}/a`, { data: { x: '1' } })
    await server.api.patch(`${path}/b`, { data: { x: '1' } })
    expect(told(await watch.take(2))).toEqual(['ADDED b', 'MODIFIED b'])
  })

  test('QP-12: apply to the initial state', async () => {
    const path = await someConfigMaps(server.api, 'a')
    await created(server.api, path, configMap({ name: 'b', labels: { app: 'web' } }))
    const watch = await server.api.watch(`${path}?watch=1&labelSelector=app`)
    expect(told(await watch.take(1))).toEqual(['ADDED b'])
  })

  test('QP-12: are a bad request if they are invalid, and no stream', async () => {
    const { status, body } = await server.api.get('/api/v1/configmaps?watch=1&labelSelector=%28')
    expect({ status, kind: body.kind, reason: body['reason'] }).toEqual({ status: 400, kind: 'Status', reason: 'BadRequest' })
  })
})

describe('the end of a watch, and bookmarks', () => {
  test('MACH-WATCH-04: a watch with a negative timeout is answered and ends at once', async () => {
    const path = await someConfigMaps(today.api, 'a')
    for (const query of [
      '',
      '&resourceVersion=0',
      '&allowWatchBookmarks=true',
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    ]) {
      const { status } = await today.api.get(`${path}?watch=1&timeoutSeconds=-1${query}`)
      expect(status).toBe(200)
    }
  })

  test('QP-09: timeoutSeconds ends the stream normally', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=1&timeoutSeconds=1`)
    expect(told(await watch.rest())).toEqual(['ADDED a'])
  })

  const bookmarked = () => ({
    type: 'BOOKMARK',
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: null,
      },
    },
  })

  test('WATCH-08, WATCH-09, WATCH-10, READ-20: a bookmark before the end has only the kind and a version', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const watch = await server.api.watch(`${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=3`)
    const [added] = await watch.take(1)
    expect(added).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    const last = await watch.next()
    expect(last).toEqual(bookmarked())
    expect(await watch.rest()).toEqual([])
    const { resourceVersion } = last!.object.metadata
    expect(Number(resourceVersion)).toBeGreaterThanOrEqual(Number(added!.object.metadata.resourceVersion))
    const resumed = await server.api.watch(`${path}?watch=1&resourceVersion=${resourceVersion}`)
    await created(server.api, path, configMap({ name: 'b' }))
    expect(told(await resumed.take(1))).toEqual(['ADDED b'])
  })

  test('WATCH-10: the last bookmark is sent two seconds before the end', async () => {
    const clock = createFakeClock(Date.now())
    const api = await anApi({ version: '1.25', clock })
    const watch = await api.watch(`${await someConfigMaps(api, 'a')}?watch=1&allowWatchBookmarks=true&timeoutSeconds=30`)
    expect(told(await watch.take(1))).toEqual(['ADDED a'])
    clock.advance(28_000)
    expect(await whileAdvancing(clock, { byMs: 1_900, stepMs: 1 }, watch.next())).toEqual(bookmarked())
    clock.advance(2_000)
    expect(await watch.rest()).toEqual([])
  })

  test('MACH-WATCH-05: a watch of two seconds or less has no bookmark before its end', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${await versionOf(path)}`
    const watch = await server.api.watch(`${path}?${query}`)
    expect(await watch.rest()).toEqual([])
  })

  describe.each(['', '&resourceVersion=0'])('a watch with bookmarks and no sendInitialEvents (%j)', (version) => {
    const query = `watch=1&allowWatchBookmarks=true${version}`

    test('MACH-WATCH-02: marks the end of the initial objects with the gate WatchList, from 1.34 on', async () => {
      const path = await someConfigMaps(today.api, 'a')
      // Version 0 is any state, even a state without the object.
      await untilEverywhere(
        () => today.api.get(`${path}/a?resourceVersion=0`),
        ({ status }) => status === 200,
      )
      const watch = await today.api.watch(`${path}?${query}`)
      expect(told(await watch.take(1))).toEqual(['ADDED a'])
      const annotations = { 'orch.io/initial-events-end': 'true' }
      expect(await watch.next()).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { annotations } } })
      const { metadata } = (await today.api.get(path)).body
      const later = await today.api.watch(`${path}?${query.replace(version, '')}&resourceVersion=${metadata.resourceVersion}`)
      await created(today.api, path, configMap({ name: 'b' }))
      expect(told(await later.take(1))).toEqual(['ADDED b'])
    })

    test('MACH-WATCH-02: marks no end at 1.25', async () => {
      const path = await someConfigMaps(server.api, 'a')
      const watch = await server.api.watch(`${path}?${query}`)
      expect(told(await watch.take(1))).toEqual(['ADDED a'])
      await created(server.api, path, configMap({ name: 'b' }))
      expect(told(await watch.take(1))).toEqual(['ADDED b'])
    })
  })

  test('WATCH-11, READ-20: a bookmark is sent about once a minute', async () => {
    const clock = createFakeClock(Date.now())
    const api = await anApi({ version: '1.25', clock })
    const path = await someConfigMaps(api, 'a')
    const watch = await api.watch(`${path}?watch=1&allowWatchBookmarks=true`)
    const silent = await api.watch(`${path}?watch=1`)
    expect(told(await watch.take(1))).toEqual(['ADDED a'])
    expect(told(await silent.take(1))).toEqual(['ADDED a'])
    expect(await whileAdvancing(clock, { byMs: 70_000, stepMs: 50 }, watch.next())).toEqual(bookmarked())
    await created(api, path, configMap({ name: 'b' }))
    expect(told(await silent.take(1))).toEqual(['ADDED b'])
  })

  test('WATCH-08, READ-01: sendInitialEvents ends the initial objects with a marked bookmark', async () => {
    const path = await someConfigMaps(today.api, 'a', 'b')
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watch = await today.api.watch(`${path}?${query}`)
    const events = await watch.take(3)
    expect(told(events.slice(0, 2)).sort()).toEqual(['ADDED a', 'ADDED b'])
    expect(events[2]).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: expect.stringMatching(/^\d+$/),
          annotations: { 'orch.io/initial-events-end': 'true' },
        },
      },
    })
    await created(today.api, path, configMap({ name: 'c' }))
    expect(told(await watch.take(1))).toEqual(['ADDED c'])
  })

  test('WATCH-08, READ-04: sendInitialEvents=false sends only changes', async () => {
    const path = await someConfigMaps(today.api, 'a')
    const watch = await today.api.watch(`${path}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`)
    await created(today.api, path, configMap({ name: 'b' }))
    expect(told(await watch.take(1))).toEqual(['ADDED b'])
  })

  test('WATCH-08, READ-02: sendInitialEvents needs NotOlderThan, and is refused for lists; without it the match is refused', async () => {
    expect((await today.api.get('/api/v1/configmaps?watch=1&sendInitialEvents=true')).body).toMatchObject({
      code: 422,
      message: expect.stringContaining('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    })
    expect((await today.api.get('/api/v1/configmaps?sendInitialEvents=true')).body).toMatchObject({
      code: 422,
      message: expect.stringContaining('sendInitialEvents is forbidden for list'),
    })
    const { code, message } = (await today.api.get('/api/v1/configmaps?watch=1&resourceVersionMatch=NotOlderThan')).body
    expect([code, message]).toEqual([422, expect.stringContaining('resourceVersionMatch is forbidden for watch')])
  })

  test('WATCH-22: a server that stops ends its watches', async () => {
    const api = await anApi({ version: '1.25' })
    const namespace = await aNamespace(api)
    const watch = await api.watch(`${configMapsIn(namespace)}?watch=1`)
    await api.stop()
    expect(await watch.rest()).toEqual([])
  })
})

/** Moves a clock forward, step by step, until an event has arrived. A watch sets its timer one turn after its first events. */
async function whileAdvancing<T>(clock: FakeClock, { byMs, stepMs }: { byMs: number; stepMs: number }, coming: Promise<T>): Promise<T> {
  let hasCome = false
  const noted = coming.finally(() => {
    hasCome = true
  })
  for (let movedMs = 0; movedMs < byMs && !hasCome; movedMs += stepMs) {
    clock.advance(stepMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return noted
}
