import type { SubscribeRequest, WatchPart, WatchService } from '@orch/core/contracts'
import { failed } from '@orch/core/meta'
import { PushStream, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createWatchHub, type WatchSink } from './hub.ts'
import type { WatchHubLimits } from './limits.ts'

/** A watch service whose subscriptions the test feeds itself. */
function open(limits: Partial<WatchHubLimits> = {}) {
  const subscriptions: { request: SubscribeRequest; stream: PushStream<WatchPart> }[] = []
  const watch: WatchService = {
    subscribe(request) {
      const stream = new PushStream<WatchPart>()
      subscriptions.push({ request, stream })
      return stream
    },
  }
  const clock = createFakeClock()
  const hub = createWatchHub({ watch, clock, log: silentLog, random: () => 0, limits })
  const attach = (after: number, more: Partial<SubscribeRequest> = {}) => {
    const client = recorder()
    return { ...client, attachment: hub.attach({ request: { ...anyRequest, after, ...more }, sink: client.sink }) }
  }
  const push = async (index: number, ...parts: WatchPart[]) => {
    for (const part of parts) subscriptions[index]?.stream.push(part)
    await turn()
  }
  return { hub, clock, subscriptions, attach, push }
}

const anyRequest: SubscribeRequest = {
  scope: { resource: 'core/pods' },
  selection: { labels: [], fields: [] },
  group: '',
  version: 'v1',
  resource: 'pods',
  format: { kind: 'json' },
  after: 0,
  epoch: '',
}

function recorder() {
  const seen: string[] = []
  const buffers: Uint8Array[] = []
  const sink: WatchSink = {
    frames(bytes, lastRevision) {
      buffers.push(bytes)
      seen.push(`${Buffer.from(bytes)}@${lastRevision}`)
    },
    position: (revision) => void seen.push(`position ${revision}`),
    expired: (asked, oldest) => void seen.push(`expired ${asked} ${oldest}`),
    replaced: () => void seen.push('replaced'),
  }
  return { seen, buffers, sink }
}

const events = (text: string, last: number): WatchPart => ({ kind: 'events', frames: Buffer.from(text), count: 1, last })
const position = (revision: number): WatchPart => ({ kind: 'position', revision })
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('clients of the same kind share one subscription and the same buffers', async () => {
  const { subscriptions, attach, push } = open()
  const [a, b] = [attach(5), attach(5)]
  const other = attach(5, { scope: { resource: 'core/pods', namespace: 'x' } })
  expect(subscriptions.length).toBe(2)
  await push(0, position(5), events('e6', 6))
  expect([a.seen, b.seen, other.seen]).toEqual([['position 5', 'e6@6'], ['position 5', 'e6@6'], []])
  expect(a.buffers[0]).toBe(b.buffers[0])
})

test('the last client to leave closes the subscription, and the next one opens another', async () => {
  const { hub, subscriptions, attach } = open()
  const [a, b] = [attach(5), attach(5)]
  a.attachment.close()
  expect(subscriptions[0]?.stream.ended).toBe(false)
  b.attachment.close()
  expect([subscriptions[0]?.stream.ended, hub.subscriptions]).toEqual([true, 0])
  attach(5)
  expect(subscriptions.length).toBe(2)
})

test('WATCH-14: a client that begins earlier is served alone until it reaches the shared position, then joins', async () => {
  const { hub, subscriptions, attach, push } = open()
  const early = attach(5)
  await push(0, events('e7', 7), position(8))
  const late = attach(6)
  expect([subscriptions.length, subscriptions[1]?.request.after]).toEqual([2, 6])
  await push(1, events('e7', 7))
  expect(hub.subscriptions).toBe(2)
  await push(1, position(8))
  expect([hub.subscriptions, subscriptions[1]?.stream.ended]).toEqual([1, true])
  await push(0, events('e9', 9))
  expect(late.seen).toEqual(['e7@7', 'position 8', 'e9@9'])
  expect(early.seen).toEqual(['e7@7', 'position 8', 'e9@9'])
})

test('a client that begins after the last event but before the shared position joins at once', async () => {
  const { subscriptions, attach, push } = open()
  attach(5)
  await push(0, events('e7', 7), position(20))
  const client = attach(9)
  await push(0, events('e21', 21))
  expect([subscriptions.length, client.seen]).toEqual([1, ['position 20', 'e21@21']])
})

test('WATCH-16: a client that begins later waits for the shared position', async () => {
  const { subscriptions, attach, push } = open()
  attach(5)
  await push(0, position(5))
  const client = attach(9)
  await push(0, events('e7', 7), position(10), events('e11', 11))
  expect([subscriptions.length, client.seen]).toEqual([1, ['position 10', 'e11@11']])
})

test('a piece that may hold events before and after the beginning of a client is not delivered to it', async () => {
  const { subscriptions, attach, push } = open()
  attach(5)
  await push(0, position(5))
  const client = attach(9)
  await push(0, events('e8 e12', 12))
  expect([client.seen, subscriptions[1]?.request.after]).toEqual([[], 9])
  await push(1, events('e12', 12))
  await push(0, events('e13', 13))
  expect(client.seen).toEqual(['e12@12', 'e13@13'])
})

test('one client in the far future does not keep the others from sharing', async () => {
  const { hub, attach, push } = open()
  const far = attach(1_000_000)
  const [a, b] = [attach(5), attach(5)]
  await push(1, position(5), events('e6', 6))
  expect([a.seen, b.seen, far.seen]).toEqual([['position 5', 'e6@6'], ['position 5', 'e6@6'], []])
  expect(hub.subscriptions).toBe(2)
})

test('CARD-25, WATCH-18: a broken subscription is resumed after the last position, and no client notices', async () => {
  const { clock, subscriptions, attach, push } = open()
  const client = attach(5)
  await push(0, events('e6', 6), position(9))
  subscriptions[0]?.stream.fail(failed(503, 'ServiceUnavailable', 'watch restarts'))
  await turn()
  clock.advance(10_000)
  await turn()
  expect(subscriptions[1]?.request.after).toBe(9)
  await push(1, events('e12', 12))
  expect(client.seen).toEqual(['e6@6', 'position 9', 'e12@12'])
})

test('CARD-25: a subscription that was in use is resumed without a pause, and only further attempts wait', async () => {
  const { clock, subscriptions, attach, push } = open()
  const client = attach(5)
  await push(0, events('e6', 6))
  subscriptions[0]?.stream.fail(failed(503, 'ServiceUnavailable', 'this replica ends'))
  await turn()
  expect(subscriptions[1]?.request.after).toBe(6)
  subscriptions[1]?.stream.fail(failed(503, 'ServiceUnavailable', 'this replica ends'))
  await turn()
  expect(subscriptions.length).toBe(2)
  clock.advance(100)
  await turn()
  await push(2, events('e7', 7))
  expect(client.seen).toEqual(['e6@6', 'e7@7'])
})

test('WATCH-20: a quiet watch is resumed from its last position, not from its last event', async () => {
  const { subscriptions, attach, push } = open()
  const client = attach(5)
  await push(0, events('e6', 6))
  for (const revision of [1_000, 2_000, 3_000]) await push(0, position(revision))
  subscriptions[0]?.stream.end()
  await turn()
  expect(subscriptions[1]?.request.after).toBe(3_000)
  expect(client.seen).toEqual(['e6@6', 'position 1000', 'position 2000', 'position 3000'])
})

test('attempts to subscribe again have growing pauses', async () => {
  const { clock, subscriptions, attach } = open()
  attach(5)
  const pausesMs: number[] = []
  for (let attempt = 0; attempt < 12; attempt += 1) {
    subscriptions.at(-1)?.stream.end()
    await turn()
    const from = clock.monotonic()
    const count = subscriptions.length
    while (subscriptions.length === count) {
      clock.advance(10)
      await turn()
    }
    pausesMs.push(clock.monotonic() - from)
  }
  expect(pausesMs).toEqual(pausesMs.toSorted((a, b) => a - b))
  expect([pausesMs[0], pausesMs.at(-1)]).toEqual([50, 2_500])
})

test('WATCH-15, WATCH-22: lost history and a replaced store are reported once, and end the attachment', async () => {
  const { hub, attach, push } = open()
  const [a, b] = [attach(5), attach(5)]
  await push(0, { kind: 'expired', asked: 5, oldest: 80 })
  const c = attach(90)
  await push(1, { kind: 'replaced' })
  expect([a.seen, b.seen, c.seen]).toEqual([['expired 5 80'], ['expired 5 80'], ['replaced']])
  expect(hub.subscriptions).toBe(0)
})

test('a client with a separate feed gets an error about its lost history; other clients are still served', async () => {
  const { attach, push } = open()
  const first = attach(50)
  await push(0, position(50))
  const old = attach(5)
  await push(1, { kind: 'expired', asked: 5, oldest: 20 })
  await push(0, events('e51', 51))
  expect([old.seen, first.seen]).toEqual([['expired 5 20'], ['position 50', 'e51@51']])
})

test('a sink that throws ends only its own client', async () => {
  const { hub, attach, push } = open()
  const broken: WatchSink = { ...recorder().sink, frames: () => expect.unreachable('thrown on purpose') }
  hub.attach({ request: { ...anyRequest, after: 5 }, sink: broken })
  const client = attach(5)
  await push(0, events('e6', 6), events('e7', 7))
  expect(client.seen).toEqual(['e6@6', 'e7@7'])
})

test('a closed attachment is not called any more, even if a call to another attachment closed it', async () => {
  const { hub, attach, push } = open()
  const seen: number[] = []
  const second = { close: () => {} }
  const closing: WatchSink = { ...recorder().sink, frames: () => second.close() }
  hub.attach({ request: { ...anyRequest, after: 5 }, sink: closing })
  const sink: WatchSink = { ...recorder().sink, frames: (_, last) => void seen.push(last) }
  const attachment = hub.attach({ request: { ...anyRequest, after: 5 }, sink })
  second.close = () => attachment.close()
  attach(5)
  await push(0, events('e6', 6), events('e7', 7))
  expect(seen).toEqual([])
})

test('a client with a separate feed receives events at its own pace', async () => {
  const { hub, subscriptions, attach, push } = open()
  attach(50)
  await push(0, position(50))
  const { promise: drained, resolve: drain } = Promise.withResolvers<void>()
  const seen: number[] = []
  const frames: WatchSink['frames'] = (_, last) => {
    seen.push(last)
    return drained
  }
  hub.attach({ request: { ...anyRequest, after: 5 }, sink: { ...recorder().sink, frames } })
  await push(1, events('e6', 6), events('e7', 7))
  expect([seen, subscriptions.length]).toEqual([[6], 2])
  drain()
  await turn()
  expect(seen).toEqual([6, 7])
})

test('large pieces are delivered one a turn, so that sockets send in between', async () => {
  const { subscriptions, attach } = open()
  const client = attach(5)
  const large = (last: number): WatchPart => ({ kind: 'events', frames: Buffer.alloc(100_000), count: 1, last })
  for (const last of [6, 7, 8]) subscriptions[0]?.stream.push(large(last))
  const given: number[] = []
  for (let round = 0; round < 6; round += 1) {
    await turn()
    given.push(client.buffers.length)
  }
  expect(given.at(-1)).toBe(3)
  expect(given.slice(0, 2)).toEqual([1, 2])
})

test('closing the hub closes every subscription', async () => {
  const { hub, subscriptions, attach, push } = open()
  attach(50)
  await push(0, position(50))
  attach(5)
  attach(60)
  hub.close()
  expect(subscriptions.map(({ stream }) => stream.ended)).toEqual([true, true])
  expect(hub.subscriptions).toBe(0)
})

test('LIM-12: during the delivery of large events, a client that leaves gets none of them, and a client that joins starts after them', async () => {
  const { hub, attach, push } = open({ turnBytesMax: 4 })
  let coming: ReturnType<typeof attach> | undefined
  const first = recorder()
  const frames: WatchSink['frames'] = (bytes, last, count) => {
    first.sink.frames(bytes, last, count)
    if (last > 6) return
    leaving.attachment.close()
    coming = attach(6)
  }
  hub.attach({ request: { ...anyRequest, after: 5 }, sink: { ...first.sink, frames } })
  const [second, leaving, last] = [attach(5), attach(5), attach(5)]
  await push(0, position(5))
  await push(0, events('e6', 6), events('e7', 7))
  for (let count = 0; count < 12; count++) await turn()
  for (const { seen } of [first, second, last]) expect(seen).toEqual(['position 5', 'e6@6', 'e7@7'])
  expect(leaving.seen).toEqual(['position 5'])
  expect(coming?.seen.filter((text) => text.startsWith('e'))).toEqual(['e7@7'])
})

test('LIM-12: one turn delivers large events only to as many clients as its byte limit allows', async () => {
  const { attach, push } = open({ turnBytesMax: 4 })
  const clients = Array.from({ length: 6 }, () => attach(5))
  await push(0, position(5))
  const counts: number[] = []
  const served = () => clients.filter(({ seen }) => seen.includes('e6@6')).length
  const pushed = push(0, events('e6', 6))
  const look = () => {
    counts.push(served())
    if (served() < clients.length) setImmediate(look)
  }
  setImmediate(look)
  await pushed
  for (let count = 0; count < 12; count++) await turn()
  expect(counts.every((count, index) => count - (counts[index - 1] ?? 0) <= 2)).toBe(true)
  expect(counts.at(-1)).toBe(6)
})

test('WATCH-02: some of many clients get an event in the turn of its arrival, and the others in later turns, in order', async () => {
  const { attach, push, subscriptions } = open({ firstTurnBytesMax: 20 * 1024 })
  const clients = Array.from({ length: 12 }, () => attach(5))
  await push(0, position(5))
  const served = (event: string) => clients.filter(({ seen }) => seen.includes(event)).length
  subscriptions[0]?.stream.push(events('e6', 6))
  subscriptions[0]?.stream.push(events('e7', 7))
  await Promise.resolve()
  await Promise.resolve()
  expect([served('e6@6'), served('e7@7')]).toEqual([4, 0])
  for (let count = 0; count < 6; count++) await turn()
  for (const { seen } of clients) expect(seen).toEqual(['position 5', 'e6@6', 'e7@7'])
})

test('LIM-12: all subscriptions and all clients with separate feeds share the bytes of a turn', async () => {
  const { subscriptions, attach, push } = open({ turnBytesMax: 1 })
  const tables = { format: { kind: 'table', profile: 'orch', objectKind: 'Pod', version: 'v1', include: 'Metadata' } } as const
  const clients = [attach(5), attach(5), attach(5, tables), attach(5, tables)]
  await push(0, position(5), events('e6', 6))
  await push(1, position(5))
  for (let count = 0; count < 8; count++) await turn()
  clients.push(attach(5))
  for (const { stream } of subscriptions) stream.push(events('e7', 7))
  const given = () => clients.reduce((sum, { buffers }) => sum + buffers.length, 0)
  const perTurn: number[] = []
  for (let before = given(), count = 0; count < 20; count++) {
    await turn()
    perTurn.push(given() - before)
    before = given()
  }
  expect(perTurn.reduce((sum, one) => sum + one, 0)).toBe(5)
  expect(Math.max(...perTurn)).toBe(1)
})
