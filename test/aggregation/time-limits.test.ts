import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { anApi } from '../api/api.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { aFlavor, aRemoteServer, flavorsPath, type RemoteServerOptions, servingFlavors } from './remote-server.ts'

const collection = `${flavorsPath}/namespaces/default/flavors`
const seconds = 1_000

/** A remote server that holds its answers about one flavor and its watches until the test releases them, and a clock that the test moves. */
async function opened(options: RemoteServerOptions = {}) {
  const held: ServerResponse[] = []
  const arrivals: (() => void)[] = []
  const server = await aRemoteServer((arrived, response) => {
    if (![`${collection}/hangs`, `${collection}?watch`].some((start) => arrived.url.startsWith(start)))
      return servingFlavors(arrived, response)
    held.push(response)
    arrivals.shift()?.()
  }, options)
  const clock = createFakeClock(Date.now())
  const api = await anApi({ clock, flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  const arrival = (): Promise<ServerResponse> => {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>()
    arrivals.push(() => resolve(held.at(-1)!))
    return promise
  }
  return { api, clock, server, arrival }
}

test.each([
  ['HTTP/1.1', {}],
  ['HTTP/2', { http2: {} }],
] as const)(
  'AGG-20, AGG-29: a remote server that does not answer over %s is a 504 at the deadline of the request',
  async (_version, options) => {
    const { api, clock, arrival } = await opened(options)
    const arrived = arrival()
    const answer = api.get(`${collection}/hangs`)
    const ended = once(await arrived, 'close')
    clock.advance(60 * seconds - 1)
    expect((await api.get(`${collection}/sweet`)).status).toBe(200)
    clock.advance(1)
    const { status, body } = await answer
    expect([status, body['reason'], body['message']]).toEqual([
      504,
      'Timeout',
      'Timeout: request did not complete within the allotted timeout',
    ])
    await ended
  },
)

test('AGG-20: the client sets the deadline of a request', async () => {
  const { api, clock, arrival } = await opened()
  const arrived = arrival()
  const answer = api.get(`${collection}/hangs?timeout=7s`)
  await arrived
  clock.advance(7 * seconds)
  expect((await answer).status).toBe(504)
})

test('AGG-20: an answer that stalls is aborted at the deadline of the request', async () => {
  const { api, clock, arrival } = await opened()
  const arrived = arrival()
  const request = httpsRequest(`${api.url}${collection}/hangs`, { ...api.credentials })
  onTestFinished(() => void request.destroy())
  const answering = once(request.end(), 'response')
  const response = await arrived
  const ended = once(response, 'close')
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"kind":')
  const [answer] = (await answering) as [IncomingMessage]
  const [first] = await once(answer, 'data')
  const broken = expect(once(answer, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' })
  clock.advance(60 * seconds)
  await Promise.all([broken, ended])
  expect([answer.statusCode, String(first)]).toEqual([200, '{"kind":'])
})

test('AGG-20: a watch through the aggregator has no deadline', async () => {
  const { api, clock, arrival } = await opened()
  const arrived = arrival()
  const opening = api.watch(`${collection}?watch=true`)
  const response = await arrived
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
  const watch = await opening
  clock.advance(600 * seconds)
  response.write(`${JSON.stringify({ type: 'ADDED', object: aFlavor('late') })}\n`)
  expect(await watch.next()).toMatchObject({ object: { metadata: { name: 'late' } } })
})

test('AGG-29: discovery of a group version whose server does not answer is a 503 after five seconds', async () => {
  const { api, clock, server } = await opened()
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = `${flavorsPath}?by=test`
  server.answer = ({ url }, response) => (url === asked ? resolve() : void response.writeHead(200).end('{}'))
  const answer = api.get(asked)
  await promise
  clock.advance(5 * seconds)
  const { status, text } = await answer
  expect([status, text]).toEqual([503, 'error trying to reach service: context deadline exceeded\n'])
})
