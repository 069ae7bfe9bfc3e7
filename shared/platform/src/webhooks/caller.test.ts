import { type Duplex, duplexPair } from 'node:stream'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anAuthority } from '../tls/any-certificate.ts'
import { createWebhookCaller } from './caller.ts'
import { noCredentials } from './credentials.ts'
import { limits } from './limits.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Calls to a simulated Pod that accepts connections and sends nothing. */
async function silentPod() {
  const clock = createFakeClock()
  const opened: Duplex[] = []
  const open = () => {
    const [socket, far] = duplexPair()
    socket.on('error', () => {})
    opened.push(socket, far)
    return socket
  }
  const address = { host: '10.1.0.1', port: 8443, open }
  const addresses = { find: async () => address, findUrl: () => address }
  const caller = createWebhookCaller({ addresses, credentials: noCredentials, allowsLinkLocal: true, clock, userAgent: 'test' })
  onTestFinished(() => caller.close())
  const { certificate: authorities } = await anAuthority('test')
  const webhook = { place: { kind: 'service', namespace: 'n', name: 's', port: 443, path: '/' }, authorities } as const
  return {
    clock,
    opened: () => opened.length / 2,
    areClosed: () => opened.filter((_, index) => index % 2 === 0).every(({ destroyed }) => destroyed),
    call: (timeoutMs: number, signal?: AbortSignal) =>
      caller.call({ webhook, to: 'webhook/a', body: '{}', timeoutMs, signal, traceparent: undefined }),
  }
}

test('NODE-IO-28: calls to a simulated Pod open a bounded number of connections, and the call that waits for one ends at its own time limit', async () => {
  const { clock, opened, areClosed, call } = await silentPod()
  const calls = Array.from({ length: limits.connectionsMax }, () => call(30_000))
  await turn()
  const waiting = call(1_000)
  await turn()
  expect(opened()).toBe(limits.connectionsMax)
  clock.advance(1_000)
  expect(await waiting).toMatchObject({ kind: 'failed', isLate: true, message: expect.stringContaining('context deadline exceeded') })
  clock.advance(29_000)
  for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ isLate: true })
  await vi.waitFor(() => expect(areClosed()).toBe(true))
})

test('NODE-IO-28: a call to a silent Pod ends when its caller gives up, and closes its connection', async () => {
  const { areClosed, opened, call } = await silentPod()
  const ending = new AbortController()
  const answer = call(30_000, ending.signal)
  await turn()
  ending.abort()
  expect(await answer).toMatchObject({ kind: 'failed', isLate: false, message: expect.stringContaining('context canceled') })
  await vi.waitFor(() => expect([opened(), areClosed()]).toEqual([1, true]))
})
