import type { SubscribeRequest, WatchPart } from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import { type Log, PushStream, type SpanOptions, silentLog, type Tracer, type WorkCounter } from '@orch/platform'
import { createFakeClock, createTinyStorage, type TinyStorage, type TinyStorageOptions } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { type Convert, unconverted } from './frames.ts'
import type { WatchLimits } from './limits.ts'
import { createWatch } from './watch.ts'

const maps = 'core/configmaps'

interface OpenOptions extends TinyStorageOptions {
  readonly limits?: Partial<WatchLimits>
  readonly convert?: Convert
  /** Wraps the storage that watch follows. */
  readonly wrap?: (storage: TinyStorage) => Partial<TinyStorage>
  readonly log?: Log
  readonly tracer?: Tracer
  readonly work?: WorkCounter
}

function open(options: OpenOptions = {}) {
  const storage = createTinyStorage(options)
  const clock = { ...createFakeClock(), ...(options.work === undefined ? {} : { work: options.work }) }
  const convertOf = () => options.convert ?? unconverted
  const { log = silentLog, limits = {}, wrap = () => ({}), tracer } = options
  const watch = createWatch({ storage: { ...storage, ...wrap(storage) }, clock, log, random: () => 0, convertOf, limits, tracer })
  const subscribe = (request: Partial<SubscribeRequest> = {}) => reader(watch.subscribe(subscription(request)))
  return { storage, clock, watch, subscribe, ready: () => subscribe({ after: storage.revision }).position(storage.revision) }
}

function subscription(request: Partial<SubscribeRequest>): SubscribeRequest {
  const selection = { labels: [], fields: [] }
  const version = { group: '', version: 'v1', resource: 'configmaps' }
  return { scope: { resource: maps }, selection, ...version, format: { kind: 'json' }, after: 0, epoch: '', ...request }
}

const withLabel = (key: string, value: string) => ({ labels: [{ key, operator: 'In' as const, values: [value] }], fields: [] })

function reader(stream: AsyncIterable<WatchPart> & { close(): void }) {
  const parts = stream[Symbol.asyncIterator]()
  const next = async () => (await parts.next()).value as WatchPart | undefined
  return {
    stream,
    next,
    /** Reads until events arrive, and prints them as `TYPE name revision text`. */
    async events(): Promise<string[]> {
      for (let part = await next(); part !== undefined; part = await next()) if (part.kind === 'events') return printed(part.frames)
      return ['the stream has ended']
    },
    /** Reads until a position at or above the revision; returns the events on the way. */
    async position(revision: number): Promise<string[]> {
      const seen: string[] = []
      for (let part = await next(); part !== undefined; part = await next()) {
        if (part.kind === 'events') seen.push(...printed(part.frames))
        if (part.kind === 'position' && part.revision >= revision) return seen
      }
      return [...seen, 'the stream has ended']
    },
  }
}

function printed(frames: Uint8Array): string[] {
  const lines = Buffer.from(frames).toString().trimEnd().split('\n')
  return lines.map((line) => {
    const { type, object } = JSON.parse(line)
    return `${type} ${object.metadata.name} ${object.metadata.resourceVersion} ${object.data.text}`
  })
}

test('WATCH-04, WATCH-06, WATCH-21: creation, change and deletion are ADDED, MODIFIED and DELETED', async () => {
  const { storage, subscribe } = open()
  const events = subscribe()
  storage.put({ resource: maps, name: 'a', data: 'one' })
  expect(await events.events()).toEqual(['ADDED a 1 one'])
  storage.put({ resource: maps, name: 'a', data: 'two' })
  expect(await events.events()).toEqual(['MODIFIED a 2 two'])
  storage.remove(maps, 'a')
  expect(await events.events()).toEqual(['DELETED a 3 two'])
})

test('WATCH-02, WATCH-03: a frame is one line with type and object', async () => {
  const { storage, subscribe } = open()
  const events = subscribe()
  storage.put({ resource: maps, name: 'a', data: 'one' })
  for (let part = await events.next(); part !== undefined; part = await events.next()) {
    if (part.kind !== 'events') continue
    expect(Buffer.from(part.frames).toString()).toBe(`{"type":"ADDED","object":${Buffer.from(storage.read(`${maps}/a`)?.value ?? [])}}\n`)
    break
  }
})

test('WATCH-14, WATCH-18: a watch from a revision gets later changes, from the window or from storage', async () => {
  for (const windowBytesMax of [0, 1_000_000]) {
    const { storage, subscribe, ready } = open({ limits: { windowBytesMax } })
    await ready()
    for (const data of ['one', 'two', 'three']) storage.put({ resource: maps, name: 'a', data })
    await ready()
    expect(await subscribe({ after: 1 }).position(3)).toEqual(['MODIFIED a 2 two', 'MODIFIED a 3 three'])
  }
})

test('a watch from before the service was started is served from storage, then live', async () => {
  const storage = createTinyStorage()
  for (const data of ['one', 'two']) storage.put({ resource: maps, name: 'a', data })
  const watch = createWatch({ storage, clock: createFakeClock(), log: silentLog, random: () => 0, convertOf: () => unconverted })
  const events = reader(watch.subscribe(subscription({ after: 0 })))
  expect(await events.position(2)).toEqual(['ADDED a 1 one', 'MODIFIED a 2 two'])
  storage.put({ resource: maps, name: 'a', data: 'three' })
  expect(await events.events()).toEqual(['MODIFIED a 3 three'])
})

test('WATCH-16: a watch from a future revision is silent until that revision has passed', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const events = subscribe({ after: 2 })
  for (const data of ['one', 'two', 'three', 'four']) storage.put({ resource: maps, name: 'a', data })
  storage.sendPosition()
  expect(await events.position(4)).toEqual(['MODIFIED a 3 three', 'MODIFIED a 4 four'])
})

test('WATCH-15: the error of a watch from a compacted revision names the requested revision and the oldest available revision', async () => {
  const { storage, subscribe, ready } = open({ limits: { windowBytesMax: 0 } })
  await ready()
  for (let index = 0; index < 5; index += 1) storage.put({ resource: maps, name: 'a' })
  await ready()
  storage.compact(3)
  const events = subscribe({ after: 1 })
  expect(await events.next()).toEqual({ kind: 'expired', asked: 1, oldest: 3 })
  expect(await events.next()).toBeUndefined()
})

test('a watch sees only its scope: a resource, a namespace, one object', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const scopes = [{ resource: maps }, { resource: maps, namespace: 'x' }, { resource: maps, namespace: 'x', name: 'a' }]
  const readers = scopes.map((scope) => subscribe({ scope }))
  storage.put({ resource: maps, namespace: 'x', name: 'a' })
  storage.put({ resource: maps, namespace: 'x', name: 'ab' })
  storage.put({ resource: maps, namespace: 'xy', name: 'a' })
  storage.put({ resource: 'core/configmapsother', namespace: 'x', name: 'a' })
  storage.sendPosition()
  const seen = await Promise.all(readers.map((events) => events.position(4)))
  expect(seen).toEqual([['ADDED a 1 ', 'ADDED ab 2 ', 'ADDED a 3 '], ['ADDED a 1 ', 'ADDED ab 2 '], ['ADDED a 1 ']])
})

for (const sendsBefore of [true, false]) {
  test(`an object that enters a selection is ADDED, and one that leaves it is DELETED in its last selected state (content before ${sendsBefore ? 'sent' : 'fetched'})`, async () => {
    for (const windowBytesMax of [0, 1_000_000]) {
      const { storage, subscribe, ready } = open({ sendsBefore, limits: { windowBytesMax } })
      await ready()
      const live = subscribe({ selection: withLabel('app', 'web') })
      storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'db' } })
      storage.put({ resource: maps, name: 'a', data: 'two', labels: { app: 'web' } })
      storage.sendPosition()
      const entered = await live.position(2)
      storage.put({ resource: maps, name: 'a', data: 'three', labels: { app: 'db' } })
      storage.put({ resource: maps, name: 'a', data: 'four', labels: { app: 'db' } })
      storage.remove(maps, 'a')
      storage.sendPosition()
      const expected = ['ADDED a 2 two', 'DELETED a 3 two']
      expect([...entered, ...(await live.position(5))]).toEqual(expected)
      expect(await subscribe({ selection: withLabel('app', 'web') }).position(5)).toEqual(expected)
    }
  })
}

test('WATCH-21: an object leaves a selection in its last selected state, even if its last write has been compacted', async () => {
  const { storage, subscribe, ready } = open({ sendsBefore: false, limits: { windowBytesMax: 0 } })
  storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'web' } })
  const other = storage.put({ resource: maps, name: 'b' })
  storage.compact(other)
  await ready()
  const events = subscribe({ after: other, selection: withLabel('app', 'web') })
  await events.position(other)
  storage.put({ resource: maps, name: 'a', data: 'two', labels: { app: 'db' } })
  expect(await events.events()).toEqual(['DELETED a 3 one'])
})

test('WATCH-15: a watch that would need dropped content has expired, live and from the window', async () => {
  const { storage, subscribe, ready } = open({ sendsBefore: false, limits: { windowBytesMax: 1_000 } })
  await ready()
  storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'web' } })
  const other = storage.put({ resource: maps, name: 'b' })
  const web = { after: other, selection: withLabel('app', 'web') }
  const [live, db] = [subscribe(web), subscribe({ after: other, selection: withLabel('app', 'db') })]
  storage.sendPosition()
  await Promise.all([live.position(other), db.position(other)])
  storage.compact(storage.put({ resource: maps, name: 'a', data: 'two', labels: { app: 'db' } }))
  expect(await live.next()).toMatchObject({ kind: 'expired', asked: other })
  expect(await db.events()).toEqual(['ADDED a 3 two'])
  expect(await subscribe(web).next()).toMatchObject({ kind: 'expired', asked: other })
})

test('field selectors use the name, the namespace and the selectable fields', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const byField = (field: string, value: string) => subscribe({ selection: { labels: [], fields: [{ field, operator: 'Equals', value }] } })
  const readers = [byField('metadata.name', 'a'), byField('metadata.namespace', 'x'), byField('status.phase', 'Running')]
  storage.put({ resource: maps, namespace: 'x', name: 'a', fields: { 'status.phase': 'Pending' } })
  storage.put({ resource: maps, namespace: 'y', name: 'b', fields: { 'status.phase': 'Running' } })
  storage.sendPosition()
  const seen = await Promise.all(readers.map((events) => events.position(2)))
  expect(seen).toEqual([['ADDED a 1 '], ['ADDED a 1 '], ['ADDED b 2 ']])
})

test('WATCH-09: positions are forwarded once, and never run ahead of the events', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const sendPosition = async () => {
    storage.sendPosition()
    await new Promise(setImmediate)
  }
  await sendPosition()
  const events = subscribe({ selection: withLabel('app', 'web') })
  expect(await events.next()).toEqual({ kind: 'position', revision: 0 })
  await sendPosition()
  storage.put({ resource: maps, name: 'a' })
  storage.put({ resource: maps, name: 'b', labels: { app: 'web' } })
  storage.put({ resource: maps, name: 'c' })
  storage.sendPosition()
  expect(await events.next()).toMatchObject({ kind: 'events', last: 2 })
  expect(await events.next()).toEqual({ kind: 'position', revision: 3 })
})

test('the events of one turn are one buffer, and the same buffer for all subscribers of a kind', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const readers = [subscribe(), subscribe(), subscribe({ selection: withLabel('app', 'web') })]
  for (const name of ['a', 'b', 'c']) storage.put({ resource: maps, name, labels: { app: 'web' } })
  const buffers: Uint8Array[] = []
  for (const events of readers) {
    for (let part = await events.next(); part !== undefined; part = await events.next()) {
      if (part.kind !== 'events') continue
      expect(part).toMatchObject({ count: 3, last: 3 })
      buffers.push(part.frames)
      break
    }
  }
  expect(buffers[1]).toBe(buffers[0])
  expect(buffers[2]).toEqual(buffers[0])
})

test('many events of one turn are sent in pieces, in order, live and from the window', async () => {
  const { storage, subscribe, ready } = open({ limits: { pieceBytesMax: 5_000 } })
  await ready()
  const live = subscribe()
  for (let index = 1; index <= 50; index += 1) storage.put({ resource: maps, name: `n${index}`, data: 'x'.repeat(900) })
  for (const events of [live, subscribe()]) {
    const revisions: number[] = []
    const sizes: number[] = []
    while (revisions.length < 50) {
      const part = await events.next()
      if (part?.kind !== 'events') continue
      sizes.push(part.frames.length)
      revisions.push(...printed(part.frames).map((line) => Number(line.split(' ')[2])))
      expect(part.last).toBe(revisions.at(-1))
    }
    expect(revisions).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(Math.max(...sizes)).toBeLessThan(6_500)
    expect(sizes.length).toBeLessThan(12)
  }
})

test('an object is converted once per version, however many selections show it', async () => {
  let conversions = 0
  const convert = (object: Uint8Array) => {
    conversions += 1
    return Buffer.from(Buffer.from(object).toString().replace('one', 'converted'))
  }
  const { storage, subscribe, ready } = open({ convert })
  await ready()
  const readers = [subscribe(), subscribe({ selection: withLabel('app', 'web') }), subscribe({ scope: { resource: maps, name: 'a' } })]
  storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'web' } })
  for (const events of readers) expect(await events.events()).toEqual(['ADDED a 1 converted'])
  expect(conversions).toBe(1)
})

test('an object that cannot be converted ends only the subscribers that would see it', async () => {
  const convert = (object: Uint8Array) => {
    if (Buffer.from(object).includes('broken')) throw new Error('on purpose')
    return object
  }
  const { storage, subscribe, ready } = open({ convert })
  await ready()
  const [all, web] = [subscribe(), subscribe({ selection: withLabel('app', 'web') })]
  storage.put({ resource: maps, name: 'a', data: 'fine', labels: { app: 'web' } })
  storage.put({ resource: maps, name: 'b', data: 'broken' })
  storage.put({ resource: maps, name: 'c', data: 'fine', labels: { app: 'web' } })
  storage.sendPosition()
  expect(await web.position(3)).toEqual(['ADDED a 1 fine', 'ADDED c 3 fine'])
  let last: WatchPart | undefined
  for (let part = await all.next(); part !== undefined; part = await all.next()) last = part
  expect(last).toMatchObject({ kind: 'expired', oldest: 2 })
})

test('a subscriber that does not read is ended, and the others are still served', async () => {
  const { storage, subscribe, ready } = open({ limits: { subscriberBytesMax: 10_000 } })
  await ready()
  const slow = subscribe()
  const quick = subscribe()
  for (let index = 0; index < 20; index += 1) {
    storage.put({ resource: maps, name: `n${index}`, data: 'x'.repeat(1000) })
    await quick.events()
  }
  await expect(slow.next()).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
  storage.put({ resource: maps, name: 'last' })
  expect(await quick.events()).toEqual(['ADDED last 21 '])
})

test('CARD-25: subscribers are served without loss or repetition after storage restarts', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const events = subscribe()
  storage.put({ resource: maps, name: 'a', data: 'one' })
  storage.breakStreams()
  storage.put({ resource: maps, name: 'a', data: 'two' })
  storage.put({ resource: maps, name: 'a', data: 'three' })
  expect(await events.position(3)).toEqual(['ADDED a 1 one', 'MODIFIED a 2 two', 'MODIFIED a 3 three'])
})

test('another store in the place of the old one ends every subscription with `replaced`', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const before = subscribe({ epoch: 'e1' })
  storage.replace('e2')
  const kinds: string[] = []
  for (let part = await before.next(); part !== undefined; part = await before.next()) kinds.push(part.kind)
  expect(kinds.at(-1)).toBe('replaced')
  expect(await subscribe({ epoch: 'e1', after: storage.revision }).next()).toEqual({ kind: 'replaced' })
  const after = subscribe({ epoch: 'e2', after: storage.revision })
  storage.put({ resource: maps, name: 'a', data: 'new' })
  expect(await after.events()).toEqual([`ADDED a ${storage.revision} new`])
})

test('closing ends the subscriptions and releases storage', async () => {
  const { storage, watch, subscribe, ready } = open()
  await ready()
  const events = subscribe({ after: storage.revision })
  await events.position(0)
  watch.close()
  expect(await events.next()).toBeUndefined()
  await new Promise((resolve) => setImmediate(resolve))
  expect(storage.followers).toBe(0)
  expect(await subscribe().next()).toBeUndefined()
})

test('a raised signal ends a subscription', async () => {
  const { storage, watch } = open()
  const stop = new AbortController()
  const events = reader(watch.subscribe(subscription({}), { signal: stop.signal }))
  stop.abort()
  storage.put({ resource: maps, name: 'a' })
  expect(await events.next()).toBeUndefined()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Reads a stream continuously; `counts` has the number of its events after each turn of the event loop. */
function follow(stream: AsyncIterable<WatchPart>) {
  const seen: string[] = []
  const run = async () => {
    for await (const part of stream) if (part.kind === 'events') seen.push(...printed(part.frames))
  }
  void run()
  return seen
}

test('LIM-12: missed changes of a subscriber are printed over several turns, and later writes follow once', async () => {
  const { storage, watch, ready } = open({ limits: { turnBytesMax: 1, pieceBytesMax: 1 } })
  await ready()
  for (let index = 1; index <= 5; index++) storage.put({ resource: maps, name: `a${index}`, data: 'x' })
  await ready()
  const [one, two] = [follow(watch.subscribe(subscription({}))), follow(watch.subscribe(subscription({})))]
  const perTurn: number[] = []
  for (let before = 0, count = 0; count < 200 && one.length + two.length < 14; count++) {
    if (count === 3) for (const name of ['b1', 'b2']) storage.put({ resource: maps, name, data: 'y' })
    await turn()
    perTurn.push(one.length + two.length - before)
    before = one.length + two.length
  }
  const all = [1, 2, 3, 4, 5].map((index) => `ADDED a${index} ${index} x`)
  for (const seen of [one, two]) expect(seen).toEqual([...all, 'ADDED b1 6 y', 'ADDED b2 7 y'])
  expect(Math.max(...perTurn)).toBe(1)
})

test('LIM-12: a large change is copied for few selections per turn, and a subscriber that joins meanwhile gets it once', async () => {
  const { storage, watch, ready } = open({ limits: { turnBytesMax: 1 } })
  await ready()
  const selection = (index: number) => ({ labels: [{ key: `k${index}`, operator: 'DoesNotExist' as const, values: [] }], fields: [] })
  const readers = Array.from({ length: 6 }, (_, index) => follow(watch.subscribe(subscription({ selection: selection(index) }))))
  await turn()
  storage.put({ resource: maps, name: 'a', data: 'x' })
  const perTurn: number[] = []
  const given = () => readers.reduce((sum, { length }) => sum + length, 0)
  for (let before = 0, count = 0; count < 200 && given() < 18; count++) {
    await turn()
    if (count === 4) {
      storage.put({ resource: maps, name: 'b', data: 'x' })
      for (let index = 0; index < 3; index++) readers.push(follow(watch.subscribe(subscription({ selection: selection(index) }))))
    }
    perTurn.push(given() - before)
    before = given()
  }
  for (const seen of readers) expect(seen).toEqual(['ADDED a 1 x', 'ADDED b 2 x'])
  // One attached subscriber and one that joins.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2)
})

test('LIM-12, WATCH-22: a store that is replaced during a delivery ends all subscriptions, and the change is dropped', async () => {
  const { storage, watch, ready } = open({ limits: { turnBytesMax: 1 } })
  await ready()
  const selection = (index: number) => ({ labels: [{ key: `k${index}`, operator: 'DoesNotExist' as const, values: [] }], fields: [] })
  const readers = Array.from({ length: 4 }, (_, index) => reader(watch.subscribe(subscription({ selection: selection(index) }))))
  await turn()
  storage.put({ resource: maps, name: 'a', data: 'x' })
  for (let count = 0; count < 4; count++) await turn()
  storage.replace('e2')
  const ends: unknown[] = []
  for (const { next } of readers) {
    let last: WatchPart | undefined
    for (let part = await next(); part !== undefined; part = await next()) last = part
    ends.push(last)
  }
  expect(ends).toEqual(Array(4).fill({ kind: 'replaced' }))
  for (let count = 0; count < 20; count++) await turn()
  await ready()
  const again = follow(watch.subscribe(subscription({ selection: selection(0), after: storage.revision })))
  await turn()
  storage.put({ resource: maps, name: 'c', data: 'z' })
  for (let count = 0; count < 40; count++) await turn()
  expect(again).toEqual([`ADDED c ${storage.revision} z`])
})

test('LIM-12: missed changes are printed no further ahead than a subscriber reads, from the window and from storage, without loss', async () => {
  const count = 30
  for (const windowBytesMax of [0, 10_000_000]) {
    const limits = { windowBytesMax, pieceBytesMax: 1_000, subscriberAheadBytesMax: 3_000 }
    const { storage, watch, ready } = open({ limits })
    await ready()
    for (let index = 0; index < count; index++) storage.put({ resource: maps, name: `n${index}`, data: 'x'.repeat(1_000) })
    await ready()
    const stream = watch.subscribe(subscription({ after: 0 }))
    if (!(stream instanceof PushStream)) throw new TypeError('a subscription is a PushStream')
    await settled()
    expect(stream.waitingBytes).toBeLessThan(6_000)
    const names = (await reader(stream).position(count)).map((line) => line.split(' ')[1])
    expect(names).toEqual(Array.from({ length: count }, (_, index) => `n${index}`))
  }
})

/** Lets all work run that waits only for its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('WATCH-15: a watch has expired when storage has dropped changes that watch has not received', async () => {
  const { storage, subscribe, ready } = open()
  await ready()
  const events = subscribe()
  await events.position(0)
  storage.breakStreams()
  for (const name of ['a', 'b', 'c']) storage.put({ resource: maps, name })
  storage.compact(3)
  expect(await events.next()).toEqual({ kind: 'expired', asked: 0, oldest: 3 })
})

test('a subscriber that has caught up with the window closes its stream of storage', async () => {
  for (const windowBytesMax of [0, 1_500]) {
    const { storage, subscribe, ready } = open({ limits: { windowBytesMax } })
    await ready()
    for (const name of ['a', 'b', 'c', 'd']) storage.put({ resource: maps, name })
    await ready()
    const events = subscribe({ after: 0 })
    expect(await events.position(4)).toEqual(['ADDED a 1 ', 'ADDED b 2 ', 'ADDED c 3 ', 'ADDED d 4 '])
    await settled()
    expect(storage.followers).toBe(1)
  }
})

test('as many changes as one turn may have are delivered before more are read', async () => {
  const { storage, subscribe, ready } = open({ limits: { turnChangesMax: 2 } })
  await ready()
  const events = subscribe()
  await events.position(0)
  const first = events.next()
  for (const name of ['a', 'b', 'c']) storage.put({ resource: maps, name })
  expect(await first).toMatchObject({ kind: 'events', count: 2 })
  expect(await events.events()).toEqual(['ADDED c 3 '])
})

test('LIM-12: an event in another format than JSON counts as more than its bytes in a turn', async () => {
  const { storage, watch, ready } = open({ limits: { turnBytesMax: 10_000 } })
  await ready()
  const format: SubscribeRequest['format'] = { kind: 'metadata', profile: 'orch', version: 'v1', isProtobuf: false }
  let given = 0
  for (const label of ['k', 'l', 'm']) {
    const selection = { labels: [{ key: label, operator: 'DoesNotExist' as const, values: [] }], fields: [] }
    const stream = watch.subscribe(subscription({ selection, format }))
    const count = async () => {
      for await (const part of stream) if (part.kind === 'events') given += part.count
    }
    void count()
  }
  await settled()
  storage.put({ resource: maps, name: 'a', data: 'x'.repeat(1_000) })
  // The copies alone would fit into one turn.
  for (let turns = 0; turns < 4; turns++) await turn()
  expect(given).toBe(0)
  for (let turns = 0; turns < 100 && given < 3; turns++) await turn()
  expect(given).toBe(3)
})

test('a subscriber whose history cannot be read gets the error, and the others are still served', async () => {
  const failing = new Error('on purpose')
  const changes = (storage: TinyStorage): TinyStorage['changes'] => {
    return (request, context) => {
      if (request.resources.length > 0) throw failing
      return storage.changes(request, context)
    }
  }
  const { storage, subscribe, ready } = open({ limits: { windowBytesMax: 0 }, wrap: (storage) => ({ changes: changes(storage) }) })
  await ready()
  const live = subscribe()
  storage.put({ resource: maps, name: 'a' })
  expect(await live.events()).toEqual(['ADDED a 1 '])
  await expect(subscribe({ after: 0 }).next()).rejects.toBe(failing)
  storage.put({ resource: maps, name: 'b' })
  expect(await live.events()).toEqual(['ADDED b 2 '])
})

test('the content before a change is taken from an earlier change of the same turn, without a request to storage', async () => {
  const getAt = vi.fn()
  const { storage, subscribe, ready } = open({ sendsBefore: false, limits: { windowBytesMax: 0 }, wrap: () => ({ getAt }) })
  await ready()
  const events = subscribe({ selection: withLabel('app', 'web') })
  storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'web' } })
  storage.put({ resource: maps, name: 'a', data: 'two' })
  storage.sendPosition()
  expect(await events.position(2)).toEqual(['ADDED a 1 one', 'DELETED a 2 one'])
  expect(getAt).not.toHaveBeenCalled()
})

test('closing aborts a request to storage for the content before a change', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const getAt: TinyStorage['getAt'] = (_request, context) => {
    signals.push(context?.signal as AbortSignal | undefined)
    return new Promise(() => {})
  }
  const { storage, watch, subscribe, ready } = open({ sendsBefore: false, limits: { windowBytesMax: 0 }, wrap: () => ({ getAt }) })
  storage.put({ resource: maps, name: 'a', labels: { app: 'web' } })
  await ready()
  subscribe({ selection: withLabel('app', 'web'), after: 1 })
  storage.put({ resource: maps, name: 'a' })
  await settled()
  expect(signals.map((signal) => signal?.aborted)).toEqual([false])
  watch.close()
  expect(signals.map((signal) => signal?.aborted)).toEqual([true])
})

test('a storage that cannot be reached is logged, at debug level the first time, and not after watch is closed', async () => {
  const logged: string[] = []
  const note = (level: string) => (_fields: unknown, text: string) => void logged.push(`${level} ${text}`)
  const log: Log = { ...silentLog, debug: note('debug'), warn: note('warn') }
  const status = () => Promise.reject(new Error('on purpose'))
  const { watch, clock } = open({ log, wrap: () => ({ status }) })
  await settled()
  for (let count = 0; count < 2; count++) {
    clock.advance(10_000)
    await settled()
  }
  const text = 'the changes of storage cannot be read'
  expect(logged).toEqual([`debug ${text}`, `debug ${text}`, `warn ${text}`, `warn ${text}`])
  watch.close()
  await settled()
  expect(logged).toHaveLength(4)
})

test('a clock that is moved by hand waits while received changes are not yet delivered', async () => {
  let isBusy = () => true
  const unfollow = vi.fn()
  const follow = (_what: string, asked: () => boolean) => {
    isBusy = asked
    return unfollow
  }
  const { storage, watch, subscribe, ready } = open({ work: { begin: () => {}, end: () => {}, follow }, limits: { turnBytesMax: 1 } })
  await ready()
  await settled()
  const events = subscribe()
  storage.put({ resource: maps, name: 'a' })
  const states = [isBusy()]
  for (let count = 0; count < 4; count++) {
    await turn()
    states.push(isBusy())
  }
  expect(await events.events()).toEqual(['ADDED a 1 '])
  await settled()
  expect([states.includes(true), isBusy()]).toEqual([true, false])
  watch.close()
  expect(unfollow).toHaveBeenCalledOnce()
})

/** The bytes of the last three changes of the tests below, without the earlier content. */
const threeChanges = 1_900

test('WATCH-21: the content of an object that has left a selection is read from storage, and of no other object', async () => {
  for (const windowBytesMax of [0, threeChanges]) {
    const asked: unknown[] = []
    const getAt = (storage: TinyStorage): TinyStorage['getAt'] => {
      return (request, context) => {
        asked.push(request)
        return storage.getAt(request, context)
      }
    }
    const limits = { windowBytesMax }
    const { storage, subscribe, ready } = open({ sendsBefore: false, limits, wrap: (storage) => ({ getAt: getAt(storage) }) })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) storage.put({ resource: maps, name, data: 'one', labels: { app: 'web' } })
    await ready()
    storage.put({ resource: maps, name: 'a', data: 'two' })
    storage.put({ resource: maps, name: 'b', data: 'two', labels: { app: 'web' } })
    storage.put({ resource: 'core/secrets', name: 'a', data: 'x' })
    await ready()
    const events = await subscribe({ selection: withLabel('app', 'web'), after: 6 }).position(9)
    expect(events).toEqual(['DELETED a 7 one', 'MODIFIED b 8 two'])
    expect(asked).toEqual([{ key: 'core/configmaps/a', revision: 6 }])
  }
})

test('content that is part of a change is not requested', async () => {
  const getAt = vi.fn()
  const { storage, subscribe, ready } = open({ limits: { windowBytesMax: 0 }, wrap: () => ({ getAt }) })
  storage.put({ resource: maps, name: 'a', data: 'one', labels: { app: 'web' } })
  await ready()
  const events = subscribe({ selection: withLabel('app', 'web'), after: 1 })
  storage.put({ resource: maps, name: 'a', data: 'two' })
  expect(await events.events()).toEqual(['DELETED a 2 one'])
  expect(getAt).not.toHaveBeenCalled()
})

test('a subscriber that needs content gets the error of storage for it', async () => {
  for (const windowBytesMax of [0, threeChanges]) {
    const getAt = () => Promise.reject(serviceUnavailable('on purpose'))
    const { storage, subscribe, ready } = open({ sendsBefore: false, limits: { windowBytesMax }, wrap: () => ({ getAt }) })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) storage.put({ resource: maps, name, labels: { app: 'web' } })
    await ready()
    storage.put({ resource: maps, name: 'a' })
    await ready()
    await expect(subscribe({ selection: withLabel('app', 'web'), after: 6 }).next()).rejects.toMatchObject({ code: 503 })
  }
})

test('events of announced changes are sent before work that is deferred to the end of the turn', async () => {
  const { storage, watch, ready } = open()
  await ready()
  const stream = watch.subscribe(subscription({}))
  if (!(stream instanceof PushStream)) throw new TypeError('a subscription is a PushStream')
  await settled()
  watch.expectChanges()
  const atTheEnd = new Promise((resolve) => setImmediate(() => resolve(stream.waitingBytes > 0)))
  storage.put({ resource: maps, name: 'a' })
  expect(await atTheEnd).toBe(true)
})

test('CARD-22: the delivery of a traced change has a span, which its events name', async () => {
  const spans: { name: string; options: SpanOptions; isEnded: boolean }[] = []
  const tracer: Tracer = {
    start(name, options) {
      const span = { name, options, isEnded: false }
      spans.push(span)
      const end = () => {
        span.isEnded = true
      }
      return { traceparent: 'own', rename: () => {}, attribute: () => {}, fail: () => {}, end }
    },
  }
  const changes = (storage: TinyStorage): TinyStorage['changes'] => {
    return (request, context) => {
      const stream = storage.changes(request, context)
      const traced = async function* () {
        for await (const part of stream) {
          if (part.kind !== 'changes') yield part
          else yield { ...part, changes: part.changes.map((change) => ({ ...change, traceparent: 'theirs', committedMs: 7 })) }
        }
      }
      return Object.assign(traced(), { close: () => stream.close() })
    }
  }
  const { storage, subscribe, ready } = open({ tracer, wrap: (storage) => ({ changes: changes(storage) }) })
  await ready()
  const events = subscribe()
  await events.position(0)
  storage.put({ resource: maps, namespace: 'n', name: 'a' })
  expect(await events.next()).toMatchObject({ kind: 'events', origin: { committedMs: 7, traceparents: ['own'] } })
  await settled()
  const attributes = { 'change.resource': maps, 'change.revision': 1 }
  expect(spans).toEqual([{ name: 'hand out a change', options: { kind: 'consumer', parent: 'theirs', attributes }, isEnded: true }])
})
