import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { type Api, anApi } from '../api/api.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { type Answering, aFlavor, aRemoteServer, flavorsPath, json, type RemoteServerOptions, servingFlavors } from './remote-server.ts'

const collection = `${flavorsPath}/namespaces/default/flavors`

/** An HTTP/2 server that answers discovery itself and answers requests about flavors as the test says. */
async function opened(answer: Answering, http2: RemoteServerOptions['http2'] = {}) {
  const server = await aRemoteServer(
    (arrived, response) => (arrived.url.startsWith(collection) ? answer : servingFlavors)(arrived, response),
    { http2: { ...http2 } },
  )
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  return { server, api }
}

test('AGG-15, AGG-16: requests share one HTTP/2 session if the server offers it, with the user from this server only', async () => {
  const { server, api } = await opened(servingFlavors)
  const headers = {
    'x-remote-user': 'mallory',
    'x-own': 'kept',
    connection: 'keep-alive, x-hop',
    'x-hop': 'gone',
    'impersonate-user': 'jane',
    'impersonate-group': 'system:masters',
  }
  const one = await api.send('GET', `${collection}/sweet?a=1&a=%7e`, { headers })
  expect([one.status, one.body]).toEqual([200, aFlavor('sweet')])
  const made = await api.post(collection, aFlavor('sour'))
  expect([made.status, made.body]).toEqual([201, aFlavor('sour')])
  // Controllers send requests too.
  const first = server.asked().find(({ url }) => url.includes('/sweet'))
  const second = server.asked().find(({ method }) => method === 'POST')
  expect(first).toMatchObject({
    httpVersion: '2.0',
    url: `${collection}/sweet?a=1&a=%7e`,
    headers: { 'x-remote-user': 'jane', 'x-own': 'kept' },
  })
  for (const name of ['x-hop', 'impersonate-user', 'authorization', 'connection']) expect(first?.headers).not.toHaveProperty(name)
  expect(second).toMatchObject({ httpVersion: '2.0', method: 'POST', serverName: 'api.team.svc' })
  expect(server.sessions.size).toBe(1)
})

test('AGG-20: events of a watch arrive one by one over HTTP/2; the end of the client ends the forwarded request, and trailers are forwarded', async () => {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const lines: ((line: string) => void)[] = []
  const { api, server } = await opened(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (!url.includes('watch')) {
      response.addTrailers({ 'x-after': 'all' })
      return void response.end('{}')
    }
    response.flushHeaders()
    lines.push((line) => response.write(line))
    response.on('close', resolve)
  })
  const watch = await api.watch(`${collection}?watch=true`)
  for (const name of ['a', 'b']) {
    lines.at(-1)?.(`${JSON.stringify({ type: 'ADDED', object: aFlavor(name) })}\n`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name } } })
  }
  expect((await api.get(collection)).text).toBe('{}')
  watch.close()
  await over
  expect(server.sessions.size).toBe(1)
})

test('AGG-21: a request for another protocol uses HTTP/1.1', async () => {
  const { server, api } = await opened(servingFlavors)
  server.onUpgrade = (_request, socket) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ')
  const { hostname, port } = new URL(api.url)
  const socket = connect({ host: hostname, port: Number(port), ...api.credentials, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.write(`GET ${collection}/sweet/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`)
  while (!text.endsWith('hello ')) await once(socket, 'data')
  expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  socket.destroy()
})

test('a server that accepts one stream at a time gets one session per waiting request', async () => {
  const waiting: (() => void)[] = []
  const { server, api } = await opened((_arrived, response) => void waiting.push(() => json(response, 200, {})), {
    maxConcurrentStreams: 1,
  })
  await ask(api)
  const asked = [api.get(collection), api.get(collection), api.get(collection)]
  while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve))
  expect(server.sessions.size).toBe(3)
  for (const answer of waiting) answer()
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200])

  /** The client does not know the server's bound before the first answer. */
  async function ask(one: Api): Promise<void> {
    const first = one.get(collection)
    while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve))
    waiting.shift()?.()
    await first
  }
})

test('a session that the server has closed is replaced; a request without a body is repeated, and a request with a body is not', async () => {
  const { server, api } = await opened(servingFlavors)
  expect((await api.get(`${collection}/sweet`)).status).toBe(200)
  for (const session of server.sessions) session.goaway()
  expect((await api.get(`${collection}/sweet`)).status).toBe(200)
  // The remote server cuts the stream when it arrives, as a server does that is stopping.
  let cut = cutNext(server.sessions)
  expect((await api.get(`${collection}/sweet`)).status).toBe(200)
  expect(cut()).toBe(1)
  cut = cutNext(server.sessions)
  const { status, text } = await api.post(collection, aFlavor('sour'))
  expect(cut()).toBe(1)
  expect([status, text]).toEqual([503, expect.stringMatching(/^error trying to reach service: /)])
  expect(server.asked().filter(({ method }) => method === 'POST')).toEqual([])

  /**
   * Ends the session of the next request about flavors on one of these sessions, and returns the number of ended sessions. Controllers never request
   * flavors.
   */
  function cutNext(sessions: Iterable<ServerHttp2Session>): () => number {
    let count = 0
    for (const session of sessions) {
      session.prependListener('stream', (_stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
        if (count > 0 || !headers[':path']?.startsWith(collection)) return
        count = 1
        session.destroy()
      })
    }
    return () => count
  }
})

test('an HTTP/2 answer that breaks off is not completed for the client', async () => {
  const { server, api } = await opened((_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('half of')
    setImmediate(() => {
      for (const session of server.sessions) session.destroy()
    })
  })
  await expect(api.get(collection)).rejects.toThrow()
})
