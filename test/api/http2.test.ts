import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aNamespace, type Body, configMap, configMapsIn, created, sharedApi } from './api.ts'

const server = sharedApi()

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Body
}

let session: ClientHttp2Session
beforeAll(async () => {
  session = connect(server.api.url, server.api.credentials)
  await new Promise((resolve) => session.once('connect', resolve))
})
afterAll(() => session.close())

function send(method: string, path: string, body?: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json' })
    let head: IncomingHttpHeaders = {}
    let text = ''
    stream.setEncoding('utf8')
    stream.on('response', (headers) => {
      head = headers
    })
    stream.on('data', (chunk: string) => {
      text += chunk
    })
    stream.on('error', reject)
    stream.on('end', () => resolve({ status: Number(head[':status']), headers: head, body: JSON.parse(text) as Body }))
    stream.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

test('STORE-01, STORE-05: HTTP/2 gives the same answers as HTTP/1.1', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const made = await send('POST', path, configMap({ name: 'a', data: { x: '1' } }))
  expect(made).toMatchObject({ status: 201, headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' } })
  expect((await send('GET', `${path}/a`)).body).toEqual((await server.api.get(`${path}/a`)).body)
  expect((await send('GET', path)).body.items).toEqual((await server.api.get(path)).body.items)
  expect(await send('PUT', `${path}/a`, { ...made.body, data: { x: '2' } })).toMatchObject({ status: 200, body: { data: { x: '2' } } })
  expect(await send('DELETE', `${path}/a`)).toMatchObject({ status: 200, body: { status: 'Success' } })
  expect(await send('GET', `${path}/a`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } })
})

test('STORE-05: one connection serves many requests at a time', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => send('POST', path, configMap({ name: `m-${at}` }))))
  expect(answers.filter(({ status }) => status !== 201)).toEqual([])
  expect((await send('GET', path)).body.items).toHaveLength(200)
})

test('WATCH-02, WATCH-03: a watch runs beside other requests, until its client leaves', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const stream = session.request({ ':method': 'GET', ':path': `${path}?watch=1` })
  stream.setEncoding('utf8')
  const lines = (async function* () {
    let rest = ''
    for await (const chunk of stream as AsyncIterable<string>) {
      const parts = `${rest}${chunk}`.split('\n')
      rest = parts.pop() ?? ''
      yield* parts.map((line) => JSON.parse(line) as { type: string; object: Body })
    }
  })()
  const first = lines.next()
  const made = await created(server.api, path, configMap({ name: 'a' }))
  expect((await first).value).toEqual({ type: 'ADDED', object: made })
  const second = lines.next()
  const { body } = await send('PUT', `${path}/a`, { ...made, data: { x: '1' } })
  expect((await second).value).toEqual({ type: 'MODIFIED', object: body })
  stream.close()
  expect((await send('GET', `${path}/a`)).status).toBe(200)
})

test('LIM-12: a body over 3 MiB is refused, and the connection stays open', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const answer = await send('POST', path, configMap({ name: 'a', data: { x: 'v'.repeat(3 * 1024 * 1024) } })).catch(() => undefined)
  expect(answer?.status ?? 413).toBe(413)
  expect((await send('GET', path)).body.items).toEqual([])
})
