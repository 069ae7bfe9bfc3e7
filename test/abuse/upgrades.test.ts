import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { type Listening, listenerModes } from './listener-modes.ts'

const watch = '/api/v1/pods?watch=1'
const opening = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']

/** The server's whole answer to these bytes of a client without credentials, until the server ends the connection. */
function answerTo({ api }: Listening, port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { ca } = api.credentials
    const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] }, () => socket.write(bytes, 'latin1'))
    let answer = ''
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}

function head(line: string, ...fields: readonly string[]): string {
  return `${[line, 'Host: x', ...fields].join('\r\n')}\r\n\r\n`
}

const bodies: readonly (readonly [what: string, field: string, body: string])[] = [
  ['a body of four bytes', 'Content-Length: 4', 'abcd'],
  ['a body that is announced and does not come', 'Content-Length: 4', ''],
  ['a body that is the next request', 'Content-Length: 37', 'GET /livez HTTP/1.1\r\nHost: smuggled\r\n\r\n'],
  ['chunks', 'Transfer-Encoding: chunked', '4\r\nabcd\r\n0\r\n\r\n'],
  ['chunks that do not come', 'Transfer-Encoding: chunked', ''],
  ['chunks without an end, and bytes of another protocol', 'Transfer-Encoding: chunked', '4\r\nabcd\r\n\u0081\u0080'],
]

describe.each(listenerModes)('$mode', ({ open, lack }) => {
  test.skipIf(lack !== undefined)(
    `a WebSocket request that announces a body, or does not wait for an answer, is a 400, and the server continues${lack === undefined ? '' : ` [skipped: ${lack}]`}`,
    async () => {
      const server = await open(['--anonymous-auth=false'])
      // Two threads receive equal shares of the connections.
      for (const port of [...server.ports, ...server.ports]) {
        for (const [what, field, body] of bodies) {
          const answer = await answerTo(server, port, `${head(`GET ${watch} HTTP/1.1`, ...opening, field)}${body}`)
          expect([what, answer.slice(0, 24)]).toEqual([what, 'HTTP/1.1 400 Bad Request'])
          expect(answer).toContain('"message":"a request for another protocol cannot have a body"')
          expect(answer).toContain('connection: close')
          expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
        }
        const good = await answerTo(server, port, head('GET /livez HTTP/1.1', 'Connection: close'))
        expect(good).toMatch(/^HTTP\/1\.1 401 /)
      }
      for (const port of [...server.ports, ...server.ports]) {
        const answer = await answerTo(server, port, `${head(`GET ${watch} HTTP/1.1`)}${head(`GET ${watch} HTTP/1.1`, ...opening)}`)
        expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 400'])
        expect(answer).toContain('"message":"a request for another protocol has to wait for the answers before it"')
        // Node.js itself refuses the expectation.
        const refused = `${head('GET /livez HTTP/1.1', 'Expect: nothing')}${head(`GET ${watch} HTTP/1.1`, ...opening)}`
        expect((await answerTo(server, port, refused)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 417', 'HTTP/1.1 400'])
      }
      expect(server.endedThreads()).toBe(0)
      expect((await server.api.get('/readyz')).status).toBe(200)
    },
  )
})

test('a WebSocket request with a content length of zero is served', async () => {
  const server = await listenerModes[0]?.open()
  if (server === undefined) throw new Error('there is a first mode')
  const { ca, cert, key } = server.api.credentials
  const socket = connect({ port: server.ports[0], host: '127.0.0.1', ca, cert, key, ALPNProtocols: ['http/1.1'] })
  socket.write(head(`GET ${watch}&timeoutSeconds=1 HTTP/1.1`, ...opening, 'Content-Length: 0'))
  const [first] = await once(socket, 'data')
  expect(String(first)).toMatch(/^HTTP\/1\.1 101 /)
  socket.destroy()
})
