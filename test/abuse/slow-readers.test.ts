import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import type { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { createFakeClock } from '@orch/testkit'
import { type RunningServer, start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aSocketServer, exchangeHttp2 } from '../gateway/sockets.ts'
import { credentialsOf } from './credentials.ts'

const collection = '/api/v1/namespaces/default/configmaps'

test('LIM-12: readers that take nothing of a large list cost little memory', async () => {
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
  // Each of them would hold 24 MB, and as much again encrypted.
  expect(after.rss - before.rss).toBeLessThan(20 * 8 * 1024 * 1024)
})

describe('a watcher that is behind', () => {
  const large = 'x'.repeat(1_000_000)

  /** A server with a watcher that reads nothing, until it has been given its last event. `total` objects are created meanwhile. */
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

  /** The names in whole lines; a line that is cut off does not parse. */
  const namesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name)

  test('LIM-12: over HTTP/1.1 gets whole lines, and the end after them', async () => {
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

  test('LIM-12: over HTTP/2 gets whole lines, and the end after them', async () => {
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

  test('LIM-12: that has not taken them within thirty seconds is cut off', async () => {
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

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
