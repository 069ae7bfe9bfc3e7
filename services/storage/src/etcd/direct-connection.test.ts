import { createSecureServer, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { Metadata } from '@grpc/grpc-js'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DirectConnection } from './direct-connection.ts'
import { toFailure } from './errors.ts'

type Take = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void

const framed = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)])

/** Answers a call as gRPC does, in these pieces. */
const answering =
  (...pieces: readonly Buffer[]): Take =>
  (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    for (const piece of pieces) stream.write(piece)
    stream.end()
  }

/** A connection to a test server. The functions handle one call each, and the last function all later calls. */
async function open(...takes: readonly Take[]) {
  const server = createServer()
  const sessions: ServerHttp2Session[] = []
  const bodies: Buffer[] = []
  let count = 0
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream) => {
    const take = takes[Math.min(count, takes.length - 1)]
    count += 1
    stream.on('error', () => {})
    stream.once('data', (body: Buffer) => bodies.push(body))
    stream.once('end', () => take?.(stream, stream.session as ServerHttp2Session))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const connection = new DirectConnection({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  onTestFinished(() => connection.close())
  return { connection, sessions, bodies, call: () => callOf(connection) }
}

const callOf = (connection: DirectConnection) =>
  connection.call('/etcdserverpb.KV/Txn', Buffer.from('ask'), new Metadata()).then(String, (error: Error) => error.message)

describe('a connection for unary calls', () => {
  test('serves several calls, and accepts an answer in pieces', async () => {
    const { call, sessions, bodies } = await open(
      answering(framed('one')),
      answering(framed('two').subarray(0, 6), framed('two').subarray(6)),
    )
    expect([await call(), await call(), sessions.length]).toEqual(['one', 'two', 1])
    expect(bodies[0]).toEqual(framed('ask'))
  })

  test.each([
    ['a refusal', '14 UNAVAILABLE: etcdserver: no leader', 'unanswered', '14', 'etcdserver%3A no leader'],
    ['a text that is not encoded well', '3 INVALID_ARGUMENT: 100%', 'other', '3', '100%'],
  ])('reports %s with the gRPC status', async (_, message, kind, code, text) => {
    const { call } = await open((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': code, 'grpc-message': text }, { endStream: true }),
    )
    expect(await call()).toBe(message)
    expect(toFailure(new Error(message))).toBe(kind)
  })

  test.each<[string, Take, string]>([
    ['HTTP of another kind', (stream) => stream.respond({ ':status': 502 }, { endStream: true }), '14 UNAVAILABLE: HTTP status 502'],
    ['half a message', answering(framed('four').subarray(0, 7)), '13 INTERNAL: the answer is not one message'],
    ['nothing', answering(), '13 INTERNAL: the answer is not one message'],
    ['a reset', (stream) => stream.close(2), '14 UNAVAILABLE: Stream closed with error code NGHTTP2_INTERNAL_ERROR'],
  ])('reports an unknown outcome of the call after %s', async (_, take, message) => {
    const { call } = await open(take)
    expect(await call()).toBe(message)
    expect(toFailure(new Error(message))).toBe('unanswered')
  })

  test('is replaced when it is lost, and a call that was sent before may have arrived', async () => {
    const { call, sessions } = await open((_, session) => session.destroy(), answering(framed('again')))
    expect(toFailure(new Error(await call()))).toBe('unanswered')
    expect([await call(), sessions.length]).toEqual(['again', 2])
  })

  test('is replaced when a stopping server has answered its accepted calls', async () => {
    const leaving: Take = (stream, session) => {
      session.goaway()
      setTimeout(() => answering(framed('last'))(stream, session), 50)
    }
    const { call, sessions } = await open(leaving, answering(framed('first')))
    expect([await call(), await call(), sessions.length]).toEqual(['last', 'first', 2])
  })

  test('is replaced after two calls without an answer, which end in time', async () => {
    const silent: Take = () => {}
    const { call, sessions } = await open(silent, silent, answering(framed('there')))
    const late = await Promise.all([call(), call()])
    expect(late.map((message) => toFailure(new Error(message)))).toEqual(expect.arrayContaining(['late']))
    expect([await call(), sessions.length]).toEqual(['there', 2])
  })

  test('reports a call that could not be sent: no server listens, none answers, or the connection is closed', async () => {
    const absent = createListener()
    await new Promise<void>((resolve) => absent.listen(0, '127.0.0.1', resolve))
    const { port } = absent.address() as AddressInfo
    await new Promise<void>((resolve) => absent.close(() => resolve()))
    const refused = await callOf(new DirectConnection({ server: `http://127.0.0.1:${port}` }))
    expect(refused).toMatch(/^14 UNAVAILABLE: No connection established\. Last error: connect ECONNREFUSED/)

    const mute = createListener(() => {})
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void mute.close())
    const tls = new DirectConnection({ server: `https://127.0.0.1:${(mute.address() as AddressInfo).port}` })
    const unheard = await callOf(tls)
    expect(unheard).toBe('14 UNAVAILABLE: No connection established. Last error: no answer in time')

    const { connection, call } = await open(answering(framed('one')))
    await call()
    connection.close()
    expect([refused, unheard, await call()].map((message) => toFailure(new Error(message)))).toEqual(['unsent', 'unsent', 'unsent'])
  })

  test('may trust the certificate of the server itself as the authority', async () => {
    const issuer = await anAuthority('etcd')
    const { certificate, key } = await aCertificate({ issuer, commonName: 'etcd', use: 'server' })
    const server = createSecureServer({ cert: certificate, key })
    server.on('stream', (stream) => answering(framed('one'))(stream, stream.session as ServerHttp2Session))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const at = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const [ca, said] of [
      [certificate, 'one'],
      [(await anAuthority('other')).certificate, 'certificate signed by unknown authority'],
    ] as const) {
      const connection = new DirectConnection({ server: at, tls: { ca: Buffer.from(ca) } })
      onTestFinished(() => connection.close())
      expect(await callOf(connection)).toContain(said)
    }
  })

  test('is no longer used when the peer has ended it, and its calls fail as unsent or unanswered', async () => {
    const { call, sessions } = await open(answering(framed('one')))
    await call()
    sessions[0]?.destroy()
    const said: string[] = []
    while (said.at(-1) !== 'one' && said.length < 20) said.push(await call())
    expect(said.at(-1)).toBe('one')
    for (const failed of said.slice(0, -1)) expect(['unsent', 'unanswered']).toContain(toFailure(new Error(failed)))
  })
})
