import { once } from 'node:events'
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  createClient,
  createHttpsTransport,
  type HttpsTransportOptions,
  parseConfiguration,
  readText,
  startInformer,
  type TransportRequest,
} from '@orch/client'
import { aCertificate } from '@orch/platform/any-certificate'
import { aConfigMap } from '@orch/testkit'
import { start } from 'orch'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openLink } from '../chaos/link.ts'

const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({ method: 'GET', path, headers: {}, ...more })
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

describe('against orch', () => {
  /** A server behind a link, and a client that uses the link. */
  async function aLinkedClient() {
    const server = await start({ controllers: [] })
    const link = await openLink(Number(new URL(server.url).port))
    const configuration = { ...(await parseConfiguration(server.kubeconfig)), server: `https://127.0.0.1:${link.port}` }
    const client = createClient(createHttpsTransport(configuration))
    onTestFinished(async () => {
      client.close()
      await server.stop()
      link.close()
    })
    return { client, link, server }
  }

  test('watches, writes and lists share one connection', async () => {
    const { client, link } = await aLinkedClient()
    const objects = client.resource(configMaps)
    const giving = new AbortController()
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => client.transport.send(get('/api/v1/configmaps?watch=1', { signal: giving.signal }))),
    )
    await Promise.all(Array.from({ length: 20 }, (_, index) => objects.create(aConfigMap({ name: `c-${index}` }))))
    expect((await objects.list()).items.length).toBeGreaterThanOrEqual(20)
    for (const { body } of opened) {
      for await (const piece of body) {
        expect(Buffer.from(piece).toString()).toContain('"type":"ADDED"')
        break
      }
    }
    expect(link.opened).toBe(1)
    giving.abort()
  })

  test('a connection that breaks under a watch ends it with an error, and the informer and requests use another', async () => {
    const { client, link } = await aLinkedClient()
    const objects = client.resource(configMaps)
    const seen: string[] = []
    const ending = new AbortController()
    const informer = startInformer({
      resource: objects,
      signal: ending.signal,
      sleep: () => Promise.resolve(),
      random: () => 0,
      onEvent: ({ object }) => seen.push(object.metadata.name ?? ''),
    })
    onTestFinished(async () => {
      ending.abort()
      await informer.done
    })
    await objects.create(aConfigMap({ name: 'before' }))
    await expect.poll(() => seen).toContain('before')
    const { body } = await client.transport.send(get('/api/v1/configmaps?watch=1&resourceVersion=0'))
    const reading = (async () => {
      for await (const _ of body);
    })()
    link.cut()
    await expect(reading).rejects.toThrow()
    await objects.create(aConfigMap({ name: 'after' }))
    await expect.poll(() => seen).toContain('after')
    expect(link.opened).toBeGreaterThan(1)
  })

  test('a connection that no longer carries data ends with an error, even without a limit on silence', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { client, link } = await aLinkedClient()
    const { body } = await client.transport.send(get('/api/v1/configmaps?watch=1'))
    const reading = (async () => {
      for await (const _ of body);
    })()
    let failure: unknown
    reading.catch((error: unknown) => {
      failure = error
    })
    // Answered pings keep the connection.
    for (let minute = 0; minute < 3; minute++) {
      const heard = link.heardMs
      vi.advanceTimersByTime(15_000)
      await expect.poll(() => link.heardMs).toBeGreaterThan(heard)
      await client.request({ method: 'GET', path: '/version' })
    }
    expect(failure).toBeUndefined()
    link.silence()
    vi.advanceTimersByTime(30_000)
    await expect.poll(() => failure).toMatchObject({ message: 'the server was silent for 15000 ms' })
    link.hear()
    await client.request({ method: 'GET', path: '/version' })
  })

  test('requests to a stopped server count as not sent', async () => {
    const { client, server } = await aLinkedClient()
    await client.request({ method: 'GET', path: '/version' })
    await server.stop()
    const failure = () => client.request({ method: 'GET', path: '/version' }).catch((error: unknown) => error)
    await expect.poll(failure).toMatchObject({ name: 'UnsentError' })
  })
})

interface Answering {
  readonly stream: ServerHttp2Stream
  readonly path: string
  readonly session: Http2Session
  readonly headers: IncomingHttpHeaders
}

/** A server that answers as the test says, and a transport to the server. */
async function aServer(answer: (request: Answering) => unknown, served: SecureServerOptions = {}, options: HttpsTransportOptions = {}) {
  const pair = await aCertificate({ commonName: 'server', isAuthority: true, hasNames: true })
  const sessions: Http2Session[] = []
  const paths: string[] = []
  const server: Http2SecureServer = createSecureServer({ cert: pair.certificate, key: pair.key, ...served })
  server.on('session', (session) => void sessions.push(session.on('error', () => {})))
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const { session } = stream
    if (session === undefined) return
    stream.on('error', () => {})
    paths.push(headers[':path'] ?? '')
    answer({ stream, path: headers[':path'] ?? '', session, headers })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const transport = createHttpsTransport({ server: `https://127.0.0.1:${port}/base`, certificateAuthority: pair.certificate }, options)
  onTestFinished(() => {
    transport.close()
    server.close()
    for (const session of sessions) session.destroy()
  })
  const textOf = async (request: TransportRequest) => readText(await transport.send(request))
  return { transport, textOf, sessions, paths }
}

const whole = ({ stream }: Answering, text = 'whole') => {
  stream.respond({ ':status': 200 })
  stream.end(text)
}

test('method, path with its prefix, header fields and body arrive; header fields of a request override common ones', async () => {
  const came: unknown[] = []
  const { transport } = await aServer(
    ({ stream, headers }) => {
      let body = ''
      stream.on('data', (part) => {
        body += part
      })
      stream.on('end', () => {
        const { ':method': method, ':path': path, 'user-agent': agent, 'x-one': one, 'content-length': length } = headers
        came.push({ method, path, agent, one, length, body })
        stream.respond({ ':status': 201, etag: '"e"' })
        stream.end('{}')
      })
    },
    {},
    { headers: { 'User-Agent': 'all', 'X-One': 'all' } },
  )
  const answer = await transport.send({ method: 'POST', path: '/a?b=c', headers: { 'x-one': 'mine' }, body: 'text' })
  expect(answer).toMatchObject({ status: 201, headers: { etag: '"e"' } })
  expect(await readText(answer)).toBe('{}')
  expect(came).toEqual([{ method: 'POST', agent: 'all', one: 'mine', length: '4', path: '/base/a?b=c', body: 'text' }])
})

test('a closing server answers the requests in progress, and further requests use another connection', async () => {
  const held: Answering[] = []
  const { transport, textOf, sessions } = await aServer((request) => {
    if (request.path !== '/base/watch') return whole(request)
    held.push(request)
    request.stream.respond({ ':status': 200 })
    request.stream.write('first ')
  })
  const watch = await transport.send(get('/watch'))
  sessions[0]?.close()
  expect(await textOf(get('/'))).toBe('whole')
  expect(sessions.length).toBe(2)
  held[0]?.stream.end('last')
  expect(await readText(watch)).toBe('first last')
})

test('a refused stream is sent again, also with its body, a bounded number of times', async () => {
  let refusals = 1
  const { textOf, transport, paths } = await aServer((request) => {
    refusals -= 1
    if (refusals >= 0) return request.stream.close(constants.NGHTTP2_REFUSED_STREAM)
    request.stream.respond({ ':status': 200 })
    request.stream.pipe(request.stream)
  })
  expect(await textOf({ ...get('/'), method: 'POST', body: 'whole' })).toBe('whole')
  expect(paths.length).toBe(2)
  refusals = 100
  await expect(transport.send(get('/'))).rejects.toMatchObject({ name: 'UnsentError' })
  expect(paths.length).toBe(5)
})

test('a stream that the server resets for another reason may have been processed, and is not sent again', async () => {
  const { transport, paths } = await aServer(({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
  const failure = await transport.send(get('/')).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(failure).not.toMatchObject({ name: 'UnsentError' })
  expect(paths.length).toBe(1)
})

test('an answer that breaks off is an error, in any way', async () => {
  const { textOf } = await aServer(({ stream, path, session }) => {
    stream.respond({ ':status': 200 })
    stream.write('half')
    setImmediate(() => {
      if (path === '/base/socket') session.socket.destroy()
      else if (path === '/base/session') session.destroy()
      else stream.destroy(new Error('broken'))
    })
  })
  for (const path of ['/socket', '/session', '/stream']) await expect(textOf(get(path)), path).rejects.toThrow()
})

test('an answer that is read later is complete', async () => {
  const closed = Promise.withResolvers<void>()
  const { transport } = await aServer((request) => {
    request.stream.once('close', closed.resolve)
    whole(request)
  })
  const answer = await transport.send(get('/'))
  await closed.promise
  // The answer to a later request shows that the client has seen the end of the stream.
  await readText(await transport.send(get('/')))
  expect(await readText(answer)).toBe('whole')
})

test('a request without an answer fails when its connection breaks', async () => {
  const { transport } = await aServer(({ session }) => session.socket.destroy())
  const failure = await transport.send(get('/')).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(failure).not.toMatchObject({ name: 'UnsentError' })
})

test('an abandoned answer is cancelled, and an unread answer delays no other', async () => {
  const codes: number[] = []
  const send = (request: Answering) => {
    if (request.path === '/base/') return whole(request)
    request.stream.once('close', () => codes.push(request.stream.rstCode ?? -1))
    request.stream.respond({ ':status': 200 })
    request.stream.write(Buffer.alloc(3 * 1024 * 1024))
  }
  const { transport, textOf, sessions } = await aServer(send, { maxSessionMemory: 64 })
  const unread = await transport.send(get('/unread'))
  for (let count = 0; count < 3; count++) {
    const { body } = await transport.send(get('/left'))
    for await (const _ of body) break
  }
  await expect.poll(() => codes).toEqual(Array(3).fill(constants.NGHTTP2_CANCEL))
  expect(await textOf(get('/'))).toBe('whole')
  expect(sessions.length).toBe(1)
  for await (const _ of unread.body) break
})

test('requests beyond the stream limit of the server use another connection', async () => {
  const { transport, sessions } = await aServer(({ stream }) => stream.respond({ ':status': 200 }), {
    settings: { maxConcurrentStreams: 2 },
  })
  await Promise.all(Array.from({ length: 5 }, () => transport.send(get('/'))))
  expect(sessions.length).toBe(3)
})

test('CARD-25: a stream that falls silent ends as broken, before or during its answer, and the next request opens another connection', async () => {
  const serve = ({ stream, path }: Answering) => {
    if (path === '/base/begun') stream.respond({ ':status': 200 })
  }
  const { textOf, sessions } = await aServer(serve, {}, { silenceMsMax: 50 })
  for (const path of ['/begun', '/not-begun']) {
    const failure = await textOf(get(path)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: 'the server was silent for 50 ms' })
    expect(failure).not.toMatchObject({ name: 'UnsentError' })
  }
  expect(sessions.length).toBe(2)
})

test('aborted requests report that, during the connection, before the answer, and during the answer', async () => {
  const { transport } = await aServer(({ stream, path }) => {
    if (path === '/base/answer') stream.respond({ ':status': 200 })
  })
  const giving = [new AbortController(), new AbortController(), new AbortController()]
  const [connecting, waiting, reading] = giving.map(({ signal }) => signal)
  const early = transport.send(get('/', { ...(connecting && { signal: connecting }) }))
  giving[0]?.abort()
  await expect(early).rejects.toMatchObject({ name: 'AbortError' })
  const answer = await transport.send(get('/answer', { ...(reading && { signal: reading }) }))
  const late = transport.send(get('/', { ...(waiting && { signal: waiting }) }))
  giving[1]?.abort()
  await expect(late).rejects.toMatchObject({ name: 'AbortError' })
  giving[2]?.abort()
  await expect(readText(answer)).rejects.toMatchObject({ name: 'AbortError' })
})

test('a closed transport ends its open requests, and sends no more', async () => {
  const { transport, paths } = await aServer(({ stream }) => stream.respond({ ':status': 200 }))
  const answer = await transport.send(get('/'))
  transport.close()
  await expect(readText(answer)).rejects.toMatchObject({ name: 'AbortError' })
  await expect(transport.send(get('/'))).rejects.toMatchObject({ name: 'AbortError' })
  expect(paths.length).toBe(1)
})

describe('a server with only HTTP/1.1', () => {
  async function anOldServer(ALPNProtocols: string[] | undefined) {
    const pair = await aCertificate({ commonName: 'server', isAuthority: true, hasNames: true })
    let connections = 0
    const server = createServer({ cert: pair.certificate, key: pair.key, ...(ALPNProtocols && { ALPNProtocols }) }, (request, response) =>
      response.end(`HTTP/${request.httpVersion} ${request.url}`),
    )
    server.on('secureConnection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const transport = createHttpsTransport({ server: `https://127.0.0.1:${port}`, certificateAuthority: pair.certificate })
    onTestFinished(() => {
      transport.close()
      server.close()
    })
    return { transport, server, opened: () => connections }
  }

  test.each([
    ['which says so in the handshake', ['http/1.1']],
    ['which says nothing in the handshake', undefined],
  ])('%s, is used with HTTP/1.1, on the connection of the protocol negotiation', async (_how, protocols) => {
    const { transport, opened } = await anOldServer(protocols)
    for (const path of ['/a', '/b']) expect(await readText(await transport.send(get(path)))).toBe(`HTTP/1.1 ${path}`)
    expect(opened()).toBe(1)
    const both = await Promise.all([transport.send(get('/c')), transport.send(get('/d'))])
    expect(await Promise.all(both.map(readText))).toEqual(['HTTP/1.1 /c', 'HTTP/1.1 /d'])
    expect(opened()).toBe(2)
  })
})
