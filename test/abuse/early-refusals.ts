import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { type Listening, listenerModes } from './listener-modes.ts'

const path = '/api/v1/namespaces/default/configmaps'
const long = 'a'.repeat(2 << 20)

/** Requests that the server answers before it has read them completely. */
const refused: readonly (readonly [what: string, status: number, bytes: string])[] = [
  ['a head over the limit', 431, `GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ${long}\r\n\r\n`],
  ['bytes that are no HTTP', 400, `nonsense\r\n\r\n${long}`],
  ['chunks without a length', 400, `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n${long}`],
  ['chunk extensions over the limit', 413, `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4;${long}\r\n`],
  [
    'a body over the limit',
    413,
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n${long}`,
  ],
  ['no Host', 400, `GET /livez HTTP/1.1\r\n\r\n${long}`],
  [
    'requests behind the last one',
    200,
    `GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${'GET /version HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30_000)}`,
  ],
]

/** Sends all bytes at once; returns the answer until the server ends, or the client's error. */
function answerTo({ api }: Listening, port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { ca, cert, key } = api.credentials
    let answer = ''
    const socket = connect({ port, host: '127.0.0.1', ca, cert, key, ALPNProtocols: ['http/1.1'] }, () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code} behind ${answer.slice(0, 12)}`))
    socket.on('close', () => resolve(answer))
  })
}

/** Tests for every way to listen to clients, with this number of requests of each kind. */
export function testEarlyRefusals(roundCount: number): void {
  describe.each(listenerModes)('$mode', ({ open, lack }) => {
    test.skipIf(lack !== undefined)(
      `LIM-12: a client that sends more than is read always gets the refusal${lack === undefined ? '' : ` [skipped: ${lack}]`}`,
      async () => {
        const server = await open()
        const counts = new Map<string, number>()
        const rounds = Array.from({ length: roundCount }, () => refused).flat()
        for (const [index, [what, status, bytes]] of rounds.entries()) {
          const port = server.ports[index % server.ports.length] ?? 0
          const line = `${what}: ${(await answerTo(server, port, bytes)).slice(0, 12)}`
          if (line !== `${what}: HTTP/1.1 ${status}`) counts.set(line, (counts.get(line) ?? 0) + 1)
        }
        expect([...counts]).toEqual([])
        expect((await server.api.get('/readyz')).status).toBe(200)
        expect(server.endedThreads()).toBe(0)
      },
    )
  })
}
