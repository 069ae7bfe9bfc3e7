import { describe, expect, test } from 'vitest'
import { aSocketServer, openSocket, readToEnd } from '../gateway/sockets.ts'

const collection = '/api/v1/namespaces/default/configmaps'

describe('heads that two parsers would understand differently', () => {
  const rows: [title: string, head: string, rest: string][] = [
    [
      'a length and chunks',
      `POST ${collection} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked`,
      '2\r\n{}\r\n0\r\n\r\n',
    ],
    ['two lengths', `POST ${collection} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3`, '{}x'],
    ['a length with a sign', `POST ${collection} HTTP/1.1\r\nHost: x\r\nContent-Length: +2`, '{}'],
    ['an encoding after chunks', `POST ${collection} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity`, '0\r\n\r\n'],
    ['an unknown encoding', `POST ${collection} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked`, '0\r\n\r\n'],
    ['a name with a space behind it', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A : b', ''],
    ['a line that is continued', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c', ''],
    ['a NUL in a value', 'GET /version HTTP/1.1\r\nHost: x\r\nX-A: b\0c', ''],
    ['lines that end without a return', 'GET /version HTTP/1.1\nHost: x', ''],
    ['a space in the path', 'GET /api/v1/name spaces HTTP/1.1\r\nHost: x', ''],
    ['no host', 'GET /version HTTP/1.1', ''],
  ]
  for (const [title, head, rest] of rows) {
    test(`LIM-12: ${title}: a 400, and later bytes on the connection are not read`, async () => {
      const server = await aSocketServer({ controllers: [] })
      const socket = await openSocket(server)
      socket.write(`${head}\r\n\r\n${rest}GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`)
      const answer = await readToEnd(socket)
      expect(answer.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request')
      expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    })
  }
})

test('ERR-18: an Audit-Id cannot inject header fields into the answer', async () => {
  const server = await aSocketServer({ controllers: [] })
  const socket = await openSocket(server)
  socket.write('GET /version HTTP/1.1\r\nHost: x\r\nAudit-Id: a\rX-Evil: b\r\nConnection: close\r\n\r\n')
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 400 /)
})
