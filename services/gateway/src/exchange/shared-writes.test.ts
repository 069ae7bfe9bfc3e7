import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { type Certificates, certificateMemory, fixedPair, readCertificates, systemClock } from '@orch/platform'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Listener } from '../listener/listener.ts'
import type { Exchange } from './exchange.ts'
import { chunkOf } from './http1.ts'
import { InProcessExchange } from './in-process.ts'

let certificates: Certificates

beforeAll(async () => {
  certificates = await readCertificates({ files: certificateMemory(), product: 'orch', names: ['localhost'], clock: systemClock })
})

async function aPort(handle: (exchange: Exchange) => void): Promise<number> {
  const options = {
    host: '127.0.0.1',
    port: 0,
    pair: fixedPair(certificates.serving),
    authorities: { current: { clients: '', proxies: '' }, listen: () => () => {} },
  }
  const listener = await Listener.open(options, handle)
  onTestFinished(() => listener.close())
  return listener.port
}

async function aSocket(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificates.authority, ALPNProtocols: ['http/1.1'] })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** All bytes of a server's answer to a text, to the end of the connection. */
async function answerTo(port: number, text: string): Promise<string> {
  const socket = await aSocket(port)
  socket.write(text)
  let answer = ''
  for await (const part of socket) answer += String(part)
  return answer
}

/** The bytes after the head of an answer. */
function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

/** The contents of chunks. */
function unchunked(body: string): string {
  let text = ''
  let left = Buffer.from(body)
  for (;;) {
    const end = left.indexOf('\r\n')
    const length = Number.parseInt(left.toString('latin1', 0, end), 16)
    if (length === 0) return text
    text += left.toString('utf8', end + 2, end + 2 + length)
    left = left.subarray(end + 2 + length + 2)
  }
}

const event = Buffer.from('{"type":"ADDED","object":{"text":"ü"}}\n')
/** Its 40 bytes in the form of HTTP/1.1. */
const chunk = `28\r\n${event}\r\n`

test('a chunk begins with its length in hexadecimal, and is created once for the same bytes', () => {
  expect(String(chunkOf(event))).toBe(chunk)
  expect(chunkOf(event)).toBe(chunkOf(event))
  expect(chunkOf(Buffer.from(event))).not.toBe(chunkOf(event))
})

test('WATCH-01: over HTTP/1.1 shared bytes are a separate chunk', async () => {
  const port = await aPort((exchange) => {
    exchange.begin(200, { connection: 'close' })
    // Writes of one tick may be joined with the head.
    setImmediate(() => {
      exchange.writeShared(event)
      exchange.writeShared(Buffer.alloc(0))
      exchange.writeShared(event)
      exchange.end()
      exchange.writeShared(event)
    })
  })
  expect(bodyOf(await answerTo(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe(`${chunk}${chunk}0\r\n\r\n`)
})

test('shared bytes over HTTP/1.1 keep their place among other writes', async () => {
  const port = await aPort((exchange) => {
    exchange.begin(200, { connection: 'close' })
    exchange.writeShared(event)
    exchange.write('first\n')
    exchange.writeShared(event)
    // Writes of one tick may be joined.
    setImmediate(() => {
      exchange.writeShared(event)
      exchange.write('second\n')
      exchange.end()
    })
  })
  const body = bodyOf(await answerTo(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  expect(unchunked(body)).toBe(`${event}first\n${event}${event}second\n`)
})

test('shared bytes wait until an earlier answer of the connection is complete', async () => {
  const waiting: Exchange[] = []
  const port = await aPort((exchange) => {
    waiting.push(exchange)
    if (exchange.target === '/first') return
    exchange.begin(200, { connection: 'close' })
    exchange.writeShared(event)
    waiting[0]?.send(200, {}, 'the first answer')
    exchange.writeShared(event)
    exchange.end()
  })
  const answer = await answerTo(port, 'GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(answer.indexOf('the first answer')).toBeGreaterThan(0)
  expect(answer.indexOf('the first answer')).toBeLessThan(answer.indexOf(String(event)))
  const second = answer.slice(answer.indexOf('the first answer') + 'the first answer'.length)
  expect(unchunked(bodyOf(second))).toBe(`${event}${event}`)
})

test('a head over HTTP/1.1 is sent with the writes of the same tick, and alone if there are none', async () => {
  const begun: Exchange[] = []
  const port = await aPort((exchange) => {
    exchange.begin(200, {})
    if (exchange.target === '/together') exchange.write(event)
    begun.push(exchange)
  })
  for (const target of ['/together', '/alone']) {
    const socket = await aSocket(port)
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const [first] = await once(socket, 'data')
    expect(bodyOf(String(first))).toBe(target === '/together' ? chunk : '')
    begun.pop()?.end()
    const [last] = await once(socket, 'data')
    expect(String(last)).toBe('0\r\n\r\n')
  }
})

test('over HTTP/1.0 shared bytes are sent without chunks', async () => {
  const port = await aPort((exchange) => {
    exchange.begin(200, {})
    exchange.writeShared(event)
    exchange.writeShared(event)
    exchange.end()
  })
  expect(bodyOf(await answerTo(port, 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'))).toBe(`${event}${event}`)
})

test('shared bytes that a client does not read count as waiting', async () => {
  const begun = Promise.withResolvers<Exchange>()
  const port = await aPort((exchange) => {
    exchange.begin(200, {})
    begun.resolve(exchange)
  })
  const socket = await aSocket(port)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const exchange = await begun.promise
  const large = Buffer.alloc(1024 * 1024, 'x')
  for (let index = 0; index < 16; index++) exchange.writeShared(large)
  expect(exchange.waitingBytes).toBeGreaterThanOrEqual(large.length)
})

test('a disconnected client gets no more bytes, and no write fails', async () => {
  const begun = Promise.withResolvers<Exchange>()
  const port = await aPort((exchange) => {
    exchange.begin(200, {})
    begun.resolve(exchange)
  })
  const socket = await aSocket(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const exchange = await begun.promise
  const closed = new Promise<void>((resolve) => exchange.onClose(resolve))
  socket.destroy()
  await closed
  exchange.writeShared(event)
  expect(exchange.isClosed).toBe(true)
})

test('shared bytes over HTTP/2 and within the process arrive unchanged', async () => {
  const port = await aPort((exchange) => {
    exchange.begin(200, {})
    exchange.writeShared(event)
    exchange.end()
  })
  const session = connectHttp2(`https://localhost:${port}`, { ca: certificates.authority })
  onTestFinished(() => session.destroy())
  let text = ''
  for await (const part of session.request({ ':path': '/' })) text += String(part)
  const exchange = new InProcessExchange({ method: 'GET', path: '/', headers: {} }, { kind: 'unknown' })
  exchange.writeShared(event)
  exchange.end()
  const parts: string[] = []
  for await (const part of exchange) parts.push(String(part))
  expect([text, parts]).toEqual([String(event), [String(event)]])
})
