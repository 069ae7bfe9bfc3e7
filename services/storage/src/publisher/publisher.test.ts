import type { ChangeMessage } from '@orch/core/contracts'
import { createMetrics, silentLog } from '@orch/platform'
import { createFakeChangeStream, createFakeClock, createTinyStorage, type FakeChangeStream, type TinyStorage } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Leadership, soleLeadership } from '../leadership.ts'
import type { PublisherLimits } from './limits.ts'
import { createPublisher } from './publisher.ts'

const maps = 'core/configmaps'
const turns = async (count = 8) => {
  for (let round = 0; round < count; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

function open(
  parts: {
    storage?: TinyStorage
    stream?: FakeChangeStream
    leadership?: Leadership
    limits?: Partial<PublisherLimits>
    isEncrypted?: (key: string) => boolean
  } = {},
) {
  const storage = parts.storage ?? createTinyStorage()
  const stream = parts.stream ?? createFakeChangeStream()
  const clock = createFakeClock()
  let metrics = createMetrics({ process: false })
  const { leadership = soleLeadership, limits = {}, isEncrypted } = parts
  const start = () => {
    metrics = createMetrics({ process: false })
    const publisher = createPublisher({ storage, stream, leadership, clock, log: silentLog, random: () => 0, metrics, limits, isEncrypted })
    onTestFinished(() => publisher.close())
    return publisher
  }
  const put = (name: string, data = name) => storage.put({ resource: maps, name, data })
  const published = () => stream.messages.flatMap(printed)
  /** Lets time pass in small steps. */
  const pass = async (totalMs: number) => {
    for (let passedMs = 0; passedMs < totalMs; passedMs += 100) {
      clock.advance(100)
      await turns(2)
    }
  }
  return {
    storage,
    stream,
    clock,
    metricsText: () => metrics.text(),
    start,
    put,
    published,
    pass,
    changes: () => published().filter((line) => /^\d/.test(line)),
  }
}

function printed(message: ChangeMessage): string[] {
  switch (message.kind) {
    case 'changes':
      return message.changes.map(({ revision, previous }) => `${revision} after ${previous}`)
    case 'reference':
      return [`reference ${message.revision} after ${message.previous} ${message.key}`]
    case 'position':
      return [`position ${message.revision} last ${message.last}`]
  }
}

test('CARD-18: every committed change is published once and in order, from the current revision on', async () => {
  const { start, put, published } = open()
  put('before')
  start()
  await turns()
  put('a')
  put('b')
  await turns()
  expect(published()).toEqual(['position 1 last 1', 'position 1 last 1', '2 after 1', '3 after 2'])
})

test('positions are published without changes unless storage keeps later changes back', async () => {
  const { start, stream, storage, pass } = open()
  start()
  await turns()
  await pass(1_000)
  expect(stream.messages.length).toBeGreaterThanOrEqual(3)
  const status = await storage.status({})
  vi.spyOn(storage, 'status').mockResolvedValue({ ...status, revision: status.revision + 1 })
  await pass(3_000)
  const silent = stream.messages.length
  await pass(3_000)
  expect(stream.messages.length).toBe(silent)
  storage.sendPosition()
  await turns()
  await pass(500)
  expect(stream.messages.length).toBeGreaterThan(silent + 1)
})

test('positions are published under load too', async () => {
  const { start, put, published, pass } = open()
  start()
  await turns()
  for (let index = 0; index < 20; index += 1) {
    put(`n${index}`)
    await pass(100)
  }
  const positions = published()
    .filter((line) => line.startsWith('position'))
    .slice(2)
  expect(positions.length).toBeGreaterThanOrEqual(4)
  for (const position of positions) expect(position).toMatch(/^position (\d+) last \1$/)
})

test('a restarted publisher continues after the last message', async () => {
  const { start, put, changes } = open()
  const first = start()
  await turns()
  put('a')
  await turns()
  await first.close()
  put('b')
  put('c')
  start()
  await turns()
  expect(changes()).toEqual(['1 after 0', '2 after 1', '3 after 2'])
})

test('a publisher whose last message is older than the compaction starts at the current revision', async () => {
  const { start, storage, put, published, pass } = open()
  const first = start()
  await turns()
  put('a')
  await turns()
  await first.close()
  put('b')
  put('c')
  put('d')
  storage.compact(3)
  const before = published().length
  start()
  await turns()
  put('e')
  await pass(1_000)
  const told = published().slice(before)
  expect([told[0], ...told.filter((line) => /^\d/.test(line))]).toEqual(['position 4 last 4', '5 after 4'])
})

test('a publisher whose last message is at the compaction continues after it', async () => {
  const { start, storage, put, changes } = open()
  const first = start()
  await turns()
  put('a')
  await turns()
  await first.close()
  put('b')
  storage.compact(1)
  start()
  await turns()
  expect(changes()).toEqual(['1 after 0', '2 after 1'])
})

test('a publisher whose last message is of another epoch starts at the current revision', async () => {
  const before = open()
  const first = before.start()
  await turns()
  before.put('a')
  await turns()
  await first.close()
  const { start, put, stream } = open({ stream: before.stream, storage: createTinyStorage({ epoch: 'e2' }) })
  put('b')
  put('c')
  const told = stream.messages.length
  start()
  await turns()
  expect(stream.messages[told]).toMatchObject({ kind: 'position', epoch: 'e2', revision: 2, last: 2 })
  expect(stream.messages.slice(told).every(({ kind }) => kind === 'position')).toBe(true)
})

test('a publisher that continues after a position names the same last change', async () => {
  const { start, stream, put, published } = open()
  put('a')
  put('b')
  await stream.prepare()
  const options = { id: 'e1-2.0', expectedSequence: 0, expectedId: undefined }
  await stream.publish({ kind: 'position', epoch: 'e1', revision: 2, last: 1 }, options)
  start()
  await turns()
  expect(published()[1]).toBe('position 2 last 1')
})

test('one of two parallel publishers is refused and restarts, and no change is lost, repeated or reordered', async () => {
  const { storage, stream, put, changes, start, pass } = open()
  start()
  const other = open({ storage, stream })
  other.start()
  await turns()
  for (let index = 0; index < 50; index += 1) {
    put(`n${index}`)
    await turns(2)
    await (index % 2 === 0 ? pass(100) : other.pass(100))
  }
  await pass(10_000)
  await other.pass(10_000)
  expect(changes()).toEqual(Array.from({ length: 50 }, (_, index) => `${index + 1} after ${index}`))
})

test('a replica publishes only while it leads', async () => {
  const listeners = new Set<(isLeader: boolean) => void>()
  const leadership = {
    isLeader: false,
    onChange(listener: (isLeader: boolean) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const lead = async (isLeader: boolean) => {
    leadership.isLeader = isLeader
    for (const listener of [...listeners]) listener(isLeader)
    await turns()
  }
  const { start, put, published, changes, pass } = open({ leadership })
  start()
  await turns()
  expect(published()).toEqual([])
  await lead(true)
  put('a')
  await turns()
  await lead(false)
  put('b')
  await pass(10_000)
  expect(changes()).toEqual(['1 after 0'])
  await lead(true)
  await turns()
  expect(changes()).toEqual(['1 after 0', '2 after 1'])
})

test('Secrets and large changes are sent as references, in the order of changes', async () => {
  const { start, storage, put, published } = open({ limits: { changeBytesMax: 1_000 } })
  start()
  await turns()
  put('a')
  storage.put({ resource: 'core/secrets', name: 's', namespace: 'default', data: 'word' })
  put('large', 'x'.repeat(2_000))
  put('b')
  storage.remove('core/secrets', 's', 'default')
  await turns()
  expect(published().slice(2)).toEqual([
    '1 after 0',
    'reference 2 after 1 core/secrets/default/s',
    `reference 3 after 2 ${maps}/large`,
    '4 after 3',
    'reference 5 after 4 core/secrets/default/s',
  ])
})

test('ENC-14: objects that are stored encrypted are sent as references', async () => {
  const { start, put, published } = open({ isEncrypted: (key) => key === `${maps}/hidden` })
  start()
  await turns()
  put('hidden')
  put('seen')
  await turns()
  expect(published().slice(2)).toEqual([`reference 1 after 0 ${maps}/hidden`, '2 after 1'])
})

test('a message holds many changes, up to its size', async () => {
  const { start, storage, stream } = open({ limits: { messageBytesMax: 2_000 } })
  const first = start()
  await turns()
  await first.close()
  for (let index = 0; index < 20; index += 1) storage.put({ resource: maps, name: `n${index}`, data: 'x'.repeat(200) })
  start()
  await turns()
  const sizes = stream.messages.flatMap((message) => (message.kind === 'changes' ? [message.changes.length] : []))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20)
  expect(sizes.length).toBeGreaterThan(3)
  expect(Math.max(...sizes)).toBeGreaterThan(1)
})

test('storage continues while NATS is down, and on its return publishing resumes where it stopped', async () => {
  const { start, stream, put, changes, pass } = open()
  start()
  await turns()
  put('a')
  await turns()
  stream.goDown()
  put('b')
  await pass(5_000)
  put('c')
  stream.goUp()
  await pass(10_000)
  expect(changes()).toEqual(['1 after 0', '2 after 1', '3 after 2'])
})

for (const [name, harm] of [
  ['purged by an operator', (stream: FakeChangeStream) => stream.purge()],
  ['lost with the data of NATS', (stream: FakeChangeStream) => stream.lose()],
] as const) {
  test(`a stream that was ${name} is published to again`, async () => {
    const { start, stream, put, storage, changes, pass } = open()
    start()
    await turns()
    put('a')
    await turns()
    harm(stream)
    put('b')
    await pass(10_000)
    storage.sendPosition()
    put('c')
    await turns()
    expect(changes().at(-1)).toBe('3 after 2')
  })
}

test('WATCH-22: changes of the new store are published after a new epoch', async () => {
  const { start, storage, stream, put, pass } = open()
  start()
  await turns()
  put('a')
  await turns()
  storage.replace('e2')
  await pass(2_000)
  put('b')
  await turns()
  expect(stream.messages.at(-1)).toMatchObject({ kind: 'changes', epoch: 'e2', changes: [{ revision: 3 }] })
})

test('a publisher counts its published messages in its metrics', async () => {
  const { start, put, metricsText } = open()
  start()
  await turns()
  put('a')
  await turns()
  const text = await metricsText()
  expect(text).toContain('change_feed_published_changes_total 1')
  expect(text).toContain('change_feed_published_revision 1')
  expect(text).toContain('change_feed_publishing 1')
})
