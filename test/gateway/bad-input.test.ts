import { printContinueToken } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { aSocketServer, exchange, exchangeHttp2, openSocket, readToEnd, type SocketServer } from './sockets.ts'

const collection = '/api/v1/namespaces/default/configmaps'

async function send(server: SocketServer, method: string, path: string, body = '', type = 'application/json'): Promise<string> {
  const head = [`${method} ${path} HTTP/1.1`]
  if (body !== '') head.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`)
  return exchange(server, head, body)
}

const statusOf = (answer: string): number => Number(answer.split(' ')[1])
const bodyOf = (answer: string) =>
  JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { message: string; reason: string; code: number }

async function expectAlive(server: SocketServer): Promise<void> {
  expect(statusOf(await send(server, 'GET', '/readyz'))).toBe(200)
}

describe('oversized and unknown bodies', () => {
  const object = (fields: object) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...fields })
  const rows: [title: string, body: string, code: number, message: RegExp][] = [
    ['ERR-18: malformed JSON is a 400', '{"kind":', 400, /the object provided is unrecognized .*json parse error/],
    [
      'VAL-01: a value of the wrong type is a 400',
      object({ data: { a: 1 } }),
      400,
      /ConfigMap in version "v1" cannot be handled as a ConfigMap/,
    ],
    [
      'ERR-18: another kind is a 400',
      object({ kind: 'Secret' }),
      400,
      /^Secret in version "v1" cannot be handled as a ConfigMap: converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/,
    ],
    [
      'ERR-18: another version is a 400',
      object({ apiVersion: 'v2' }),
      400,
      /^ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme/,
    ],
    [
      'ERR-18: another namespace is a 400',
      object({ metadata: { name: 'a', namespace: 'b' } }),
      400,
      /does not match the namespace sent on the request/,
    ],
    [
      'LIM-12: a name of 300 characters is a 422',
      object({ metadata: { name: 'n'.repeat(300) } }),
      422,
      /must be no more than 253 characters/,
    ],
    [
      'META-18: invalid labels are a 422',
      object({ metadata: { name: 'a', labels: { 'no spaces': '!' } } }),
      422,
      /metadata\.labels: Invalid value/,
    ],
    ['LIM-12: 100,000 nested arrays are a 400', '['.repeat(100_000) + ']'.repeat(100_000), 400, /exceeded max depth/],
  ]
  for (const [title, body, code, message] of rows) {
    test(title, async () => {
      const server = await aSocketServer({ controllers: [] })
      const answer = await send(server, 'POST', collection, body)
      expect(statusOf(answer)).toBe(code)
      expect(bodyOf(answer)).toMatchObject({ code, message: expect.stringMatching(message) })
      await expectAlive(server)
    })
  }

  test('LIM-12: a body over 3 MiB is a 413, and the connection is closed', async () => {
    const server = await aSocketServer({ controllers: [] })
    const answer = await exchange(server, [`POST ${collection} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${4 << 20}`])
    expect(statusOf(answer)).toBe(413)
    expect(bodyOf(answer)).toMatchObject({ reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' })
  })

  test('LIM-12: a chunked body over 3 MiB is a 413 too', async () => {
    const server = await aSocketServer({ controllers: [] })
    const socket = await openSocket(server)
    socket.write(`POST ${collection} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const chunk = Buffer.alloc(1 << 20, 0x20)
    for (let sent = 0; sent < 4; sent++) socket.write(Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')]))
    expect(statusOf(await readToEnd(socket))).toBe(413)
    await expectAlive(server)
  })

  test('NEG-02: an unknown media type is a 415', async () => {
    const server = await aSocketServer({ controllers: [] })
    const answer = await send(server, 'POST', collection, 'x', 'text/plain')
    expect(bodyOf(answer)).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' })
  })
})

describe('invalid heads', () => {
  const forged = encodeURIComponent(printContinueToken(namesOf('orch'), { revision: 1, epoch: 'other', start: 'default/a\0' }))
  const rows: [title: string, path: string, code: number][] = [
    ['QP-06: limit=abc is a 400', `${collection}?limit=abc`, 400],
    ['QP-06: a parameter with a semicolon or a malformed escape is ignored', `${collection}?limit=%zz&limit=a;b&watch=1;`, 200],
    ['CHUNK-05: a token that is none is a 400', `${collection}?continue=forged`, 400],
    ['CHUNK-10: a token of another store is a 410', `${collection}?limit=1&continue=${forged}`, 410],
    ['QP-10: a label selector that is none is a 400', `${collection}?labelSelector=a%3D%3D%3Db`, 400],
    ['QP-12: a field that is not selected by is a 400', `${collection}?fieldSelector=data.a%3Db`, 400],
    ['LIM-12: a name with a NUL is not found', `${collection}/%00`, 404],
    ['ADDR-07: a name of two dots is a 400', `${collection}/..`, 400],
    ['ADDR-07: dots lead nowhere', `${collection}/../secrets`, 400],
    ['ADDR-07: a slash in escapes is a slash', `${collection}/a%2Fb`, 404],
    ['ADDR-07: two slashes are not one', '/api/v1//namespaces', 404],
    ['ADDR-07: a malformed escape is a 400', `${collection}/%zz`, 400],
    ['ADDR-02: an unknown group is a 404', '/apis/nope/v1/things', 404],
    ['LIM-12: a path of 100,000 characters is a 400', `/${'a'.repeat(100_000)}`, 400],
  ]
  for (const [title, path, code] of rows) {
    test(title, async () => {
      const server = await aSocketServer({ controllers: [] })
      expect(statusOf(await send(server, 'GET', path))).toBe(code)
      await expectAlive(server)
    })
  }

  test('ERR-18: a message quotes a name as Go does', async () => {
    const server = await aSocketServer({ controllers: [] })
    expect(bodyOf(await send(server, 'GET', `${collection}/%00`))).toMatchObject({ message: 'configmaps "\\x00" not found' })
  })

  test('LIM-12: are refused over the limit', async () => {
    const server = await aSocketServer({ controllers: [] })
    const answer = await exchange(server, ['GET /version HTTP/1.1', `X-Long: ${'a'.repeat(1 << 20)}`])
    expect(statusOf(answer)).toBe(431)
    await expectAlive(server)
  })

  test('LIM-12: are a 400 if they are not HTTP', async () => {
    const server = await aSocketServer({ controllers: [] })
    const socket = await openSocket(server)
    socket.write('nonsense\r\n\r\n')
    expect(statusOf(await readToEnd(socket))).toBe(400)
    await expectAlive(server)
  })
})

test('ERR-18: the same errors have the same answers over HTTP/2', async () => {
  const server = await aSocketServer({ controllers: [] })
  expect((await exchangeHttp2(server, 'GET', `${collection}/nope`)).status).toBe(404)
  expect((await exchangeHttp2(server, 'POST', collection, '{"kind":')).status).toBe(400)
  expect((await exchangeHttp2(server, 'POST', collection, 'x'.repeat(4 << 20))).status).toBe(413)
  expect((await exchangeHttp2(server, 'GET', '/readyz')).status).toBe(200)
})

test('AUTHN-ANON-05: no request is answered without a certificate if anonymous access is off', async () => {
  const known = await aSocketServer({ controllers: [], anonymousAuth: false })
  const stranger = { ...known, credentials: { ca: known.credentials.ca } }
  for (const path of ['/livez', '/readyz', '/healthz', '/version', '/', '/api', '/metrics', collection]) {
    const answer = await send(stranger, 'GET', path)
    expect(bodyOf(answer)).toMatchObject({ kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
  }
})

test('AUTHN-ANON-04, ERR-03: an unknown token is a 401, also for paths of anonymous access', async () => {
  const known = await aSocketServer({ controllers: [], anonymousAuth: true, flags: ['--authorization-mode=AlwaysAllow'] })
  const stranger = { ...known, credentials: { ca: known.credentials.ca } }
  expect(statusOf(await exchange(stranger, [`GET ${collection} HTTP/1.1`]))).toBe(200)
  expect(statusOf(await exchange(stranger, [`GET ${collection} HTTP/1.1`, 'Authorization: Bearer nobody']))).toBe(401)
})

test('WATCH-18: a watch whose client never reads is ended, and other clients are not affected', async () => {
  const server = await aSocketServer({ controllers: [] })
  const socket = await openSocket(server)
  // The server ends the connection with the answer, not after an idle time.
  socket.write(`GET ${collection}?watch=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  const large = 'x'.repeat(900_000)
  const { client } = server.server
  const objects = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const total = 24
  for (let written = 0; written < total; written++) {
    await objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c-${written}`, namespace: 'default' }, data: { large } })
  }
  const events = (await readToEnd(socket)).match(/"type":"ADDED"/g) ?? []
  expect(events.length).toBeLessThan(total)
  await expectAlive(server)
})
