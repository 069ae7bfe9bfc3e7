import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { type Certificates, certificateMemory, fixedPair, readCertificates, systemClock } from '@orch/platform'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Listener } from '../listener/listener.ts'
import type { Exchange } from './exchange.ts'
import { InProcessExchange } from './in-process.ts'

let certificates: Certificates

beforeAll(async () => {
  certificates = await readCertificates({ files: certificateMemory(), product: 'orch', names: ['localhost'], clock: systemClock })
})

/** A port, and its exchanges in order. */
async function aPort() {
  const exchanges: Exchange[] = []
  const waiting: ((exchange: Exchange) => void)[] = []
  const take = (exchange: Exchange) => {
    const first = waiting.shift()
    if (first === undefined) exchanges.push(exchange)
    else first(exchange)
  }
  const options = {
    host: '127.0.0.1',
    port: 0,
    pair: fixedPair(certificates.serving),
    authorities: { current: { clients: '', proxies: '' }, listen: () => () => {} },
    upgradeOf: () => 'events' as const,
  }
  const listener = await Listener.open(options, take)
  onTestFinished(() => listener.close())
  const next = () => {
    const first = exchanges.shift()
    return first === undefined ? new Promise<Exchange>((resolve) => waiting.push(resolve)) : Promise.resolve(first)
  }
  return { port: listener.port, next }
}

async function aSocket(port: number, text: string): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificates.authority, ALPNProtocols: ['http/1.1'] })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(text)
  return socket
}

const closed = (exchange: Exchange) => new Promise<void>((resolve) => exchange.onClose(resolve))
const plain = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const webSocket =
  'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

test.each([
  ['an exchange over HTTP/1.1', plain],
  ['a WebSocket that is not open yet', webSocket],
])('%s whose client has disconnected reports it to later callers, too', async (_name, text) => {
  const { port, next } = await aPort()
  const socket = await aSocket(port, text)
  const exchange = await next()
  socket.destroy()
  await closed(exchange)
  await closed(exchange)
  exchange.begin(200, { 'content-type': 'application/json' })
  exchange.write('{}\n')
  await closed(exchange)
  expect(exchange.isClosed).toBe(true)
})

test('a WebSocket whose client has disconnected reports it to later callers, too', async () => {
  const { port, next } = await aPort()
  const socket = await aSocket(port, webSocket)
  const exchange = await next()
  exchange.begin(200, { 'content-type': 'application/json' })
  socket.destroy()
  await closed(exchange)
  await closed(exchange)
  expect(exchange.isClosed).toBe(true)
})

test('an exchange in this process that is ended without an answer rejects, with the reason of its signal if that has ended it', async () => {
  const internal = { kind: 'internal', name: 'a', groups: [] } as const
  const ended = new InProcessExchange({ method: 'GET', path: '/', headers: {} }, internal)
  ended.destroy()
  await expect(ended.response).rejects.toThrow('the answer was broken off')
  const aborted = new InProcessExchange(
    { method: 'GET', path: '/', headers: {}, signal: AbortSignal.abort(new Error('no longer')) },
    internal,
  )
  await expect(aborted.response).rejects.toThrow('no longer')
})

test('an exchange that waits for an earlier answer of its connection is over once its client has left', async () => {
  const { port, next } = await aPort()
  const socket = await aSocket(port, `${plain}${plain}`)
  const [, second] = [await next(), await next()]
  const over = closed(second)
  socket.destroy()
  await over
  expect(await closed(second)).toBeUndefined()
})

test('exchanges that wait for earlier answers are over once their client has left, without a warning of many listeners', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { port, next } = await aPort()
  const socket = await aSocket(port, plain.repeat(40))
  const exchanges: Exchange[] = []
  while (exchanges.length < 40) exchanges.push(await next())
  const over = Promise.all(exchanges.map(closed))
  socket.destroy()
  expect(await over).toHaveLength(40)
  expect(exchanges.filter(({ isClosed }) => !isClosed)).toEqual([])
  expect(warnings).toEqual([])
})

test('an exchange that waits for an earlier answer calls back once, at its own end', async () => {
  const { port, next } = await aPort()
  const socket = await aSocket(port, `${plain}${plain}`)
  const [first, second] = [await next(), await next()]
  let calls = 0
  second.onClose(() => {
    calls += 1
  })
  const over = closed(second)
  first.send(200, {}, 'first')
  expect(calls).toBe(0)
  second.send(200, {}, 'second')
  await over
  socket.write(plain)
  const third = await next()
  socket.destroy()
  await closed(third)
  expect(calls).toBe(1)
})

test('an exchange over HTTP/2 whose client has reset it reports it to later callers, too', async () => {
  const { port, next } = await aPort()
  const session = connectHttp2(`https://localhost:${port}`, { ca: certificates.authority })
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':path': '/' }).on('error', () => undefined)
  const exchange = await next()
  stream.close(8)
  await closed(exchange)
  await closed(exchange)
  expect(exchange.isClosed).toBe(true)
})

test('an exchange within the process that has ended reports it to later callers, too', async () => {
  const exchange = new InProcessExchange({ method: 'GET', path: '/', headers: {} }, { kind: 'unknown' })
  exchange.begin(200, {})
  exchange.end()
  for await (const _part of exchange);
  await closed(exchange)
  expect(exchange.isClosed).toBe(true)
})
