import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import type { AuditEvent } from './event.ts'
import { type AuditDelivery, type BatchOptions, BatchSink, BlockingSink } from './sink.ts'
import { truncating } from './truncate.ts'

const anEvent = (auditID: string, more: object = {}): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.orch.io/v1',
  level: 'Request',
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  requestReceivedTimestamp: '',
  stageTimestamp: '',
  ...more,
})

const options: BatchOptions = { bufferEventsMax: 3, batchEventsMax: 2, waitMs: 1_000, throttle: undefined, backoffMs: 100 }

/** A delivery that stores its events, and fails a given number of times. */
function aDelivery(failures = 0) {
  const batches: string[][] = []
  let left = failures
  const delivery: AuditDelivery = {
    name: 'test',
    async deliver(events) {
      if (left-- > 0) throw new Error('not now')
      batches.push(events.map(({ auditID }) => auditID))
    },
    close: async () => {},
  }
  return { delivery, batches }
}

function aSink({ delivery }: { delivery: AuditDelivery }, more: Partial<BatchOptions> = {}) {
  const clock = createFakeClock()
  let lost = 0
  const add = (count: number) => {
    lost += count
  }
  const metrics = { event() {}, level() {}, rejected() {}, lost: (_: string, count: number) => add(count) }
  const sink = new BatchSink(delivery, { ...options, ...more }, { clock, log: silentLog, metrics, random: () => 0 })
  return { clock, sink, lost: () => lost }
}

test('AUDIT-08: an event beyond the buffer is lost and counted, and no request waits', async () => {
  const target = aDelivery()
  const { sink, lost } = aSink(target, { batchEventsMax: 10 })
  for (const id of ['a', 'b', 'c', 'd', 'e']) expect(sink.take(anEvent(id))).toBeUndefined()
  expect(lost()).toBe(2)
  await sink.close()
  expect(target.batches).toEqual([['a', 'b', 'c']])
})

test('AUDIT-08: a batch is sent when it is full, or when its time is over', async () => {
  const target = aDelivery()
  const { sink, clock } = aSink(target)
  for (const id of ['a', 'b', 'c']) sink.take(anEvent(id))
  await expect.poll(() => target.batches).toEqual([['a', 'b']])
  await expect.poll(() => clock.pendingTimers).toBe(1)
  clock.advance(1_000)
  await expect.poll(() => target.batches).toEqual([['a', 'b'], ['c']])
  await sink.close()
})

test('AUDIT-08: a failed delivery is retried with growing delays, and then dropped', async () => {
  const target = aDelivery(5)
  const { sink, clock, lost } = aSink(target, { waitMs: 0 })
  sink.take(anEvent('a'))
  for (const pauseMs of [100, 150, 225, 337.5]) {
    await expect.poll(() => clock.pendingTimers).toBe(1)
    expect(lost()).toBe(0)
    clock.advance(pauseMs)
  }
  await expect.poll(lost).toBe(1)
  await sink.close()
  expect(target.batches).toEqual([])
})

test('AUDIT-08: events that are too large lose their bodies, and batches that are too large are divided', async () => {
  const given: AuditEvent[][] = []
  let lost = 0
  const onLost = (count: number) => {
    lost += count
  }
  const delivery: AuditDelivery = { name: 'test', deliver: async (events) => void given.push([...events]), close: async () => {} }
  const bounds = {
    eventBytesMax: 400,
    batchBytesMax: 500,
    truncatedKey: 'audit.orch.io/truncated',
    onLost,
  }
  const long = 'x'.repeat(500)
  await truncating(delivery, bounds).deliver([
    anEvent('large', { requestObject: { long } }),
    anEvent('small'),
    anEvent('hopeless', { requestURI: long }),
    anEvent('last'),
  ])
  expect(given.map((batch) => batch.map(({ auditID }) => auditID))).toEqual([['large', 'small'], ['last']])
  expect(given[0]?.[0]).toMatchObject({ annotations: { 'audit.orch.io/truncated': 'true' } })
  expect(given[0]?.[0]?.requestObject).toBeUndefined()
  expect(lost).toBe(1)
})

/** A delivery whose answers the test releases. */
function aSlowDelivery() {
  const waiting: { resolve(): void; reject(error: Error): void }[] = []
  const delivery: AuditDelivery = {
    name: 'slow',
    deliver: () => new Promise<void>((resolve, reject) => waiting.push({ resolve, reject })),
    close: async () => {},
  }
  return { delivery, waiting }
}

const quietly = { log: silentLog, metrics: { event() {}, level() {}, rejected() {}, lost() {} }, clock: createFakeClock(), random: () => 0 }

test('AUDIT-08: a request waits for a blocking backend, and fails only with a strict backend', async () => {
  for (const isStrict of [false, true]) {
    const { delivery, waiting } = aSlowDelivery()
    const sink = new BlockingSink(delivery, isStrict, quietly)
    const outcomes: string[] = []
    const [kept, lost] = [sink.take(anEvent('a')), sink.take(anEvent('b'))].map((taken) =>
      taken?.then(
        () => outcomes.push('done'),
        () => outcomes.push('failed'),
      ),
    )
    await Promise.resolve()
    expect(outcomes).toEqual([])
    waiting[0]?.resolve()
    await kept
    waiting[1]?.reject(new Error('disk full'))
    await lost
    expect(outcomes).toEqual(['done', isStrict ? 'failed' : 'done'])
    await sink.close()
  }
})

test('AUDIT-08: requests wait while a blocking backend has too many pending events', async () => {
  const { delivery, waiting } = aSlowDelivery()
  const sink = new BlockingSink(delivery, false, quietly)
  expect(sink.room()).toBeUndefined()
  for (let index = 0; index < limits.auditBlockedEventsMax; index++) void sink.take(anEvent(String(index)))
  const room = sink.room()
  expect(room).toBeInstanceOf(Promise)
  waiting[0]?.resolve()
  await room
  expect(sink.room()).toBeUndefined()
  for (const one of waiting) one.resolve()
  await sink.close()
})

test('AUDIT-08: batches are sent no faster than the throttle allows, after a burst', async () => {
  const target = aDelivery()
  const { sink, clock } = aSink(target, { bufferEventsMax: 10, batchEventsMax: 1, waitMs: 0, throttle: { perSecond: 2, burst: 2 } })
  for (const id of ['a', 'b', 'c', 'd']) sink.take(anEvent(id))
  await expect.poll(() => target.batches).toEqual([['a'], ['b']])
  await expect.poll(() => clock.pendingTimers).toBe(1)
  clock.advance(499)
  await Promise.resolve()
  expect(target.batches).toHaveLength(2)
  clock.advance(1)
  await expect.poll(() => target.batches).toEqual([['a'], ['b'], ['c']])
  await sink.close()
  expect(target.batches).toHaveLength(4)
})

test('AUDIT-08: a server that stops does not wait forever for a backend that does not answer', async () => {
  let lost = 0
  const clock = createFakeClock()
  const metrics = {
    ...quietly.metrics,
    lost(_: string, count: number) {
      lost += count
    },
  }
  const { delivery, waiting } = aSlowDelivery()
  const giveUp = async () => {
    for (const one of waiting) one.reject(new Error('closed'))
  }
  const surroundings = { ...quietly, clock, metrics }
  const batching = new BatchSink({ ...delivery, close: giveUp }, { ...options, batchEventsMax: 1, waitMs: 0 }, surroundings)
  for (const id of ['a', 'b', 'c']) batching.take(anEvent(id))
  await expect.poll(() => waiting.length).toBe(1)
  const blocking = new BlockingSink({ ...delivery, close: giveUp }, false, surroundings)
  void blocking.take(anEvent('d'))
  const closed = Promise.all([batching.close(), blocking.close()])
  await expect.poll(() => clock.pendingTimers).toBe(2)
  clock.advance(limits.auditClosingMs)
  await closed
  await expect.poll(() => lost).toBe(4)
})
