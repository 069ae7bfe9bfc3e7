import { type ClientHttp2Session, connect } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { aSocketServer, exchangeHttp2, type SocketServer } from '../gateway/sockets.ts'

function openSession({ port, credentials }: SocketServer): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, credentials)
  // An end of the session by the server's flood limits is an orderly end.
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  return session
}

test('VERB-01: a HEAD over HTTP/2 is answered without a body', async () => {
  const server = await aSocketServer({ controllers: [] })
  expect(await exchangeHttp2(server, 'HEAD', '/version')).toEqual({ status: 200, text: '' })
  expect(await exchangeHttp2(server, 'HEAD', '/livez')).toEqual({ status: 200, text: '' })
  expect(await exchangeHttp2(server, 'HEAD', '/api/v1/namespaces/default')).toEqual({ status: 405, text: '' })
})

test('LIM-12: a head over the limit is refused over HTTP/2', async () => {
  const server = await aSocketServer({ controllers: [] })
  const session = openSession(server)
  const stream = session.request({ ':path': '/version', 'x-long': 'a'.repeat(60_000), 'x-longer': 'b'.repeat(1 << 20) })
  const ended = await new Promise<string>((resolve) => {
    stream.once('response', (headers) => resolve(`answered ${headers[':status']}`))
    stream.once('error', () => resolve('refused'))
    stream.once('close', () => resolve('refused'))
  })
  expect(ended).toBe('refused')
  expect((await exchangeHttp2(server, 'GET', '/readyz')).status).toBe(200)
})

test('LIM-12: invented methods and subresources become no series of metrics', async () => {
  const server = await aSocketServer({ controllers: [] })
  const stranger = { ...server, credentials: { ca: server.credentials.ca } }
  for (const method of ['MADEUP', 'made-up']) {
    expect((await exchangeHttp2(stranger, method, '/version')).status).toBe(403)
    expect((await exchangeHttp2(server, method, '/api/v1/namespaces/default/configmaps/a')).status).toBe(405)
  }
  expect((await exchangeHttp2(server, 'GET', '/api/v1/namespaces/default/configmaps/a/made-up')).status).toBe(404)
  const { text } = await exchangeHttp2(server, 'GET', '/metrics')
  expect(text).not.toMatch(/made-?up/i)
  expect(text).toMatch(/^apiserver_request_total\{.*verb="other".*code="403".*\} 2$/m)
})

test('ERR-18: a CONNECT, which has no path, is a 400 over HTTP/2', async () => {
  const server = await aSocketServer({ controllers: [] })
  const stream = openSession(server).request({ ':method': 'CONNECT', ':authority': 'example.com:443' })
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  expect([status, JSON.parse(text)]).toEqual([
    400,
    expect.objectContaining({ kind: 'Status', message: 'the request target is not a path' }),
  ])
})
