import { expect, test } from 'vitest'
import { InProcessExchange } from './in-process.ts'

const internal = { kind: 'internal', name: 'a', groups: [] } as const
const anExchange = (request: { readonly method?: string; readonly body?: string } = {}) =>
  new InProcessExchange({ method: 'POST', path: '/', headers: {}, ...request }, internal)

test('an answer in this process that is sent at once has its whole body beside the stream', async () => {
  const exchange = anExchange()
  exchange.send(201, { vary: ['a', 'b'] }, 'größe')
  const { status, headers, body, whole } = await exchange.response
  expect([status, headers, String(whole)]).toEqual([201, { vary: 'a, b' }, 'größe'])
  const pieces: string[] = []
  for await (const piece of body) pieces.push(String(piece))
  expect(pieces).toEqual(['größe'])
})

test('an answer in this process has the parsed body of its sender', async () => {
  const exchange = anExchange()
  const value = Object.freeze({ a: 1 })
  exchange.send(200, {}, '{"a":1}', value)
  expect((await exchange.response).value).toBe(value)
})

test('an answer in this process to HEAD has no body, and an answer in pieces has no whole one', async () => {
  const [head, pieces] = [anExchange({ method: 'HEAD' }), anExchange()]
  head.send(200, {}, 'hidden')
  pieces.begin(200, {})
  expect([(await head.response).whole?.length, (await pieces.response).whole]).toEqual([0, undefined])
})

test('the body of a request in this process is read at once', () => {
  const exchange = anExchange({ body: 'ü' })
  expect([exchange.readBody(2), exchange.readBody(1), exchange.readBody(0)]).toEqual([
    { kind: 'body', bytes: Buffer.from('ü') },
    { kind: 'tooLarge' },
    { kind: 'tooLarge' },
  ])
})

test('an exchange in this process passes events without their text to a client that takes them, in order with bytes', async () => {
  const exchange = new InProcessExchange({ method: 'GET', path: '/', headers: {}, takesEvents: true }, internal)
  expect(anExchange().writeEvents).toBeUndefined()
  exchange.begin(200, {})
  const events = { list: [], length: 7, objectOf: () => expect.unreachable() }
  exchange.write('bytes')
  let taken = 0
  exchange.writeEvents?.(events, () => {
    taken += 1
  })
  expect(exchange.waitingBytes).toBe(12)
  exchange.end()
  const read: unknown[] = []
  for await (const piece of (await exchange.response).pieces ?? []) read.push(piece)
  expect([read, taken, exchange.waitingBytes]).toEqual([[Buffer.from('bytes'), events], 1, 0])
})
