import { connect as connectHttp2 } from 'node:http2'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anApi } from '../api/api.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { collection } from './odd-heads.ts'
import { aRawServer } from './raw-server.ts'

const withBody = (fields: readonly string[], body = '{}') => `${['HTTP/1.1 200 OK', ...fields].join('\r\n')}\r\n\r\n${body}`

async function opened() {
  const behind = await aRawServer()
  const api = await anApi({ flags: [serviceAt(behind)] })
  await registered(api, anApiService(behind))
  return { behind, api }
}

test('AGG-31: headers of a remote server for the whole host, or about decisions of this server, are dropped', async () => {
  const { behind, api } = await opened()
  const fields = [
    ...['Kube-Explain: {}', 'Orch-Explain: {}', 'Orch-Explain-Id: 1', 'Set-Cookie: a=b', 'Strict-Transport-Security: max-age=1'],
    ...['Alt-Svc: h3=":1"', 'Clear-Site-Data: "*"', 'Access-Control-Allow-Origin: *', 'Audit-Id: theirs', 'X-Own: kept'],
  ]
  behind.answer = (_request, socket) => void socket.write(withBody([...fields, 'Content-Length: 2']))
  const { status, headers } = await api.get(`${collection}/sweet`)
  expect([status, headers['x-own'], headers['audit-id'] === 'theirs']).toEqual([200, 'kept', false])
  for (const name of [
    'kube-explain',
    'orch-explain',
    'orch-explain-id',
    'set-cookie',
    'strict-transport-security',
    'alt-svc',
    'clear-site-data',
  ])
    expect(headers).not.toHaveProperty(name)
  expect(headers).not.toHaveProperty('access-control-allow-origin')
})

/** Answers that a client must not take as complete, or whose headers the gateway cannot forward unchanged. */
const answers: readonly (readonly [what: string, bytes: string, ends: boolean, expected: number | 'broken off'])[] = [
  ['nothing', '', true, 503],
  ['no HTTP', 'garbage\r\n\r\n', true, 503],
  ['a head without an end', 'HTTP/1.1 200 OK\r\nX-A: b\r\n', true, 503],
  ['fewer bytes than it announces', withBody(['Content-Length: 5']), true, 'broken off'],
  ['a chunk without an end', withBody(['Transfer-Encoding: chunked'], '5\r\n{}'), true, 'broken off'],
  ['a status that is none', 'HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\n{}', false, 503],
  ['another protocol without being asked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', false, 503],
  ['an early hint and then nothing', 'HTTP/1.1 103 Early Hints\r\n\r\n', true, 503],
  ['a length that Connection names', withBody(['Connection: content-length', 'Content-Length: 2']), false, 200],
  ['two fields where one is allowed', withBody(['Etag: "a"', 'Etag: "b"', 'Date: x', 'Date: y', 'Content-Length: 2']), false, 200],
  ['a Trailer beside a length', withBody(['Trailer: x', 'Content-Length: 2']), false, 200],
  ['trailers of framing', withBody(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n'), false, 'broken off'],
  ['trailers that it gives twice', withBody(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nEtag: a\r\nEtag: b\r\n\r\n'), false, 200],
]

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (protocol) => {
  test('AGG-20: any answer of a remote server gives the client an answer or an error, and the next request is served', async () => {
    const { behind, api } = await opened()
    const session = connectHttp2(api.url, api.credentials)
    onTestFinished(() => session.destroy())
    const overHttp2 = (path: string) =>
      new Promise<number | 'broken off'>((resolve) => {
        const stream = session.request({ ':path': path })
        let status = 0
        stream.on('response', (headers) => {
          status = Number(headers[':status'])
        })
        stream.on('error', () => {}).resume()
        stream.on('close', () => resolve(stream.rstCode === 0 ? status : 'broken off'))
      })
    const overHttp1 = (path: string) =>
      api.get(path).then(
        ({ status }) => status,
        () => 'broken off' as const,
      )
    for (const [what, bytes, ends, expected] of answers) {
      behind.answer = ({ target }, socket) => {
        if (target.endsWith('/good')) return void socket.write(withBody(['Content-Length: 2']))
        if (ends) socket.end(bytes, 'latin1')
        else socket.write(bytes, 'latin1')
      }
      const ask = protocol === 'HTTP/2' ? overHttp2 : overHttp1
      expect([what, await ask(`${collection}/bad`)]).toEqual([what, expected])
      expect([what, await ask(`${collection}/good`)]).toEqual([what, 200])
    }
  })
})
