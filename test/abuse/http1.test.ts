import { describe, expect, test } from 'vitest'
import { aSocketServer, openSocket, readToEnd, type SocketServer } from '../gateway/sockets.ts'

const collection = '/api/v1/namespaces/default/configmaps'

/** The server's answer to these bytes until it ends the connection. Also checks that the server still serves other clients. */
async function answerTo(server: SocketServer, bytes: string): Promise<string> {
  const socket = await openSocket(server)
  // The server may close the connection while the client writes a body that the server does not read.
  socket.on('error', () => {})
  socket.write(bytes)
  const answer = await readToEnd(socket)
  const other = await openSocket(server)
  other.write('GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(await readToEnd(other)).toMatch(/^HTTP\/1\.1 200 /)
  return answer
}

describe('heads and bodies that hide a second request', () => {
  const head = (line: string, ...fields: string[]) => `${[line, 'Host: x', ...fields].join('\r\n')}\r\n\r\n`
  const object = '{"metadata":{"name":"a"}}'
  const chunked = (fields: string, end: string, extension = '') =>
    `POST ${collection}?dryRun=All HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${fields}\r\n\r\n${object.length.toString(16)}${extension}\r\n${object}\r\n0\r\n${end}\r\n`
  const rows: [what: string, bytes: string, answer: RegExp][] = [
    ['a tunnel: nothing is opened, and nothing is said', head('CONNECT example.com:443 HTTP/1.1'), /^$/],
    [
      'another protocol: the request is answered as it stands',
      head('GET /livez HTTP/1.1', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Connection: Upgrade, close'),
      /^HTTP\/1\.1 200 [\s\S]*ok$/,
    ],
    [
      'HTTP/2 without TLS: the same',
      head('GET /livez HTTP/1.1', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk', 'Connection: Upgrade, HTTP2-Settings, close'),
      /^HTTP\/1\.1 200 [\s\S]*ok$/,
    ],
    ['an expectation that nobody meets', head('GET /livez HTTP/1.1', 'Expect: 200-ok', 'Connection: close'), /^HTTP\/1\.1 417 /],
    [
      'a body that is announced and too large: it is refused before it is sent',
      head(`POST ${collection} HTTP/1.1`, 'Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 5000000'),
      /HTTP\/1\.1 413 /,
    ],
    [
      'fields behind the body: they name nobody and change nothing',
      chunked('Connection: close', 'Authorization: Bearer nobody\r\nImpersonate-User: nobody\r\nContent-Type: text/plain\r\n'),
      /^HTTP\/1\.1 201 /,
    ],
    ['chunks that are longer by what is said about them', chunked('X-A: b', '', `;${'a=b;'.repeat(100_000)}`), /^HTTP\/1\.1 413 /],
    ['a hundred thousand fields', `GET /livez HTTP/1.1\r\n${'A: b\r\n'.repeat(100_000)}\r\n`, /^HTTP\/1\.1 431 /],
  ]
  test.each(rows)('LIM-12: %s', async (_what, bytes, answer) => {
    const server = await aSocketServer({ controllers: [] })
    expect(await answerTo(server, bytes)).toMatch(answer)
  })
})
