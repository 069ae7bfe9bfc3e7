import type { Transport } from '@orch/client'
import { type Log, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createReachability } from './gateways.ts'

/** A transport whose requests end as the test says. */
function aWay() {
  const state: { failure: Error | undefined; closed: boolean } = { failure: undefined, closed: false }
  const transport: Transport = {
    async send() {
      if (state.failure !== undefined) throw state.failure
      return { status: 503, headers: {}, body: (async function* () {})() }
    },
    close() {
      state.closed = true
    },
  }
  return { state, transport }
}

const get = { method: 'GET', path: '/version', headers: {} }

const options = { name: 'gateway', servers: ['https://gateway:6443'], clock: createFakeClock(), log: silentLog }

test('a server is healthy after an answer, and unhealthy from a failed request to the next answer', async () => {
  const { state, transport } = aWay()
  const { check, over } = createReachability(options)
  const way = over(transport)
  expect(check.check()).toBe('no request has been answered yet')
  await way.send(get)
  expect(check.check()).toBeUndefined()
  state.failure = new Error('connect ECONNREFUSED')
  await expect(way.send(get)).rejects.toThrow('ECONNREFUSED')
  expect(check.check()).toBe('requests fail: connect ECONNREFUSED')
  state.failure = undefined
  await way.send(get)
  expect(check.check()).toBeUndefined()
  way.close()
  expect(state.closed).toBe(true)
})

test('a request that its sender cancelled has no effect', async () => {
  const { state, transport } = aWay()
  const { check, over } = createReachability(options)
  const way = over(transport)
  await way.send(get)
  state.failure = new Error('aborted')
  await expect(way.send({ ...get, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  expect(check.check()).toBeUndefined()
})

/** The log lines, in order. */
function aLog() {
  const lines: string[] = []
  const log: Log = {
    ...silentLog,
    error: ({ problem }, message) => void lines.push(`error: ${message}: ${String(problem)}`),
    info: (_, message) => void lines.push(`info: ${message}`),
  }
  return { log, lines }
}

test('after ten seconds without an answer the log has one error, and after the next answer a message', async () => {
  const { state, transport } = aWay()
  const clock = createFakeClock()
  const { log, lines } = aLog()
  const { over } = createReachability({ ...options, clock, log })
  const way = over(transport)
  state.failure = new Error('self-signed certificate')
  for (const passedMs of [0, 5_000, 4_999]) {
    clock.advance(passedMs)
    await expect(way.send(get)).rejects.toThrow('self-signed')
  }
  expect(lines).toEqual([])
  clock.advance(1)
  await expect(way.send(get)).rejects.toThrow('self-signed')
  clock.advance(60_000)
  expect(lines).toEqual(['error: no gateway has answered for 10 s: requests fail: self-signed certificate'])
  state.failure = undefined
  await way.send(get)
  clock.advance(60_000)
  expect(lines.slice(1)).toEqual(['info: a gateway answers again'])
})

test('requests that hang make the check fail after ten seconds', async () => {
  const { transport } = aWay()
  const clock = createFakeClock()
  const { log, lines } = aLog()
  const { check, over, close } = createReachability({ ...options, clock, log })
  await over(transport).send(get)
  void over({ ...transport, send: () => new Promise(() => {}) }).send(get)
  clock.advance(9_999)
  expect(check.check()).toBeUndefined()
  clock.advance(1)
  expect(check.check()).toBe('requests are left without an answer')
  expect(lines).toEqual(['error: no gateway has answered for 10 s: requests are left without an answer'])
  close()
})
