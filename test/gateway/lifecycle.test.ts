import { connect as connectHttp2 } from 'node:http2'
import { expect, test, vi } from 'vitest'
import { aSocketServer, exchange, openSocket, readToEnd } from './sockets.ts'

test('WATCH-18: a stopping server ends open watches normally, over HTTP/1.1 and HTTP/2', async () => {
  const server = await aSocketServer({ controllers: [] })
  const first = await openSocket(server)
  first.write('GET /api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => first.once('data', resolve))
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, server.credentials)
  const stream = session.request({ ':path': '/api/v1/configmaps?watch=1' })
  await new Promise((resolve) => stream.once('response', resolve))
  const ended = [
    readToEnd(first),
    new Promise<void>((resolve) => stream.resume().once('end', resolve)),
    new Promise<void>((resolve) => session.once('close', resolve)),
  ]
  await server.server.stop()
  const [text] = await Promise.all(ended)
  expect(text).toContain('"type":"BOOKMARK"')
  expect(String(text).endsWith('0\r\n\r\n')).toBe(true)
})

test('WATCH-01: the head of a watch is sent at once, for chunked JSON', async () => {
  const server = await aSocketServer({ controllers: [] })
  const socket = await openSocket(server)
  socket.write('GET /api/v1/configmaps?watch=1&resourceVersion=1000000 HTTP/1.1\r\nHost: x\r\n\r\n')
  const head = String(await new Promise<Buffer>((resolve) => socket.once('data', resolve)))
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).toMatch(/\r\ncontent-type: application\/json\r\n/i)
  expect(head).toMatch(/\r\ntransfer-encoding: chunked\r\n/i)
})

test('ERR-18: every answer has an audit ID, and repeats a given one', async () => {
  const server = await aSocketServer({ controllers: [] })
  expect(await exchange(server, ['GET /version HTTP/1.1'])).toMatch(/\r\naudit-id: [0-9a-f-]{36}\r\n/i)
  const answer = await exchange(server, ['GET /api/v1/namespaces/nope HTTP/1.1', 'Audit-Id: mine'])
  expect(answer).toMatch(/\r\naudit-id: mine\r\n/i)
  expect(answer).toMatch(/\r\ncache-control: no-cache, private\r\n/i)
})

test('VERB-02: the absolute form of a request target, as proxies send it, is accepted', async () => {
  const server = await aSocketServer({ controllers: [] })
  expect(await exchange(server, [`GET https://localhost:${server.port}/version HTTP/1.1`])).toMatch(/^HTTP\/1\.1 200 /)
})

test('QP-21: answers are indented for browsers and curl, and on request', async () => {
  const server = await aSocketServer({ controllers: [] })
  const path = '/api/v1/namespaces/default'
  expect(await exchange(server, [`GET ${path} HTTP/1.1`, 'User-Agent: curl/8.0'])).toContain('{\n  "kind": "Namespace",')
  expect(await exchange(server, [`GET ${path}?pretty=true HTTP/1.1`])).toContain('{\n  "kind": "Namespace",')
  expect(await exchange(server, [`GET ${path}?pretty=false HTTP/1.1`, 'User-Agent: curl/8.0'])).toContain('{"kind":"Namespace",')
})

test('EP-31, METRIC-13: requests are counted by verb, resource and code, and no text from clients becomes a label', async () => {
  const server = await aSocketServer({ controllers: [] })
  await exchange(server, ['GET /api/v1/namespaces/default/configmaps/nope HTTP/1.1'])
  await exchange(server, ['GET /apis/made.up/v1/things HTTP/1.1'])
  const text = await exchange(server, ['GET /metrics HTTP/1.1'])
  const line = text
    .split('\n')
    .find((one) => one.startsWith('apiserver_request_total') && one.includes('resource="configmaps"') && one.includes('code="404"'))
  for (const label of [
    'verb="GET"',
    'group=""',
    'version="v1"',
    'scope="resource"',
    'component="apiserver"',
    'dry_run=""',
    'subresource=""',
  ])
    expect(line).toContain(label)
  expect(text).not.toContain('made.up')
  for (const name of [
    'apiserver_request_duration_seconds',
    'apiserver_current_inflight_requests',
    'apiserver_longrunning_requests',
    'apiserver_response_sizes',
  ]) {
    expect(text).toContain(`# TYPE ${name} `)
  }
})

test('EP-31: a watch is counted once, when it has ended', async () => {
  const server = await aSocketServer({ controllers: [] })
  const counted = async () => {
    const text = await exchange(server, ['GET /metrics HTTP/1.1'])
    return text.split('\n').find((line) => line.startsWith('apiserver_request_total') && line.includes('verb="WATCH"'))
  }
  const open = await openSocket(server)
  open.write('GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => open.once('data', resolve))
  expect(await counted()).toBeUndefined()
  await exchange(server, ['GET /api/v1/configmaps?watch=1&timeoutSeconds=1 HTTP/1.1'])
  expect(await counted()).toMatch(/code="200".* 1$/)
})

test('EP-31: open watches are counted by resource', async () => {
  const server = await aSocketServer({ controllers: [] })
  const counted = async (resource: string) => {
    const text = await exchange(server, ['GET /metrics HTTP/1.1'])
    return text.split('\n').find((line) => line.startsWith('apiserver_longrunning_requests') && line.includes(`resource="${resource}"`))
  }
  const open = await openSocket(server)
  open.write('GET /api/v1/namespaces/default/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => open.once('data', resolve))
  expect(await counted('configmaps')).toBe(
    'apiserver_longrunning_requests{component="apiserver",verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace"} 1',
  )
  expect(await counted('pods')).toBeUndefined()
  open.destroy()
  await vi.waitFor(async () => expect(await counted('configmaps')).toBeUndefined(), { timeout: 90_000 })
})

test('EP-31: probes list their checks on request, and can exclude some', async () => {
  const server = await aSocketServer({ controllers: [] })
  expect(await exchange(server, ['GET /readyz?verbose HTTP/1.1'])).toContain('[+]etcd ok\n')
  expect(await exchange(server, ['GET /readyz?verbose&exclude=etcd HTTP/1.1'])).toContain('[+]etcd excluded: ok\n')
  expect(await exchange(server, ['GET /livez/ping HTTP/1.1'])).toMatch(/\r\n\r\nok$/)
  expect(await exchange(server, ['GET /livez/nope HTTP/1.1'])).toMatch(/^HTTP\/1\.1 404 /)
})
