import { type Log, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { EtcdContext } from './context.ts'
import { EtcdHealth } from './health.ts'
import { toLayout } from './layout.ts'

const away = new Error('14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 10.1.2.3:2379')
const turns = async () => {
  for (let round = 0; round < 8; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The health of an etcd whose checks return a revision, while the watch is at revision 5. */
function open({ servers = 1, isReliable = true, log = silentLog }: { servers?: number; isReliable?: boolean; log?: Log } = {}) {
  const clock = createFakeClock()
  const closing = new AbortController()
  const check = vi.fn<() => Promise<number>>().mockResolvedValue(5)
  const status = vi.fn<() => Promise<object>>().mockResolvedValue({ dbSize: '10', dbSizeInUse: '4' })
  const alarm = vi.fn<() => Promise<object>>().mockResolvedValue({ alarms: [] })
  const watch = { problem: '', askPosition: vi.fn(), expect: vi.fn() }
  const context = {
    ...{ client: { check, maintenance: { status, alarm } }, layout: toLayout('p'), profile: 'orch', clock, log, isReliable },
    ...{ closing: closing.signal, timeline: { position: 5 } },
  } as unknown as EtcdContext
  const health = new EtcdHealth(context, watch as unknown as ChangeWatch, servers)
  const heard: boolean[] = []
  health.onReachable((isReachable) => heard.push(isReachable))
  const pass = async (ms: number) => {
    clock.advance(ms)
    await turns()
  }
  return { health, heard, check, status, alarm, watch, closing, pass }
}

test('CARD-25: checks are repeated, more often while etcd is unreachable, and listeners receive each change once', async () => {
  const { health, heard, check, pass } = open()
  health.beginChecks()
  await pass(limits.etcdCheckMs)
  expect([check.mock.calls.length, health.problem, heard]).toEqual([1, '', []])
  check.mockRejectedValue(away)
  await pass(limits.etcdCheckMs)
  await pass(limits.etcdReconnectDelayMsMax)
  expect([check.mock.calls.length, health.problem, heard]).toEqual([3, 'etcd: no connection (ECONNREFUSED)', [false]])
  check.mockResolvedValue(5)
  await pass(limits.etcdReconnectDelayMsMax)
  await pass(limits.etcdReconnectDelayMsMax)
  expect([check.mock.calls.length, health.problem, heard]).toEqual([4, '', [false, true]])
})

test('a watch that was opened shows that etcd is reachable, even if a check fails later', async () => {
  const { health, heard, check, pass } = open()
  health.beginChecks()
  check.mockRejectedValue(away)
  await pass(limits.etcdCheckMs)
  health.watchOpened()
  expect([health.problem, heard]).toEqual(['', [false, true]])
  const { promise, reject } = Promise.withResolvers<number>()
  check.mockReturnValue(promise)
  await pass(limits.etcdCheckMs)
  health.watchOpened()
  reject(away)
  await turns()
  expect([health.problem, heard]).toEqual(['', [false, true]])
})

test('a refusal shows that etcd is reachable', async () => {
  const { health, heard, check, pass } = open()
  health.beginChecks()
  check.mockRejectedValue(new Error('7 PERMISSION_DENIED: etcdserver: permission denied'))
  await pass(limits.etcdCheckMs)
  expect([health.problem, heard]).toEqual(['', []])
})

test('a check is tried at as many members as exist', async () => {
  const { health, heard, check, pass } = open({ servers: 3 })
  health.beginChecks()
  check.mockRejectedValueOnce(away).mockRejectedValueOnce(away)
  await pass(limits.etcdCheckMs)
  expect([check.mock.calls.length, heard]).toEqual([3, []])
  check.mockRejectedValue(away)
  await pass(limits.etcdCheckMs)
  expect([check.mock.calls.length, heard]).toEqual([6, [false]])
})

test('no check is made once the store is closing, or its health check is closed', async () => {
  const closing = open()
  closing.closing.abort()
  closing.health.beginChecks()
  const closed = open()
  closed.health.beginChecks()
  closed.health.close()
  for (const { pass, check } of [closing, closed]) {
    await pass(limits.etcdCheckMs)
    expect(check).not.toHaveBeenCalled()
  }
})

test.each([
  ['that the watch has shown', true, 5, []],
  ['that the watch has not shown', true, 6, [6]],
  ['of an etcd that may lose events', false, 6, []],
])('a revision %s is expected of the watch: %s %i %j', async (_what, isReliable, revision, expected) => {
  const { health, check, watch, pass } = open({ isReliable })
  health.beginChecks()
  check.mockResolvedValue(revision)
  await pass(limits.etcdCheckMs)
  expect(watch.expect.mock.calls.flat()).toEqual(expected)
  expect(watch.askPosition).toHaveBeenCalledTimes(expected.length)
})

test.each([
  [true, 1],
  [false, 0],
])('with each status the watch requests its progress if etcd reports it reliably (%s)', async (isReliable, times) => {
  const { health, watch, pass } = open({ isReliable })
  await health.beginStatus()
  await pass(limits.etcdStatusIntervalMs)
  expect(watch.askPosition).toHaveBeenCalledTimes(times)
})

test('sizes and alarms come from the last valid status', async () => {
  const debug = vi.fn()
  const { health, status, alarm, pass } = open({ log: { ...silentLog, debug } })
  await health.beginStatus()
  expect([health.sizes, health.problem]).toEqual([{ bytes: 10, freeBytes: 6 }, ''])
  alarm.mockResolvedValue({ alarms: [{ alarm: 'NoSpace' }, { alarm: 'None' }, { alarm: 'NoSpace' }] })
  await pass(limits.etcdStatusIntervalMs)
  expect(health.problem).toBe('etcd has an alarm: NoSpace')
  expect(debug).not.toHaveBeenCalled()
  status.mockRejectedValue(away)
  alarm.mockResolvedValue({ alarms: [] })
  await pass(limits.etcdStatusIntervalMs)
  expect([health.sizes.bytes, health.problem]).toEqual([10, 'etcd has an alarm: NoSpace'])
  expect(debug).toHaveBeenCalledWith({ err: away }, 'the status of etcd could not be read')
})
