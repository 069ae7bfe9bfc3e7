import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type Api, anApi, configMap, created, sharedApi, someConfigMaps } from './api.ts'
import type { WatchEvent } from './watch-reader.ts'

const server = sharedApi()
const initial = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

/** Opens a watch that accepts gzip; returns the answer and its bytes. */
async function asked(api: Api, target: string, headers: Record<string, string> = { 'accept-encoding': 'gzip' }): Promise<IncomingMessage> {
  const request = httpsRequest(new URL(`${api.url}${target}`), { ...api.credentials, headers }).end()
  onTestFinished(() => request.on('error', () => undefined).destroy() && undefined)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response.on('error', () => undefined)
}

/** Returns the next lines of a stream, one at a time. */
function linesOf(stream: Readable): () => Promise<WatchEvent> {
  const chunks = stream[Symbol.asyncIterator]()
  let text = ''
  return async () => {
    for (;;) {
      const end = text.indexOf('\n')
      if (end >= 0) {
        const line = text.slice(0, end)
        text = text.slice(end + 1)
        return JSON.parse(line) as WatchEvent
      }
      const { value, done } = await chunks.next()
      if (done === true) throw new Error(`the stream has ended after ${text}`)
      text += String(value)
    }
  }
}

test('READ-07: initial events are compressed for a client that accepts it, and later events are sent at once in the same stream', async () => {
  const path = await someConfigMaps(server.api)
  for (let at = 0; at < 30; at++) await created(server.api, path, configMap({ name: `m-${at}`, data: { text: 'x'.repeat(2000) } }))
  const response = await asked(server.api, `${path}?${initial}`)
  expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding', 'content-type': 'application/json' })
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  const next = linesOf(response.pipe(createGunzip()))
  for (let at = 0; at < 30; at++) expect((await next()).type).toBe('ADDED')
  expect(await next()).toMatchObject({ type: 'BOOKMARK' })
  expect(bytes).toBeLessThan(10_000)
  // The data is longer than the longest stored block of deflate.
  await created(server.api, path, configMap({ name: 'late', data: { text: 'y'.repeat(100_000) } }))
  expect(await next()).toMatchObject({ type: 'ADDED', object: { data: { text: 'y'.repeat(100_000) } } })
  await server.api.delete(`${path}/late`)
  expect(await next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'late' } } })
})

test('READ-07: the whole stream is one gzip member with its checksum', async () => {
  const path = await someConfigMaps(server.api, 'a', 'b')
  const response = await asked(server.api, `${path}?${initial}&timeoutSeconds=1`)
  const whole = Buffer.concat(await Readable.from(response).toArray())
  const lines = gunzipSync(whole).toString().trimEnd().split('\n')
  expect(lines.slice(0, 3).map((line) => (JSON.parse(line) as WatchEvent).type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK'])
  // The test also checks the checksum.
  whole[whole.length - 5] = (whole[whole.length - 5] ?? 0) ^ 1
  expect(() => gunzipSync(whole)).toThrow(/incorrect data check/)
})

test.each([
  ['it does not accept gzip', `?${initial}`, { 'accept-encoding': 'gzip;q=0' }],
  ['it has not asked for initial events', '?watch=true', { 'accept-encoding': 'gzip' }],
])('READ-07: a watch is not compressed if %s', async (_why, query, headers) => {
  const path = await someConfigMaps(server.api, 'a')
  const response = await asked(server.api, `${path}${query}`, headers)
  expect(response.headers).not.toHaveProperty('content-encoding')
  expect(await linesOf(response)()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
})

test('READ-07: no watch is compressed without the gate', async () => {
  const api = await anApi({ flags: ['--feature-gates=WatchListCompression=false'] })
  const path = await someConfigMaps(api, 'a')
  const response = await asked(api, `${path}?${initial}`)
  expect(response.headers).not.toHaveProperty('content-encoding')
  expect(await linesOf(response)()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
})
