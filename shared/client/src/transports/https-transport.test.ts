import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import tls from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type TransportRequest, UnsentError } from '../transport.ts'
import { createHttpsTransport } from './https-transport.ts'
import type { HttpsTransportOptions } from './transport-options.ts'

const get: TransportRequest = { method: 'GET', path: '/version', headers: {} }

/** A server that handles each connection with the test's function. */
async function aServer(protocol: 'http' | 'https', serve: (socket: Socket) => void, options: HttpsTransportOptions = {}) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const transport = createHttpsTransport({ server: `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}` }, options)
  onTestFinished(() => {
    transport.close()
    server.close()
  })
  const failure = (request = get) => transport.send(request).catch((error: unknown) => error)
  return { server, transport, failure }
}

test('without a listening server a request was not sent', async () => {
  const { server, failure } = await aServer('http', () => {})
  server.close()
  expect(await failure()).toMatchObject({ name: 'UnsentError', code: 'ECONNREFUSED', message: expect.stringContaining('ECONNREFUSED') })
})

test.each([
  ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ['closed', (socket: Socket) => socket.end()],
])('a connection that is %s before the end of its handshake has carried no request', async (_how, end) => {
  expect(await (await aServer('https', end)).failure()).toBeInstanceOf(UnsentError)
  const shaking = await aServer('https', (socket) => void socket.once('data', () => end(socket)))
  expect(await shaking.failure()).toBeInstanceOf(UnsentError)
})

test('a connection that is reset after the request may have carried it, both a new and a reused connection', async () => {
  const first = await aServer('http', (socket) => void socket.once('data', () => socket.resetAndDestroy()))
  const failure = await first.failure()
  expect(failure).toMatchObject({ code: 'ECONNRESET' })
  expect(failure).not.toBeInstanceOf(UnsentError)
  let asked = 0
  const again = await aServer('http', (socket) => {
    socket.on('data', () => {
      asked += 1
      if (asked === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    })
  })
  for await (const _ of (await again.transport.send(get)).body) expect.unreachable()
  expect(await again.failure()).not.toBeInstanceOf(UnsentError)
  expect(asked).toBe(2)
})

test('an answer that changes the protocol is a failure', async () => {
  const change = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'
  const { failure } = await aServer('http', (socket) => void socket.once('data', () => socket.write(change)))
  expect(await failure()).toMatchObject({ message: 'the server has changed the protocol without being asked to' })
})

test('a request that its sender has aborted is reported as aborted', async () => {
  const { failure } = await aServer('https', () => {})
  const giving = new AbortController()
  const failed = failure({ ...get, signal: giving.signal })
  giving.abort()
  expect(await failed).toMatchObject({ name: 'AbortError' })
})

test('CARD-25: a connection that is never established is abandoned, and its request was not sent', async () => {
  const { failure } = await aServer('https', () => {}, { connectMsMax: 20 })
  expect(await failure()).toMatchObject({ name: 'UnsentError', message: expect.stringContaining('no connection was made within 20 ms') })
})

test('CARD-25: an answer that falls silent ends as broken, and so does a request without an answer; the next request opens another connection', async () => {
  let opened = 0
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'
  const serve = (socket: Socket) => {
    opened += 1
    const isWatch = opened === 1
    socket.once('data', () => (isWatch ? socket.write(head) : undefined))
  }
  const { transport, failure } = await aServer('http', serve, { silenceMsMax: 50 })
  const { body } = await transport.send(get)
  const heard: string[] = []
  const reading = (async () => {
    for await (const part of body) heard.push(Buffer.from(part).toString())
  })()
  await expect(reading).rejects.toThrow('silent for 50 ms')
  expect(heard).toEqual(['{}'])
  const unanswered = await failure()
  expect(unanswered).toMatchObject({ message: 'the server was silent for 50 ms' })
  expect(unanswered).not.toBeInstanceOf(UnsentError)
  expect(opened).toBe(2)
})

test('connections share one TLS context, so that the certificates are in memory once', async () => {
  let connections = 0
  const { failure } = await aServer('https', (socket) => {
    connections++
    socket.end()
  })
  // Node calls it for a connection without a context.
  const made = vi.spyOn(tls, 'createSecureContext')
  onTestFinished(() => made.mockRestore())
  for (let count = 0; count < 3; count++) await failure()
  expect(connections).toBe(3)
  expect(made).not.toHaveBeenCalled()
})
