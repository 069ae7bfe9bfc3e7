import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { answerHead } from './answer-head.ts'

test.each([
  ['a head', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
  [
    'a change of the protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    'the server has changed the protocol',
  ],
  ['the end of the connection', '', 'socket hang up'],
])('a request ends with %s', async (_what, answer, expected) => {
  const server = createServer((socket) => void socket.once('data', () => (answer === '' ? socket.destroy() : socket.write(answer))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  asked.end()
  const result = await answerHead(asked).then(
    ({ statusCode }) => statusCode,
    (error: Error) => error.message,
  )
  expect(typeof expected === 'string' ? String(result).startsWith(expected) : result === expected).toBe(true)
  asked.destroy()
})
