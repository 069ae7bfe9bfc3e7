import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { type RunningServer, type ServerUser, start, virtualClock } from 'orch'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }
const within = 10_000
const clock = virtualClock()
let server: RunningServer
let operator: ServerUser

beforeAll(async () => {
  server = await start({ clock, profile: 'kubernetes' })
  operator = server.user('operator')
})
beforeEach(() => server.reset())
afterAll(() => server.stop())

const create = (name: string) => server.client.objects.create(aConfigMap({ name }))
const maps = () => operator.client.resource(configMaps)

/** A watch, with all bytes received so far. */
async function watching(user: Pick<ServerUser, 'client'>, options: object = {}) {
  const stream = await user.client.resource<ApiObject>(configMaps).watch({ ...inDefault, ...options })
  const events: string[] = []
  const revisions: (string | undefined)[] = []
  const ended = (async () => {
    for await (const { type, object } of stream) {
      events.push(`${type} ${object.metadata.name ?? ''}`.trim())
      revisions.push(object.metadata.resourceVersion)
    }
  })()
  const end = ended.then(
    () => 'in order',
    (error: { readonly code?: number; readonly message: string }) => error.code ?? error.message,
  )
  const until = (expected: readonly string[]) => vi.waitFor(() => expect(events).toEqual(expected), within)
  return { events, revisions, end, until }
}

describe('a watch under faults', () => {
  test('that is paused gets nothing while other watches continue, and on release each missed change once', async () => {
    const [held, other] = [await watching(operator), await watching(server.user('other'))]
    await create('a')
    await Promise.all([held.until(['ADDED a']), other.until(['ADDED a'])])
    const hold = operator.watches.hold({ resource: 'configmaps' })
    await create('b')
    await other.until(['ADDED a', 'ADDED b'])
    const late = await watching(operator)
    await late.until(['ADDED a', 'ADDED b'])
    await create('c')
    await other.until(['ADDED a', 'ADDED b', 'ADDED c'])
    await server.settled({ within: 60_000 })
    expect([held.events, late.events]).toEqual([['ADDED a'], ['ADDED a', 'ADDED b']])
    hold.release()
    const all = ['ADDED a', 'ADDED b', 'ADDED c']
    await Promise.all([held.until(all), late.until(all)])
    expect(new Set(held.revisions).size).toBe(3)
    operator.watches.endNow()
    await held.end
    expect(operator.requests({ verb: 'watch', fault: true })).toHaveLength(2)
  })

  test('that is paused ends with an expired revision if its history is compacted', async () => {
    const held = await watching(operator)
    using hold = operator.watches.hold()
    await create('a')
    const snapshot = server.snapshot()
    await create('b')
    await server.restore(snapshot)
    hold.release()
    expect(await held.end).toBe(410)
  })

  test('may be cut off, expired or ended normally', async () => {
    const open = () => Promise.all([watching(operator), watching(server.user('other'))])
    const [first, other] = await open()
    expect(operator.watches.cut({ resource: 'secrets' })).toBe(0)
    expect(operator.watches.cut()).toBe(1)
    expect(await first.end).toEqual(expect.any(String))
    const second = await watching(operator)
    expect(operator.watches.expire()).toBe(1)
    expect(await second.end).toBe(410)
    const third = await watching(operator)
    expect(operator.watches.endNow({ namespace: 'default' })).toBe(1)
    expect(await third.end).toBe('in order')
    await create('a')
    await other.until(['ADDED a'])
  })

  test('that is delayed gets its events later, in order, and each once if it is paused meanwhile', async () => {
    const delayed = await watching(operator)
    using _delay = operator.watches.delay('5s')
    await create('a')
    await clock.advance('4s')
    await create('b')
    await server.settled({ within: 60_000 })
    expect(delayed.events).toEqual([])
    await clock.advance('1s')
    await delayed.until(['ADDED a'])
    {
      using _hold = operator.watches.hold()
      await clock.advance('10s')
      expect(delayed.events).toEqual(['ADDED a'])
    }
    await delayed.until(['ADDED a', 'ADDED b'])
    await create('c')
    await clock.advance('5s')
    await delayed.until(['ADDED a', 'ADDED b', 'ADDED c'])
  })

  test('gets no bookmarks while these are suppressed', async () => {
    const options = { allowWatchBookmarks: true, timeoutSeconds: 3_600 }
    const [withheld, other] = [await watching(operator, options), await watching(server.user('other'), options)]
    using fault = operator.watches.withholdBookmarks()
    await create('a')
    await clock.advance('2m')
    const bookmarksIn = ({ events }: typeof other) => events.filter((event) => event === 'BOOKMARK').length
    await vi.waitFor(() => expect(bookmarksIn(other)).toBeGreaterThan(1), within)
    // The first bookmark marks the end of the initial events.
    await withheld.until(['BOOKMARK', 'ADDED a'])
    fault.release()
    await clock.advance('2m')
    await vi.waitFor(() => expect(bookmarksIn(withheld)).toBeGreaterThan(1), within)
  })
})

describe('frozen reads', () => {
  const namesOf = async (client: ServerUser['client'], options: object = {}) => {
    const { items, metadata } = await client.resource(configMaps).list({ ...inDefault, ...options })
    return [metadata.resourceVersion, ...items.map(({ metadata: { name } }) => name)]
  }
  const cached = { resourceVersion: '0' }

  test('show the past if the read allows a cached answer, and the current state otherwise', async () => {
    const { metadata } = await create('a')
    const open = await watching(operator)
    await open.until(['ADDED a'])
    const frozen = await operator.reads.freeze()
    const at = String(frozen.revision)
    await create('b')
    expect(await namesOf(operator.client, cached)).toEqual([at, 'a'])
    expect(await namesOf(operator.client, { resourceVersion: metadata.resourceVersion })).toEqual([at, 'a'])
    expect(await namesOf(operator.client, { resourceVersion: metadata.resourceVersion, resourceVersionMatch: 'NotOlderThan' })).toEqual([
      at,
      'a',
    ])
    await expect(maps().get('b', { ...inDefault, ...cached })).rejects.toMatchObject({ reason: 'NotFound' })
    expect(await namesOf(operator.client)).toEqual([expect.any(String), 'a', 'b'])
    expect((await maps().get('b', inDefault)).metadata.name).toBe('b')
    expect(await namesOf(server.user('other').client, cached)).toEqual([expect.any(String), 'a', 'b'])
    const late = await watching(operator, cached)
    await late.until(['ADDED a'])
    await server.settled({ within: 60_000 })
    expect([open.events, late.events]).toEqual([['ADDED a'], ['ADDED a']])
    frozen.thaw()
    await Promise.all([open.until(['ADDED a', 'ADDED b']), late.until(['ADDED a', 'ADDED b'])])
    expect(await namesOf(operator.client, cached)).toEqual([expect.any(String), 'a', 'b'])
  })

  test('with strength "all" show the past also without a resourceVersion, and writes use the current state', async () => {
    const first = await create('a')
    using frozen = await operator.reads.freeze({}, { strength: 'all', on: { resource: 'configmaps' } })
    await server.client.objects.update({ ...first, data: { x: '1' } })
    await create('b')
    expect(await namesOf(operator.client)).toEqual([String(frozen.revision), 'a'])
    const old = await maps().get('a', inDefault)
    expect(old).toEqual(first)
    await expect(maps().update(old)).rejects.toMatchObject({ code: 409, reason: 'Conflict' })
    await expect(maps().create(aConfigMap({ name: 'b' }))).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' })
  })

  test('wait three seconds for a newer revision, and then refuse it like kube-apiserver', async () => {
    using frozen = await operator.reads.freeze()
    const { metadata } = await create('a')
    const newer = { ...inDefault, resourceVersion: metadata.resourceVersion }
    // A move of the clock does not wait forever for a request in flight.
    const waits = () => {
      const endMs = clock.now() + 3_000
      return vi.waitFor(
        () => expect(clock.pending().some(({ at, background }) => !background && at.getTime() === endMs)).toBe(true),
        within,
      )
    }
    const late = maps()
      .list(newer)
      .catch((error: unknown) => error)
    await waits()
    await clock.advance('3s')
    expect(await late).toMatchObject({ code: 504, message: expect.stringContaining('Too large resource version') })
    const early = maps().list(newer)
    await waits()
    await clock.advance('1s')
    frozen.thaw()
    expect((await early).items).toHaveLength(1)
  })

  test('begin at a revision, some revisions or some time ago, but never before the latest state that their user has seen', async () => {
    const first = await create('a')
    await clock.advance('10s')
    await create('b')
    for (const point of [{ at: first.metadata.resourceVersion ?? '' }, { revisions: 1 }, { ago: '5s' }]) {
      using _frozen = await server.user('other').reads.freeze(point)
      expect((await namesOf(server.user('other').client, cached)).slice(1), JSON.stringify(point)).toEqual(['a'])
    }
    const [seen] = await namesOf(operator.client)
    using frozen = await operator.reads.freeze({ revisions: 2 })
    expect(String(frozen.revision)).toBe(seen)
    await expect(operator.reads.freeze({ at: 1_000_000 })).rejects.toThrow('there is no revision 1000000')
    await expect(operator.reads.freeze({ at: 1, revisions: 1 })).rejects.toThrow('give one of')
  })
})
