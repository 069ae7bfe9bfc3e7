import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import type { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { createFakeClock } from '@orch/testkit'
import { type RunningServer, start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aSocketServer, exchangeHttp2, type SocketServer } from '../gateway/sockets.ts'
import { credentialsOf } from './credentials.ts'

const collection = '/api/v1/namespaces/default/configmaps'

test('LIM-12: readers that never read a large list cost little memory', async () => {
  const server = await start({ controllers: [] })
  onTestFinished(() => server.stop())
  const objects = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const large = 'x'.repeat(1_000_000)
  for (let index = 0; index < 24; index++) {
    await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${index}`, namespace: 'default' }, data: { large } })
  }
  const credentials = await credentialsOf(server)
  const open = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: Number(new URL(server.url).port), ALPNProtocols: ['http/1.1'], ...credentials },
        () => {
          socket.write(`GET ${collection} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        },
      )
      socket.once('error', reject)
      socket.once('readable', resolve)
      onTestFinished(() => void socket.destroy())
    })
  await open()
  const before = process.memoryUsage()
  await Promise.all(Array.from({ length: 20 }, open))
  const after = process.memoryUsage()
  // Each watcher would hold 24 MB, and as much again encrypted.
  expect(after.rss - before.rss).toBeLessThan(20 * 8 * 1024 * 1024)
})

describe('a slow watcher', () => {
  const large = 'x'.repeat(1_000_000)

  /** A server with a watcher that does not read, until the server has sent its last event. The test creates `total` objects meanwhile. */
  async function aWatcherBehind(total: number, open: (server: RunningServer) => Promise<void>) {
    const clock = createFakeClock()
    const socketServer = await aSocketServer({ controllers: [], clock })
    const { server } = socketServer
    await open(server)
    const objects = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    for (let index = 0; index < total; index++) {
      await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${index}`, namespace: 'default' }, data: { large } })
    }
    const hasWatch = async () =>
      /^apiserver_longrunning_requests\{.*configmaps/m.test((await exchangeHttp2(socketServer, 'GET', '/metrics')).text)
    await expect.poll(hasWatch).toBe(false)
    return { clock }
  }

  /** The names in complete lines; an incomplete line does not parse. */
  const namesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name)

  test('LIM-12: over HTTP/1.1 gets whole lines, and then the end', async () => {
    let read: () => Promise<string> = () => Promise.reject(new Error('not open'))
    await aWatcherBehind(24, async (server) => {
      const agent = new Agent(await credentialsOf(server))
      onTestFinished(() => agent.destroy())
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(`${server.url}${collection}?watch=1`, { agent }, resolve).once('error', reject).end()
      })
      response.pause()
      read = () => textOf(response)
    })
    const names = namesIn(await read())
    expect(names).toEqual(Array.from({ length: names.length }, (_, index) => `c-${index}`))
    expect(names.length).toBeGreaterThan(0)
    expect(names.length).toBeLessThan(24)
  })

  test('LIM-12: over HTTP/2 gets whole lines, and then the end', async () => {
    let read: () => Promise<string> = () => Promise.reject(new Error('not open'))
    await aWatcherBehind(24, async (server) => {
      const session = connectHttp2(server.url, await credentialsOf(server))
      onTestFinished(() => session.destroy())
      const stream = session.request({ ':path': `${collection}?watch=1` })
      await once(stream, 'response')
      read = () => textOf(stream)
    })
    const names = namesIn(await read())
    expect(names).toEqual(Array.from({ length: names.length }, (_, index) => `c-${index}`))
    expect(names.length).toBeGreaterThan(0)
    expect(names.length).toBeLessThan(24)
  })

  test('LIM-12: is disconnected when it has not read its events within thirty seconds', async () => {
    let read: () => Promise<string> = () => Promise.reject(new Error('not open'))
    const { clock } = await aWatcherBehind(24, async (server) => {
      const session = connectHttp2(server.url, await credentialsOf(server))
      onTestFinished(() => session.destroy())
      const stream = session.request({ ':path': `${collection}?watch=1` })
      await once(stream, 'response')
      read = () => textOf(stream)
    })
    clock.advance(31_000)
    await expect(read()).rejects.toThrow(/NGHTTP2_INTERNAL_ERROR/)
  })
})

describe('a watcher that does not read a large initial state', () => {
  const large = 'x'.repeat(900_000)
  const objectsOf = (server: RunningServer) => server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const aLarge = (name: string, text = large) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { large: text },
  })

  /** A server with this number of large objects. */
  async function aServerWith(count: number) {
    const clock = createFakeClock()
    const socketServer = await aSocketServer({ controllers: [], clock })
    for (let index = 0; index < count; index++) await objectsOf(socketServer.server).create(aLarge(`c-${index}`))
    return { ...socketServer, clock }
  }

  const openings = {
    'HTTP/1.1': ({ port, credentials }: SocketServer) => openStopped(port, credentials, []),
    WebSocket: ({ port, credentials }: SocketServer) =>
      openStopped(port, credentials, [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ]),
    'HTTP/2': async ({ server, credentials }: SocketServer) => {
      const session = connectHttp2(server.url, credentials)
      onTestFinished(() => session.destroy())
      await once(session.request({ ':path': `${collection}?watch=1` }), 'response')
    },
  }

  test.each(Object.entries(openings))('LIM-12: over %s causes no copy of the state', async (_, open) => {
    const server = await aServerWith(8)
    await open(server)
    const before = process.memoryUsage()
    for (let index = 0; index < 25; index++) {
      await open(server)
      // A write in between gives each watch another initial state.
      if (index % 3 === 0) await objectsOf(server.server).create(aLarge(`small-${index}`, ''))
    }
    const after = process.memoryUsage()
    // Each watcher would hold 7 MB, and as much again encrypted.
    expect(after.rss - before.rss).toBeLessThan(80 * 1024 * 1024)
  })

  test('LIM-12, WATCH-08: gets the state of its revision, and all later changes, when it continues', async () => {
    const server = await aServerWith(6)
    const session = connectHttp2(server.server.url, server.credentials)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':path': `${collection}?watch=1` })
    await once(stream, 'response')
    const objects = objectsOf(server.server)
    // Until then the watch holds its snapshot; later it reads the rest by its revision.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    server.clock.advance(1_000)
    await objects.delete('c-5', { namespace: 'default' })
    await objects.update({ ...aLarge('c-4', 'changed'), metadata: { name: 'c-4', namespace: 'default' } })
    await objects.create(aLarge('c-9', 'new'))
    const events = eventsOf(stream)
    const seen: string[] = []
    for await (const { type, object } of events) {
      seen.push(`${type} ${object.metadata.name}${object.data.large === large ? '' : ` ${object.data.large}`}`)
      if (seen.length === 9) break
    }
    expect(seen).toEqual([...[0, 1, 2, 3, 4, 5].map((index) => `ADDED c-${index}`), 'DELETED c-5', 'MODIFIED c-4 changed', 'ADDED c-9 new'])
  })
})

/** Opens a watch over a raw socket and reads only its beginning. */
function openStopped(port: number, credentials: SocketServer['credentials'], fields: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ALPNProtocols: ['http/1.1'], ...credentials }, () => {
      socket.write([`GET ${collection}?watch=1 HTTP/1.1`, 'Host: localhost', ...fields, '', ''].join('\r\n'))
    })
    socket.once('error', reject)
    socket.once('readable', resolve)
    onTestFinished(() => void socket.destroy())
  })
}

interface SeenEvent {
  readonly type: string
  readonly object: { readonly metadata: { readonly name: string }; readonly data: { readonly large: string } }
}

async function* eventsOf(stream: Readable): AsyncGenerator<SeenEvent, void, undefined> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const event: SeenEvent = JSON.parse(text.slice(0, end))
      yield event
      text = text.slice(end + 1)
    }
  }
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
