import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { field, flags, frame, frameTypes } from '../abuse/http2-frames.ts'
import { type Listening, listenerModes } from '../abuse/listener-modes.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { bytesOf, collection, type OddFields, oddFields, oddHeads, smuggled } from './odd-heads.ts'
import { aRawServer, lineValue, plainAnswer, type RawRequest, type RawServer } from './raw-server.ts'

interface Opened {
  readonly behind: RawServer
  readonly server: Listening
}

async function opened(open: (typeof listenerModes)[number]['open']): Promise<Opened> {
  const behind = await aRawServer()
  const server = await open([serviceAt(behind)])
  await registered(server.api, anApiService(behind))
  return { behind, server }
}

/** A connection of the administrator. Each request impersonates a user. */
async function aSocket({ api, ports }: Listening, protocol: 'h2' | 'http/1.1', turn = 0): Promise<TLSSocket> {
  const port = ports[turn % ports.length]
  const socket = connect({ port, host: '127.0.0.1', ...api.credentials, ALPNProtocols: [protocol] })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

/** Waits until the remote server has received the request, an answer has arrived or the connection has ended. */
function firstAnswer(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', '')
      if (text !== '') resolve(text)
    })
    socket.once('close', () => resolve(''))
  })
}

/** Expects that this server has set the user of every request at the remote server. */
function examine(requests: readonly RawRequest[], what: string): void {
  for (const { lines, target } of requests) {
    const users = lines.filter((line) => /^x[-_]remote[-_]user:/i.test(line))
    expect([what, users]).toEqual([what, [expect.stringMatching(/^x-remote-user: (mallory|orch-admin)$/)]])
    expect([what, target]).not.toEqual([what, expect.stringContaining('secret')])
    for (const name of ['trailer', 'te', 'keep-alive', 'expect', 'http2-settings', 'proxy-connection', 'authorization'])
      expect([what, name, lineValue(lines, name)]).toEqual([what, name, undefined])
    expect([what, lines.filter((line) => /^[^:]*_[^:]*:/.test(line))]).toEqual([what, []])
  }
}

/** Another client still receives its own answer. */
async function examineNext({ behind, server }: Opened, what: string): Promise<void> {
  behind.requests.length = 0
  const { status } = await server.api.get(`${collection}/good`)
  expect([what, status, behind.requests.map(({ target }) => target)]).toEqual([what, 200, [`${collection}/good`]])
  examine(behind.requests, what)
  behind.requests.length = 0
}

describe.each(listenerModes)('$mode', ({ open, lack }) => {
  const note = lack === undefined ? '' : ` [skipped: ${lack}]`

  test.skipIf(lack !== undefined)(`AGG-16: a request over HTTP/1.1 with any head is one request for the remote server${note}`, async () => {
    const both = await opened(open)
    for (const [turn, head] of oddHeads.entries()) {
      const socket = await aSocket(both.server, 'http/1.1', turn)
      const answer = firstAnswer(socket)
      socket.write(bytesOf(head), 'latin1')
      const text = await answer
      examine(both.behind.requests, head.what)
      // The server does not read the bytes after a refused upgrade as a request.
      if (text.startsWith('HTTP/1.1 400')) expect([head.what, both.behind.requests.length]).toEqual([head.what, 0])
      socket.destroy()
      await examineNext(both, head.what)
    }
    expect(both.server.endedThreads()).toBe(0)
  })

  test.skipIf(lack !== undefined)(
    `AGG-16: a request over HTTP/2 with any header fields is one request for the remote server${note}`,
    async () => {
      const both = await opened(open)
      for (const [turn, fields] of oddFields.entries()) {
        const socket = await aSocket(both.server, 'h2', turn)
        socket.write(framesOf(fields))
        await endOfStream(socket)
        examine(both.behind.requests, fields.what)
        socket.destroy()
        await examineNext(both, fields.what)
      }
      expect(both.server.endedThreads()).toBe(0)
    },
  )
})

/** A connection that carries one request. */
function framesOf({
  method = 'GET',
  path = `${collection}/sweet`,
  authority = 'x',
  fields = [],
  body = smuggled,
  trailers,
}: OddFields): Buffer {
  const own = [
    [':method', method],
    [':scheme', 'https'],
    [':path', path],
    [':authority', authority],
    ['impersonate-user', 'mallory'],
    ['impersonate-group', 'system:masters'],
  ] as const
  const head = Buffer.concat([...own, ...fields].map(([name, value]) => longField(name, value)))
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame('settings', flags.none, 0),
    frame('headers', flags.endHeaders, 1, head),
    frame('data', trailers === undefined ? flags.endStream : flags.none, 1, Buffer.from(body)),
    ...(trailers === undefined
      ? []
      : [frame('headers', flags.endBoth, 1, Buffer.concat(trailers.map(([name, value]) => field(name, value))))]),
  ])
}

/** A header field whose name or value may be longer than 126 bytes. */
function longField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), ...[name, value].map((text) => Buffer.concat([prefixedLength(text.length), Buffer.from(text)]))])
}

/** An HPACK integer with a prefix of seven bits (RFC 7541, section 5.1). */
function prefixedLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

/** Resolves when the server has ended or reset the stream or the connection. */
function endOfStream(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    let waiting = Buffer.alloc(0)
    socket.on('close', () => resolve())
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      for (let length = 0; waiting.length >= 9; waiting = waiting.subarray(length)) {
        length = 9 + waiting.readUIntBE(0, 3)
        if (waiting.length < length) break
        const [type, flag] = [waiting[3] ?? 0, waiting[4] ?? 0]
        const isEnd = (type === frameTypes.data || type === frameTypes.headers) && (flag & flags.endStream) !== 0
        if (isEnd || type === frameTypes.reset || type === goaway) resolve()
      }
    })
  })
}

const goaway = 7

test('AGG-16: a connection whose server has answered before the end of the body is not reused', async () => {
  const [mode] = listenerModes
  if (mode === undefined) throw new Error('there is a first mode')
  const both = await opened(mode.open)
  const { behind, server } = both
  behind.answerHead = ({ target }, socket) => {
    if (!target.endsWith('/early')) return false
    socket.write(plainAnswer)
    return true
  }
  for (const field of [`Content-Length: ${2 + smuggled.length}`, 'Transfer-Encoding: chunked']) {
    const socket = await aSocket(server, 'http/1.1')
    const isChunked = field.startsWith('Transfer')
    socket.write(
      bytesOf({ what: '', method: 'POST', target: `${collection}/early`, fields: [field], body: isChunked ? '2\r\n{}\r\n' : '{}' }),
    )
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1\.1 200 /)
    socket.write(isChunked ? `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n` : smuggled)
    await once(socket, 'close')
    expect(behind.requests).toEqual([])
    await examineNext(both, field)
    expect(behind.bytes.filter((text) => /early[\s\S]*(?:secret|good)/.test(text))).toEqual([])
  }
})
