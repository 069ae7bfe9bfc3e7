import type { Transport } from '@orch/client'
import { expect, test } from 'vitest'
import { createReachability } from './reachability.ts'

/** A way whose requests end as the test says. */
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

test('whoever answers is there, and whoever does not is missed until the next answer', async () => {
  const { state, transport } = aWay()
  const { check, over } = createReachability('gateway')
  const way = over(transport)
  expect(check.check()).toBe('nobody has answered yet')
  await way.send(get)
  expect(check.check()).toBeUndefined()
  state.failure = new Error('connect ECONNREFUSED')
  await expect(way.send(get)).rejects.toThrow('ECONNREFUSED')
  expect(check.check()).toBe('nobody answers: connect ECONNREFUSED')
  state.failure = undefined
  await way.send(get)
  expect(check.check()).toBeUndefined()
  way.close()
  expect(state.closed).toBe(true)
})

test('a request that its sender gave up says nothing', async () => {
  const { state, transport } = aWay()
  const { check, over } = createReachability('gateway')
  const way = over(transport)
  await way.send(get)
  state.failure = new Error('aborted')
  await expect(way.send({ ...get, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  expect(check.check()).toBeUndefined()
})
