import { type ChangeMessage, type ChangesPart, revisionOfMessage } from '@orch/core/contracts'
import { createMetrics, type Log, silentLog } from '@orch/platform'
import { createFakeChangeStream, createFakeClock, createTinyStorage, type TinyStorage } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createChangeSource } from './change-source.ts'
import type { ChangeSourceLimits } from './limits.ts'

const maps = 'core/configmaps'
const turns = async (count = 8) => {
  for (let round = 0; round < count; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** A change source over a tiny storage; the test plays the publisher. */
async function open(limits: Partial<ChangeSourceLimits> = {}, status?: TinyStorage['status']) {
  const storage = createTinyStorage()
  const stream = createFakeChangeStream()
  const clock = createFakeClock()
  const metrics = createMetrics({ process: false })
  await stream.prepare()
  let asked = 0
  const logged: unknown[] = []
  const log: Log = { ...silentLog, warn: (fields, text) => void logged.push(fields, text) }
  const counted: TinyStorage = {
    ...storage,
    status: status ?? storage.status,
    changes(request, context) {
      asked += 1
      return storage.changes(request, context)
    },
  }
  const source = createChangeSource({ storage: counted, stream, clock, log, random: () => 0, metrics, limits })
  onTestFinished(() => source.close())
  await turns()
  let sequence = 0
  const publish = async (message: ChangeMessage) => {
    await stream.publish(message, { id: `m${sequence}`, expectedSequence: sequence })
    sequence += 1
    await turns()
  }
  const position = (revision = storage.revision, last = revision) => publish({ kind: 'position', epoch: 'e1', revision, last })
  let taken = 0
  /** Publishes the changes since the last call. */
  const publishChanges = async () => {
    const changes = await changesAfter(storage, taken)
    taken = storage.revision
    if (changes.length > 0) await publish({ kind: 'changes', epoch: 'e1', changes, publishedMs: clock.now() - 3 })
  }
  const put = (name: string) => storage.put({ resource: maps, name, data: name })
  const read = (after = storage.revision) => {
    const seen: string[] = []
    const reading = source.changes({ after, epoch: 'e1', resources: [] })
    const run = async () => {
      for await (const part of reading) seen.push(...printed(part))
      seen.push('end')
    }
    void run().catch((error: unknown) => seen.push(String(error)))
    return { seen, changes: () => seen.filter((line) => /^\d/.test(line)), close: () => reading.close() }
  }
  const asks = () => asked
  const departures = async () =>
    [...(await metrics.text()).matchAll(/gap_fills_total\{reason="(\w+)"\} (\d+)/g)].map(([, reason, count]) => `${reason} ${count}`)
  return { storage, stream, clock, metrics, source, publish, position, publishChanges, put, read, asks, departures, logged }
}

async function changesAfter(storage: TinyStorage, after: number) {
  const source = storage.changes({ after, epoch: '', resources: [] })
  for await (const part of source)
    if (part.kind === 'changes') return part.changes
    else break
  return []
}

function printed(part: ChangesPart): string[] {
  switch (part.kind) {
    case 'changes':
      return part.changes.map(({ revision, key }) => `${revision} ${key.slice(key.indexOf('/') + 1 + 'configmaps/'.length)}`)
    case 'position':
      return [`position ${part.revision}`]
    case 'expired':
      return [`expired ${part.oldest} ${part.epoch}`]
  }
}

test('CARD-17: changes come from the published stream, and no change is read from storage', async () => {
  const { put, publishChanges, position, read, asks } = await open()
  await position()
  const reader = read()
  await turns()
  put('a')
  put('b')
  await publishChanges()
  put('c')
  await publishChanges()
  await position()
  expect(reader.seen).toEqual(['1 a', '2 b', '3 c', 'position 3'])
  expect(asks()).toBe(0)
})

test('changes before the stream come from storage, then the stream continues', async () => {
  const { put, publishChanges, position, read, storage } = await open()
  put('a')
  put('b')
  await publishChanges()
  const reader = read(0)
  await turns()
  expect(reader.seen).toEqual(['1 a', '2 b'])
  put('c')
  await publishChanges()
  await position()
  expect(reader.changes()).toEqual(['1 a', '2 b', '3 c'])
  expect(storage.followers).toBe(0)
})

const faults: readonly { name: string; found: string[]; deliver(message: ChangeMessage): readonly ChangeMessage[] }[] = [
  { name: 'lost', found: ['gap 1'], deliver: () => [] },
  { name: 'doubled', found: [], deliver: (message) => [message, message] },
]

for (const { name, found, deliver } of faults) {
  test(`CARD-18: the reader gets the same changes if a message is ${name}`, async () => {
    const { put, publishChanges, position, read, stream, departures } = await open()
    await position()
    const reader = read()
    await turns()
    const arrives = stream.deliver
    stream.deliver = deliver
    put('a')
    await publishChanges()
    stream.deliver = arrives
    put('b')
    await publishChanges()
    put('c')
    await publishChanges()
    expect(reader.changes()).toEqual(['1 a', '2 b', '3 c'])
    expect(await departures()).toEqual(found)
  })
}

test('a lost message at the end of the stream is noticed by the next position', async () => {
  const { put, publishChanges, position, read, stream, departures } = await open()
  await position()
  const reader = read()
  await turns()
  const arrives = stream.deliver
  stream.deliver = () => []
  put('a')
  await publishChanges()
  stream.deliver = arrives
  await position()
  expect(reader.changes()).toEqual(['1 a'])
  expect(await departures()).toEqual(['gap 1'])
})

test('swapped and delayed messages are put in order', async () => {
  const { put, publishChanges, position, read, stream, departures } = await open()
  await position()
  const reader = read()
  await turns()
  const held: ChangeMessage[] = []
  stream.deliver = (message) => {
    if (message.kind === 'changes' && held.length === 0) {
      held.push(message)
      return []
    }
    return message.kind === 'changes' && revisionOfMessage(message) === 2 ? [message, ...held] : [message]
  }
  for (const name of ['a', 'b', 'c']) {
    put(name)
    await publishChanges()
  }
  await position()
  expect(reader.changes()).toEqual(['1 a', '2 b', '3 c'])
  expect(await departures()).toEqual(['gap 1'])
})

test('messages from before the start of a reader are skipped, and a message that overlaps it counts in part', async () => {
  const { put, publish, publishChanges, position, read, storage, clock, departures } = await open()
  await position()
  const reader = read()
  await turns()
  for (const name of ['a', 'b', 'c']) put(name)
  await publishChanges()
  const changes = await changesAfter(storage, 0)
  put('d')
  await position(1, 1)
  await publish({ kind: 'reference', epoch: 'e1', revision: 2, previous: 1, key: `${maps}/b` })
  const publishedMs = clock.now()
  await publish({ kind: 'changes', epoch: 'e1', changes: changes.slice(1), publishedMs })
  await publish({ kind: 'changes', epoch: 'e1', changes: await changesAfter(storage, 1), publishedMs })
  expect(reader.changes()).toEqual(['1 a', '2 b', '3 c', '4 d'])
  expect(await departures()).toEqual([])
})

test('a reader that waits for storage does not switch to the stream at a message after a gap', async () => {
  const { put, publish, publishChanges, position, read, asks, departures, stream, storage } = await open()
  const reader = read()
  await turns()
  stream.deliver = () => []
  put('a')
  await publishChanges()
  stream.deliver = (message) => [message]
  storage.breakStreams()
  await turns()
  const again = read(0)
  await turns()
  put('b')
  put('c')
  const [, , last] = await changesAfter(storage, 0)
  const before = asks()
  if (last !== undefined) await publish({ kind: 'changes', epoch: 'e1', changes: [{ ...last, revision: 9, previous: 8 }], publishedMs: 0 })
  expect([again.changes(), asks() - before]).toEqual([['1 a', '2 b', '3 c'], 0])
  await position()
  expect(await departures()).toEqual([])
  reader.close()
})

test('CARD-25: a stream is reopened when it is silent for longer than the bound, and not before', async () => {
  const { position, clock, stream } = await open({ silenceMsMax: 1_000, reopenAfterMs: 2_000, checkIntervalMs: 1_000 })
  await position()
  const followersAfter = async (ms: number) => {
    clock.advance(ms)
    await turns()
    return stream.followers
  }
  expect([await followersAfter(1_000), await followersAfter(1_000), await followersAfter(1_000)]).toEqual([1, 1, 0])
  expect(await followersAfter(1_000)).toBe(1)
})

test('a stream that only repeats its old position is replaced by storage', async () => {
  const { put, position, read, clock, departures, storage, logged } = await open()
  await position()
  const reader = read()
  await turns()
  put('a')
  for (let second = 0; second < 12; second += 1) {
    clock.advance(900)
    await position(0, 0)
    storage.sendPosition()
    await turns()
  }
  expect(reader.changes()).toEqual(['1 a'])
  expect(await departures()).toEqual(['silence 1'])
  expect(logged.slice(0, 2)).toEqual([{ published: 0, stored: 1 }, 'published changes are behind storage'])
})

test('a stream at the revision of storage stays in use, for any number of requests to storage', async () => {
  const { position, read, clock, departures, logged } = await open()
  await position()
  read()
  await turns()
  for (let second = 0; second < 12; second += 1) {
    clock.advance(900)
    await position()
  }
  expect([await departures(), logged]).toEqual([[], []])
})

test('a further request for storage’s revision is sent only after an answer', async () => {
  let asked = 0
  const status = () => {
    asked += 1
    return new Promise<never>(() => {})
  }
  const { clock } = await open({}, status)
  for (let second = 0; second < 12; second += 1) {
    clock.advance(1_000)
    await turns()
  }
  expect(asked).toBe(1)
})

test('the feed is announced while there are readers and all of them read the stream', async () => {
  const { position, read, metrics, put, publishChanges, source } = await open({ waitingBytesMax: 1_000 })
  const isPublished = async () => (await metrics.text()).includes('watch_feed_mode{source="published"} 1')
  await position()
  expect(await isPublished()).toBe(false)
  const live = read()
  await turns()
  expect(await isPublished()).toBe(true)
  const slow = source.changes({ after: 0, epoch: 'e1', resources: [] })
  const first = slow[Symbol.asyncIterator]().next()
  for (let index = 0; index < 40; index += 1) {
    put(`n${index}`)
    await publishChanges()
  }
  await first
  expect(await isPublished()).toBe(false)
  slow.close()
  expect(await isPublished()).toBe(true)
  live.close()
  expect(await isPublished()).toBe(false)
})

test('a closed reader does not leave the stream', async () => {
  const { position, read, clock, departures } = await open()
  await position()
  const reader = read()
  await turns()
  reader.close()
  clock.advance(1_500)
  await turns()
  expect(await departures()).toEqual([])
})

test('WATCH-22: a reader of another store than the published one is sent to storage, which reports the other store', async () => {
  const { position, source } = await open()
  await position()
  const seen: string[] = []
  for await (const part of source.changes({ after: 0, epoch: 'e0', resources: [] })) seen.push(...printed(part))
  expect(seen).toEqual(['expired 0 e1'])
})

test('positions are passed on at an interval, from the first one on', async () => {
  const { position, read, clock } = await open({ positionIntervalMs: 500 })
  await position()
  const reader = read()
  await turns()
  const after = async (ms: number) => {
    clock.advance(ms)
    await position()
    return reader.seen.length
  }
  expect([await after(0), await after(499), await after(1), await after(499), await after(2)]).toEqual([1, 1, 2, 2, 3])
})

test('CARD-25: after a second of silence the reader uses storage, and after the next message the stream', async () => {
  const { put, publishChanges, position, read, clock, metrics, storage } = await open()
  await position()
  const reader = read()
  await turns()
  expect(await metrics.text()).toContain('watch_feed_mode{source="published"} 1')
  clock.advance(1_500)
  await turns()
  put('a')
  await turns()
  expect(reader.changes()).toEqual(['1 a'])
  expect(await metrics.text()).toContain('watch_feed_mode{source="storage"} 1')
  await publishChanges()
  await position()
  expect(storage.followers).toBe(0)
  put('b')
  await publishChanges()
  expect(reader.changes()).toEqual(['1 a', '2 b'])
  expect(await metrics.text()).toContain('watch_feed_mode{source="published"} 1')
})

test('a reader is served from storage while NATS is unreachable, and returns to the stream afterwards', async () => {
  const { put, publishChanges, position, read, clock, stream, storage } = await open()
  await position()
  const reader = read()
  await turns()
  stream.goDown()
  await turns()
  put('a')
  await turns()
  expect(reader.changes()).toEqual(['1 a'])
  stream.goUp()
  for (let round = 0; round < 30 && stream.followers === 0; round += 1) {
    clock.advance(500)
    await turns()
  }
  await publishChanges()
  await position()
  expect([stream.followers, storage.followers]).toEqual([1, 0])
  put('b')
  await publishChanges()
  expect(reader.changes()).toEqual(['1 a', '2 b'])
})

test('a reference is fetched from storage in the order of changes', async () => {
  const { put, publish, publishChanges, position, read, departures } = await open()
  await position()
  const reader = read()
  await turns()
  put('a')
  await publishChanges()
  put('b')
  await publish({ kind: 'reference', epoch: 'e1', revision: 2, previous: 1, key: `${maps}/b` })
  expect(reader.changes()).toEqual(['1 a', '2 b'])
  expect(await departures()).toEqual(['reference 1'])
})

test('a slow reader continues with storage, at its own pace, and misses nothing', async () => {
  const { put, publishChanges, position, source, departures } = await open({ waitingBytesMax: 1_000 })
  await position()
  const reading = source.changes({ after: 0, epoch: 'e1', resources: [] })
  const parts = reading[Symbol.asyncIterator]()
  const first = parts.next()
  for (let index = 0; index < 40; index += 1) {
    put(`n${index}`)
    await publishChanges()
  }
  const seen = printed((await first).value as ChangesPart)
  while (seen.filter((line) => /^\d/.test(line)).length < 40) seen.push(...printed((await parts.next()).value as ChangesPart))
  expect(seen.filter((line) => /^\d/.test(line))).toEqual(Array.from({ length: 40 }, (_, index) => `${index + 1} n${index}`))
  expect(await departures()).toEqual(['slow 1'])
  reading.close()
})

test('WATCH-22: another store in the change source ends the stream of changes', async () => {
  const { storage, publish, position, read, departures } = await open()
  await position()
  const reader = read()
  await turns()
  storage.replace('e2')
  await publish({ kind: 'position', epoch: 'e2', revision: storage.revision, last: storage.revision })
  expect(reader.seen.slice(-2)).toEqual(['expired 1 e2', 'end'])
  expect(await departures()).toEqual(['epoch 1'])
})

test('WATCH-15: history that storage has dropped is reported in the words of storage', async () => {
  const { put, storage, read } = await open()
  put('a')
  put('b')
  storage.compact(2)
  const reader = read(1)
  await turns()
  expect(reader.seen).toEqual(['expired 2 e1', 'end'])
})

test('the delay of changes in transit is measured', async () => {
  const { put, publishChanges, metrics } = await open()
  put('a')
  await publishChanges()
  expect(await metrics.text()).toMatch(/watch_feed_delay_seconds_sum 0\.003/)
})

test('single resources are read from storage', async () => {
  const { source, put, storage } = await open()
  put('a')
  const reading = source.changes({ after: 0, epoch: 'e1', resources: ['core/pods'] })
  expect(storage.followers).toBe(1)
  reading.close()
})

test('a closed reader releases everything', async () => {
  const { read, storage } = await open()
  const reader = read()
  await turns()
  expect(storage.followers).toBe(1)
  reader.close()
  await turns()
  expect([storage.followers, reader.seen.at(-1)]).toEqual([0, 'end'])
})
