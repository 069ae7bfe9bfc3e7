import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { certificateMemory, readCertificates, systemClock } from '@orch/platform'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CountingWatch } from './counting-watch.ts'
import { alternate, configMap, median, spreadOf } from './figure.ts'
import { bodyRequest, Connection, getRequest, joinChunks, loadHttp1 } from './http1-load.ts'
import { loadHttp2, openSession } from './http2-load.ts'
import type { Credentials } from './orch-server.ts'
import { Child } from './process.ts'
import { fileSystemOf, isInMemory } from './state.ts'
import { StreamWatches } from './stream-watches.ts'
import { printRow, verdict } from './table.ts'

const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
})

let port = 0
let credentials: Credentials
let servingPair: { readonly cert: string; readonly key: string }

/** Answers with the number of bytes in the path, chunked or with a length; a POST returns its body. */
beforeAll(async () => {
  const { serving, admin, authority } = await readCertificates({
    files: certificateMemory(),
    product: 'bench',
    names: ['localhost', '127.0.0.1'],
    clock: systemClock,
  })
  credentials = { ca: Buffer.from(authority), cert: Buffer.from(admin.certificate), key: Buffer.from(admin.key) }
  servingPair = { cert: serving.certificate, key: serving.key }
  const server = createServer(servingPair, (request, response) => {
    const [, how, bytes] = request.url?.split('/') ?? []
    if (request.method === 'POST') request.pipe(response.writeHead(201))
    else if (how === 'chunked') {
      for (let left = Number(bytes); left > 0; left -= 10_000) response.write('x'.repeat(Math.min(left, 10_000)))
      response.end()
    } else response.writeHead(200, { 'content-length': Number(bytes) }).end('x'.repeat(Number(bytes)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
})

async function withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.open(port, credentials)
  try {
    return await use(connection)
  } finally {
    connection.close()
  }
}

test('an answer is read to its end, with a length or in chunks, one after the other', () =>
  withConnection(async (connection) => {
    const lengths: number[] = []
    for (const path of ['/length/5', '/chunked/35000', '/length/0', '/length/200000', '/chunked/1']) {
      const { body, status } = await connection.send(getRequest(path), true)
      expect(status).toBe(200)
      lengths.push(body?.toString().split('x').length ?? 0)
    }
    expect(lengths).toEqual([6, 35_001, 1, 200_001, 2])
  }))

test('a body arrives unchanged', () =>
  withConnection(async (connection) => {
    const { status, body } = await connection.send(bodyRequest('POST', '/echo', { text: 'ü'.repeat(5_000) }), true)
    expect(status).toBe(201)
    expect(body?.toString()).toContain(JSON.stringify({ text: 'ü'.repeat(5_000) }))
  }))

test('a connection uses the requested port, also with credentials for a server at another port', async () => {
  const connection = await Connection.open(port, { ...credentials, port: 1 } as Credentials)
  const { status } = await connection.send(getRequest('/length/1'))
  connection.close()
  expect(status).toBe(200)
})

test('a load with an unexpected answer fails', () =>
  withConnection(async (connection) => {
    const load = loadHttp1([connection], () => getRequest('/length/3'), { durationMs: 1_000, expected: 201 })
    await expect(load).rejects.toThrow('answered 200 where 201 was expected')
  }))

test('a connection that is cut ends the wait for its answer', async () => {
  const connection = await Connection.open(port, credentials)
  const answer = connection.send('GET /length/3 HTTP/1.1\r\n')
  connection.close()
  await expect(answer).rejects.toThrow('the connection was closed')
})

/** A TLS server that passes each connection to the given function and counts the requests that it reads. */
async function aRawServer(serve: (socket: TLSSocket, requests: number) => void, waitMsMax = 10_000) {
  let requests = 0
  const server = createTlsServer(servingPair, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', () => serve(socket, ++requests))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port: rawPort } = server.address() as AddressInfo
  const connection = await Connection.to({ ...credentials, host: '127.0.0.1', port: rawPort }, { waitMsMax })
  closing.push(() => connection.close())
  return { connection, requests: () => requests }
}

const okay = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test('a connection that the server closes while it is idle is opened again', async () => {
  const { connection, requests } = await aRawServer((socket) => socket.end(okay))
  for (let round = 1; round <= 3; round++) {
    const { status, body } = await connection.send(bodyRequest('POST', '/', {}), true)
    expect({ status, body: String(body), requests: requests() }).toEqual({ status: 200, body: 'ok', requests: round })
    if (!connection.socket.destroyed) await once(connection.socket, 'close')
  }
})

test('a GET without an answer on a closed connection is sent once more, over a new connection', async () => {
  const { connection, requests } = await aRawServer((socket, count) => (count === 2 ? socket.destroy() : socket.write(okay)))
  await connection.send(getRequest('/first'))
  expect(await connection.send(getRequest('/second'))).toMatchObject({ status: 200 })
  expect(requests()).toBe(3)
})

test('a request that crosses the 408 of an idle connection is sent once more, over a new connection', async () => {
  const idle = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
  const { connection, requests } = await aRawServer((socket, count) => (count === 2 ? socket.write(okay) : socket.end(idle)))
  expect(await connection.send(bodyRequest('PATCH', '/', {}))).toMatchObject({ status: 200 })
  expect(requests()).toBe(2)
  expect(await connection.send(bodyRequest('PATCH', '/', {}))).toMatchObject({ status: 408 })
  expect(requests()).toBe(4)
})

test('a GET whose connections are closed twice, and a POST whose connection is closed once, are errors with their names', async () => {
  const { connection, requests } = await aRawServer((socket) => socket.destroy())
  await expect(connection.send(getRequest('/never'))).rejects.toThrow(/^GET \/never: .*; nothing of the answer had come$/)
  expect(requests()).toBe(2)
  await expect(connection.send(bodyRequest('POST', '/pods', {}))).rejects.toThrow(/^POST \/pods: .*; nothing of the answer had come$/)
  expect(requests()).toBe(3)
})

test.each([
  { sent: '', progress: 'nothing of the answer had come' },
  { sent: 'HTTP/1.1 200 OK\r\nconte', progress: 'its head had not come whole' },
  { sent: `${okay.slice(0, -1)}`, progress: 'status 200 had come, and 1 bytes of a body with 1 to come' },
  {
    sent: 'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
    progress: 'status 201 had come, and 6 bytes of a chunked body without its end',
  },
])('a request waits 200 ms for an answer that does not end, and reports its progress: $progress', async ({ sent, progress }) => {
  const { connection, requests } = await aRawServer((socket, count) => socket.write(count === 1 ? sent : okay), 200)
  await expect(connection.send(getRequest('/slow'))).rejects.toThrow(`GET /slow: no whole answer within 0.2 s; ${progress}`)
  expect(requests()).toBe(1)
  expect(await connection.send(getRequest('/next'))).toMatchObject({ status: 200 })
})

test('the head of an answer may end in any packet', async () => {
  const { connection } = await aRawServer((socket, count) => {
    const [front, back] = [okay.slice(0, -count), okay.slice(-count)]
    socket.write(front)
    setImmediate(() => socket.write(back))
  })
  for (let round = 1; round < 8; round++) {
    const { status, body } = await connection.send(getRequest('/'), true)
    expect({ status, body: String(body) }).toEqual({ status: 200, body: 'ok' })
  }
})

test('a handshake without an answer ends after its timeout', async () => {
  const server = createPlainServer((socket) => void socket.on('error', () => socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port: mutePort } = server.address() as AddressInfo
  const opened = Connection.to({ ...credentials, host: '127.0.0.1', port: mutePort }, { waitMsMax: 100 })
  await expect(opened).rejects.toThrow(`no connection to 127.0.0.1:${mutePort} within 0.1 s`)
})

test('a request over HTTP/2 whose stream is closed without an answer is an error with its path', async () => {
  const server = createSecureServer(servingPair).on('session', (session) => void session.on('stream', () => session.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const session = await openSession((server.address() as AddressInfo).port, credentials)
  closing.push(() => session.destroy())
  await expect(loadHttp2(session, '/lost', { concurrency: 1, durationMs: 1_000 })).rejects.toThrow(/GET \/lost|session/)
})

test('a child process reports its output and messages, and its early end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const child = new Child(['-e', "console.log('port 12'); process.send({ cwd: process.cwd() }); process.disconnect()"], {}, folder)
  const [told, [, printed]] = await Promise.all([child.told<{ cwd: string }>(), child.printed(/port (\d+)/)])
  expect({ cwd: told.cwd, printed }).toEqual({ cwd: folder, printed: '12' })
  await expect(new Child(['-e', 'process.exit(3)']).told()).rejects.toThrow('process ended with 3')
})

test('memory and CPU time of a child process are read', async () => {
  const child = new Child(['-e', "console.log('up'); setInterval(() => {}, 1000)"])
  await child.printed(/up/)
  expect(child.anonBytes()).toBeGreaterThan(1_000_000)
  expect(child.rssBytes()).toBeGreaterThan(child.anonBytes())
  expect(child.peakBytes()).toBeGreaterThanOrEqual(child.anonBytes())
  expect(child.cpuMicros()).toBeGreaterThanOrEqual(0)
  await child.stop()
})

test.each([
  { better: 'more', ratio: 0.5, expected: 'met' },
  { better: 'more', ratio: 0.9, expected: 'met, and the goal' },
  { better: 'more', ratio: 0.39, expected: 'MISSED' },
] as const)('the ratio $ratio against 0.4 and 0.8 is $expected if more is better', ({ better, ratio, expected }) => {
  expect(verdict({ better, ratio, target: 0.4, goal: 0.8 })).toBe(expected)
})

test.each([
  { better: 'less', ratio: 60, expected: 'met' },
  { better: 'less', ratio: 20, expected: 'met, and the goal' },
  { better: 'less', ratio: 101, expected: 'MISSED' },
] as const)('the ratio $ratio against 100 and 20 is $expected if less is better', ({ better, ratio, expected }) => {
  expect(verdict({ better, ratio, target: 100, goal: 20 })).toBe(expected)
})

test('a line without a target has no verdict', () => {
  const row = printRow('scale', { value: 3, unit: 'ms', ratio: 3, better: 'less' })
  expect(row).toBe('| scale | 3.00 ms | – | 3.00 | – | – | – | no target |\n')
})

test('a row of the table has the figure, its reference and the verdict', () => {
  const row = printRow('get', {
    label: 'HTTP/2',
    value: 1234.5,
    unit: 'req/s',
    floor: 2000,
    ratio: 0.617,
    target: 0.45,
    goal: 0.65,
    better: 'more',
  })
  expect(row).toBe('| get: HTTP/2 | 1235 req/s | 2000 | 0.62 | 0.45 | 0.65 | – | met |\n')
})

test('sides take turns, and the middle value is the median', async () => {
  const order: string[] = []
  const side = (name: string) => async () => order.push(name)
  const results = await alternate(2, [side('a'), side('b')])
  expect(order).toEqual(['a', 'b', 'a', 'b'])
  expect(results).toEqual([
    [1, 3],
    [2, 4],
  ])
  expect(median([5, 1, 3])).toBe(3)
})

test('objects of the bench have the requested size', () => {
  expect(JSON.stringify(configMap('a', 3_000)).length).toBeGreaterThan(2_600)
  expect(JSON.stringify(configMap('a', 3_000)).length).toBeLessThanOrEqual(3_000)
})

test('the spread of rounds has the median, the minimum and the maximum', () => {
  expect(spreadOf([5, 1, 9, 3, 4])).toEqual({ median: 4, least: 1, largest: 9, rounds: 5 })
})

const mounts = ['/dev/a / ext4 rw 0 0', 'tmpfs /tmp tmpfs rw 0 0', '/dev/b /tmp/disk xfs rw 0 0', '/dev/c /data btrfs rw 0 0', ''].join(
  '\n',
)

test.each([
  { folder: '/home/user', type: 'ext4', inMemory: false },
  { folder: '/tmp', type: 'tmpfs', inMemory: true },
  { folder: '/tmp/orch', type: 'tmpfs', inMemory: true },
  { folder: '/tmp/disk/orch', type: 'xfs', inMemory: false },
  { folder: '/tmporary', type: 'ext4', inMemory: false },
  { folder: '/data', type: 'btrfs', inMemory: false },
])('the file system of $folder is $type', ({ folder, type, inMemory }) => {
  expect(fileSystemOf(folder, mounts)).toBe(type)
  expect(isInMemory(type)).toBe(inMemory)
})

test('a folder with several mounts has the file system of the last mount', () => {
  expect(fileSystemOf('/tmp/a', `${mounts}tmpfs /tmp ramfs rw 0 0`)).toBe('ramfs')
})

test('events of a watch are counted in any division into packets', () => {
  let take: (chunk: Buffer) => void = () => undefined
  const socket = { removeAllListeners() {}, write() {}, on: (_name: string, listener: typeof take) => (take = listener) }
  const watch = new CountingWatch({ socket, close() {} } as unknown as Connection, Buffer.alloc(0))
  const bytes = Buffer.from('{"type":"ADDED","object":{}}\n{"type":"MODIFIED","object":{"kind":"Pod"}}\n{"type":"DELETED"}\n')
  for (let size = 1; size <= bytes.length; size++) {
    const before = watch.events
    for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size))
    expect(watch.events - before).toBe(3)
  }
})

test('watches over HTTP/2 count the lines of each stream, in any division into packets', async () => {
  const streams: ServerHttp2Stream[] = []
  const server = createSecureServer(servingPair).on('stream', (stream, { ':path': path }) => {
    stream.respond({ ':status': path === '/refused' ? 403 : 200 })
    streams.push(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port: http2Port } = server.address() as AddressInfo
  const watches = await StreamWatches.open(http2Port, credentials, ['/a', '/b'])
  closing.push(() => watches.close())
  const [first, second] = streams
  first?.write('{"type":"ADDED"}\n{"type":')
  second?.write('{"type":"ADDED"}\n')
  await watches.arrived(2)
  first?.write('"MODIFIED"}\n')
  await watches.arrived(3)
  expect(watches.events).toEqual([2, 1])
  await expect(watches.arrived(2)).rejects.toThrow('3 events have arrived where 2 were expected')
  await expect(StreamWatches.open(http2Port, credentials, ['/refused'])).rejects.toThrow('a watch answered 403')
})

test.each([
  ['5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n', 'hello world'],
  ['A;extension=1\r\n0123456789\r\n0\r\n\r\n', '0123456789'],
  ['0\r\n\r\n', ''],
])('chunks are joined to their body: %j', (chunked, body) => {
  expect(String(joinChunks(Buffer.from(chunked)))).toBe(body)
})

test('a body without a chunk is not a chunked body', () => {
  expect(() => joinChunks(Buffer.from('{"kind":"Status"}\r\n'))).toThrow('no chunk begins at byte 0')
})
