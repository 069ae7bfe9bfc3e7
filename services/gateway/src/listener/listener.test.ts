import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { type Certificates, certificateMemory, fixedPair, Guard, readCertificates, systemClock } from '@orch/platform'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Exchange, Peer } from '../exchange/exchange.ts'
import { Listener, type ListenOptions } from './listener.ts'
import { canSharePorts } from './shared-port.ts'

let certificates: Certificates
let strangers: Certificates

beforeAll(async () => {
  certificates = await someCertificates()
  strangers = await someCertificates()
})

function someCertificates(): Promise<Certificates> {
  return readCertificates({ files: certificateMemory(), product: 'orch', names: ['localhost', '127.0.0.1'], clock: systemClock })
}

async function aListener(handle: (exchange: Exchange) => void, options: Partial<ListenOptions> = {}): Promise<Listener> {
  const { serving, authority } = certificates
  const listener = await Listener.open(
    {
      host: '127.0.0.1',
      port: 0,
      pair: fixedPair(serving),
      authorities: { current: { clients: authority, proxies: '' }, listen: () => () => {} },
      ...options,
    },
    handle,
  )
  onTestFinished(() => listener.close())
  return listener
}

function aSocket(port: number, pair?: { certificate: string; key: string }): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const identity = pair === undefined ? {} : { cert: pair.certificate, key: pair.key }
    const socket = connect({ port, host: '127.0.0.1', ca: certificates.authority, ALPNProtocols: ['http/1.1'], ...identity }, () =>
      resolve(socket),
    )
    socket.on('error', reject)
    onTestFinished(() => void socket.destroy())
  })
}

async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

async function peerFor(pair?: { certificate: string; key: string }): Promise<Peer | undefined> {
  let peer: Peer | undefined
  const { port } = await aListener((exchange) => {
    peer = exchange.peer
    exchange.send(200, {}, 'ok')
  })
  const socket = await aSocket(port, pair)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await readToEnd(socket)
  return peer
}

const answer = (exchange: Exchange) => exchange.send(200, { 'content-type': 'text/plain' }, 'ok')

test('AUTHN-CERT-02, AUTHN-CERT-03: the user has the name and groups of the certificate', async () => {
  expect(await peerFor(certificates.admin)).toMatchObject({
    kind: 'certificate',
    commonName: expect.any(String),
    organizations: ['system:masters'],
  })
})

test('AUTHN-CERT-04: a certificate of another authority does not authenticate', async () => {
  expect(await peerFor(strangers.admin)).toMatchObject({ kind: 'untrusted' })
})

test('AUTHN-CERT-04: a certificate for servers does not authenticate a client', async () => {
  expect(await peerFor(certificates.serving)).toMatchObject({ kind: 'untrusted' })
})

test('AUTHN-CERT-01: the peer is unknown without a certificate', async () => {
  expect(await peerFor()).toEqual({ kind: 'unknown' })
})

test('LIM-12: a client that trickles its head is cut off', async () => {
  const { port } = await aListener(answer, { headTimeoutMs: 100 })
  const socket = await aSocket(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 408 /)
})

test('ERR-18: bytes that are no request are refused after earlier requests are answered', async () => {
  const waiting = Promise.withResolvers<Exchange>()
  const { port } = await aListener((exchange) => waiting.resolve(exchange))
  const socket = await aSocket(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n')
  const exchange = await waiting.promise
  exchange.send(200, {}, 'ok')
  expect((await readToEnd(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
})

test('ERR-18: an invalid body aborts an answer that has begun', async () => {
  const { port } = await aListener((exchange) => {
    exchange.begin(200, {})
    exchange.write('begun')
  })
  const socket = await aSocket(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  await once(socket, 'readable')
  socket.write('no length\r\n')
  const text = await readToEnd(socket)
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*begun/)
  expect(text).not.toMatch(/HTTP\/1\.1 400|\r\n0\r\n/)
})

describe('a client that does not end its half of a connection after the last answer', () => {
  const rows: [what: string, bounds: Partial<ListenOptions>, bytes: number][] = [
    ['is cut off after a time', { lingerMs: 10 }, 0],
    ['is cut off after a number of bytes', { lingerMs: 600_000, lingerBytesMax: 1_000_000 }, 2_000_000],
  ]
  test.each(rows)('LIM-12: %s', async (_what, bounds, bytes) => {
    const listener = await aListener(answer, bounds)
    const options = { port: listener.port, ca: certificates.authority, ALPNProtocols: ['http/1.1'], allowHalfOpen: true }
    const socket = connect(options, () => socket.write(`nonsense\r\n\r\n${'a'.repeat(bytes)}`))
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).resume()
    await once(socket, 'secureConnect')
    expect(listener.connections).toBe(1)
    await expect.poll(() => listener.connections).toBe(0)
  })
})

test('ERR-18: a draining server asks each connection to close after its answer', async () => {
  const waiting = Promise.withResolvers<Exchange>()
  const listener = await aListener((exchange) => waiting.resolve(exchange))
  const socket = await aSocket(listener.port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const exchange = await waiting.promise
  listener.drain()
  exchange.send(200, {}, 'ok')
  const text = await readToEnd(socket)
  expect(text).toMatch(/\r\nconnection: close\r\n/i)
  expect(text).toMatch(/ok$/)
})

test('ERR-18: a server that announces its end still accepts connections, and asks each to close after its answer', async () => {
  const listener = await aListener(answer)
  listener.announceEnd()
  const socket = await aSocket(listener.port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i)
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca: certificates.authority })
  const goodbye = new Promise<number>((resolve) => session.once('goaway', (code) => resolve(code)))
  const stream = session.request({ ':path': '/' })
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
  stream.resume()
  expect([status, await goodbye]).toEqual([200, 0])
})

test('ERR-18: a draining server finishes streams and then sends GOAWAY over HTTP/2', async () => {
  const waiting = Promise.withResolvers<Exchange>()
  const listener = await aListener((exchange) => waiting.resolve(exchange))
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca: certificates.authority })
  const closed = new Promise<void>((resolve) => session.once('close', resolve))
  const goodbye = new Promise<number>((resolve) => session.once('goaway', (code) => resolve(code)))
  const stream = session.request({ ':path': '/' })
  const exchange = await waiting.promise
  listener.drain()
  exchange.send(200, {}, 'ok')
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  expect(text).toBe('ok')
  expect(await goodbye).toBe(0)
  await closed
})

test('VERB-01: one port speaks both protocols', async () => {
  const { port } = await aListener(answer)
  const socket = await aSocket(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 OK/)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: certificates.authority })
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  expect(await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))).toBe(200)
})

test('LIM-12: a client that is answered before the end of its body is disconnected, over HTTP/1.1 and HTTP/2', async () => {
  const { port } = await aListener((exchange) => {
    void exchange.readBody(1_000)
    exchange.send(504, {}, 'late')
  })
  const socket = await aSocket(port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 504 [\s\S]*late$/)
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: certificates.authority })
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/' })
  stream.write('{')
  stream.resume()
  const status = new Promise<number | undefined>((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
  await new Promise((resolve) => stream.once('close', resolve))
  expect([await status, stream.rstCode]).toEqual([504, 0])
})

/** The failures of an exchange that no code of the gateway catches. */
const failures: readonly (readonly [title: string, handle: (exchange: Exchange) => void])[] = [
  [
    'whose handler throws',
    () => {
      throw new Error('broken')
    },
  ],
  [
    'whose body listener throws',
    (exchange) => {
      exchange.bodyStream().on('data', () => {
        throw new Error('broken')
      })
    },
  ],
  [
    'whose end is told to a listener that throws',
    (exchange) => {
      exchange.onClose(() => {
        throw new Error('broken')
      })
      exchange.destroy()
    },
  ],
  [
    'whose trailers cannot be sent',
    (exchange) => {
      exchange.begin(200, { trailer: 'x' })
      exchange.end({ 'x\n': 'y' })
    },
  ],
]

describe.each(failures)('an exchange %s', (_title, handle) => {
  test.each(['HTTP/1.1', 'HTTP/2'])('LIM-12: ends alone and is reported, and the next exchange is served, over %s', async (protocol) => {
    const reports: string[] = []
    const guard = new Guard((error, place) => void reports.push(`${place} ${error instanceof Error}`))
    const { port } = await aListener((exchange) => (exchange.target === '/bad' ? handle(exchange) : answer(exchange)), { guard })
    if (protocol === 'HTTP/1.1') {
      const bad = await aSocket(port)
      bad.write('POST /bad HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}')
      await readToEnd(bad).catch(() => undefined)
      const good = await aSocket(port)
      good.write('GET /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      expect(await readToEnd(good)).toMatch(/^HTTP\/1\.1 200 /)
    } else {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: certificates.authority })
      onTestFinished(() => session.destroy())
      const [bad, good] = [session.request({ ':path': '/bad', ':method': 'POST' }), session.request({ ':path': '/good' })]
      bad.on('error', () => {}).end('{}')
      const closed = new Promise((resolve) => bad.on('close', resolve))
      expect(await new Promise((resolve) => good.once('response', (headers) => resolve(headers[':status'])))).toBe(200)
      await closed
    }
    expect(reports).toEqual([expect.stringMatching(/^(?:request|stream) true$/)])
  })
})

test.skipIf(!canSharePorts)(
  'a listener with more sockets at a shared port is given more of the connections, and none when it is closed',
  async () => {
    const answered: string[] = []
    const answering = (name: string) => (exchange: Exchange) => {
      answered.push(name)
      exchange.send(200, { connection: 'close' }, name)
    }
    const first = await aListener(answering('first'), { sharing: 'opens' })
    const { port } = first
    const second = await aListener(answering('second'), { port, sharing: 'joins', portSockets: 3 })
    const ask = async () => {
      const socket = await aSocket(port)
      socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
      expect(await readToEnd(socket)).toContain('HTTP/1.1 200')
    }
    const count = 120
    for (let index = 0; index < count; index += 1) await ask()
    // Three of four, as less than half cannot happen by chance.
    expect(answered.filter((name) => name === 'second').length).toBeGreaterThan(count / 2)
    await second.close()
    answered.length = 0
    for (let index = 0; index < 20; index += 1) await ask()
    expect(new Set(answered)).toEqual(new Set(['first']))
  },
)

test('a long request body is read completely even if the client has not read the previous answer', async () => {
  const { port } = await aListener(async (exchange) => {
    const outcome = await exchange.readBody(2_000_000)
    const bytes = outcome.kind === 'body' ? outcome.bytes.length : 0
    exchange.send(200, {}, exchange.method === 'GET' ? Buffer.alloc(8_000_000, 'x') : `${bytes} bytes`)
  })
  const socket = await aSocket(port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  // The first bytes of the answer have arrived, and the others wait for this client.
  await once(socket, 'readable')
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 900000\r\n\r\n'
  socket.write(`${head}${'y'.repeat(900_000)}`)
  const text = await readToEnd(socket)
  const answer = text.slice(text.lastIndexOf('HTTP/1.1'))
  expect([answer.slice(0, 15), answer.slice(-12)]).toEqual(['HTTP/1.1 200 OK', '900000 bytes'])
})

test('requests that arrive while an answer waits for its client are all answered', async () => {
  const begun = Promise.withResolvers<void>()
  const { port } = await aListener((exchange) => {
    exchange.send(200, {}, exchange.method === 'GET' ? Buffer.alloc(8_000_000, 'x') : 'last')
    begun.resolve()
  })
  const socket = await aSocket(port)
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  socket.write(get)
  await begun.promise
  socket.write(get)
  // The second answer waits for the first one.
  await once(socket, 'readable')
  socket.write(get)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > 8_000_000 && bytes - chunk.length <= 8_000_000) socket.write('POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  })
  await once(socket, 'end')
  expect(bytes).toBeGreaterThan(24_000_000)
})
