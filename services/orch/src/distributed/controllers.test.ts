import { type Transport, type TransportRequest, UnsentError } from '@orch/client'
import { expect, test } from 'vitest'
import { createFailover } from './gateways.ts'

const get: TransportRequest = { method: 'GET', path: '/version', headers: {} }
const refused = () => new UnsentError(new Error('connect ECONNREFUSED'))
const reset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })

/** Servers that answer with their number, or fail as the test says. */
function servers(count: number) {
  const asked: number[] = []
  const failing = new Map<number, () => Error>()
  const closed: number[] = []
  const transports = Array.from(
    { length: count },
    (_, number): Transport => ({
      async send() {
        asked.push(number)
        const failure = failing.get(number)
        if (failure !== undefined) throw failure()
        return { status: 200 + number, headers: {}, body: (async function* () {})() }
      },
      close: () => void closed.push(number),
    }),
  )
  return { failover: createFailover(transports), asked, failing, closed }
}

test('all requests go to one server while it is reachable', async () => {
  const { failover, asked } = servers(2)
  await failover.send(get)
  await failover.send(get)
  expect(asked).toEqual([0, 0])
})

test('an unsent request is sent to the next server, and so are later requests', async () => {
  const { failover, asked, failing } = servers(3)
  failing.set(0, refused)
  expect((await failover.send({ ...get, method: 'POST' })).status).toBe(201)
  failing.delete(0)
  expect((await failover.send(get)).status).toBe(201)
  expect(asked).toEqual([0, 1, 1])
})

test('a request that may have arrived is not repeated, but the next request is sent to another server', async () => {
  const { failover, asked, failing } = servers(2)
  failing.set(0, reset)
  await expect(failover.send({ ...get, method: 'POST' })).rejects.toThrow('ECONNRESET')
  await failover.send(get)
  expect(asked).toEqual([0, 1])
})

test('a server that is silent until the timeout of a request gets no later requests', async () => {
  const { failover, asked, failing } = servers(2)
  failing.set(0, () => new DOMException('aborted', 'AbortError'))
  const signal = AbortSignal.abort(new DOMException('no answer in time', 'TimeoutError'))
  await expect(failover.send({ ...get, signal })).rejects.toThrow('aborted')
  await failover.send(get)
  expect(asked).toEqual([0, 1])
})

test('each server is asked once if none is reachable', async () => {
  const { failover, asked, failing } = servers(2)
  failing.set(0, refused).set(1, refused)
  await expect(failover.send(get)).rejects.toThrow('ECONNREFUSED')
  expect(asked).toEqual([0, 1])
})

test('a request that its sender cancelled does not make the server count as down, and all transports are closed', async () => {
  const { failover, asked, failing, closed } = servers(2)
  failing.set(0, refused)
  await expect(failover.send({ ...get, signal: AbortSignal.abort() })).rejects.toThrow('ECONNREFUSED')
  failing.delete(0)
  await failover.send(get)
  failover.close()
  expect({ asked, closed }).toEqual({ asked: [0, 0], closed: [0, 1] })
})
