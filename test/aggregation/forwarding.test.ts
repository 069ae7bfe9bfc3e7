import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { type Api, anApi, until } from '../api/api.ts'
import { aFolder } from '../audit/audited.ts'
import { anApiService, apiServices, conditionOf, registered, serviceAt } from './api-services.ts'
import { type Answering, aFlavor, aRemoteServer, flavorsPath, servingFlavors } from './remote-server.ts'

const collection = `${flavorsPath}/namespaces/default/flavors`

/** A server that answers discovery itself and answers requests about flavors as the test says. */
async function opened(answer: Answering, flags: readonly string[] = []) {
  const server = await aRemoteServer((arrived, response) =>
    (arrived.url.startsWith(collection) ? answer : servingFlavors)(arrived, response),
  )
  const api = await anApi({ flags: [serviceAt(server), ...flags] })
  await registered(api, anApiService(server))
  return { server, api }
}

test('AGG-16: the remote server receives the user from this server only, and nothing about the connection of the client', async () => {
  const { server, api } = await opened(servingFlavors)
  await api.send('GET', `${collection}/sweet`, {
    headers: {
      'x-remote-user': 'mallory',
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
      'x-remote-uid': '1',
      'x-forwarded-for': '192.0.2.1',
      'x-own': 'kept',
      connection: 'keep-alive, x-hop',
      'x-hop': 'gone',
      'impersonate-user': 'jane',
      'impersonate-uid': 'u-1',
      'impersonate-group': 'system:masters',
      'impersonate-extra-example.com%2fRole': 'cook',
    },
  })
  const [arrived] = server.asked()
  expect(arrived?.headersDistinct).toMatchObject({
    'x-remote-user': ['jane'],
    'x-remote-uid': ['u-1'],
    'x-remote-group': ['system:masters', 'system:authenticated'],
    'x-remote-extra-example.com%2frole': ['cook'],
    'x-forwarded-for': ['192.0.2.1, 127.0.0.1'],
    'x-forwarded-uri': [`${collection}/sweet`],
    'x-own': ['kept'],
  })
  for (const name of ['x-remote-extra-a', 'x-hop', 'impersonate-user', 'authorization']) expect(arrived?.headers).not.toHaveProperty(name)
})

test('AGG-15: a forbidden request is not forwarded', async () => {
  const { server, api } = await opened(servingFlavors)
  const { status, body } = await api.send('GET', collection, { headers: { 'impersonate-user': 'jane' } })
  expect([status, body['reason']]).toEqual([403, 'Forbidden'])
  expect(server.asked()).toEqual([])
})

test('AGG-20: path, query and body are forwarded unchanged', async () => {
  const { server, api } = await opened(servingFlavors)
  const target = `${collection}?b=2&a=1&a=%7e`
  const { status, body } = await api.post(target, aFlavor('sour'))
  expect([status, body]).toEqual([201, aFlavor('sour')])
  expect(server.asked().map(({ method, url, body: sent }) => [method, url, JSON.parse(sent)])).toEqual([['POST', target, aFlavor('sour')]])
})

test('AGG-20: events of a watch arrive one by one, and the forwarded request ends when the client disconnects', async () => {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const lines: ((line: string) => void)[] = []
  const { api } = await opened((_arrived, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    lines.push((line) => response.write(line))
    response.on('close', resolve)
  })
  const watch = await api.watch(`${collection}?watch=true`)
  for (const name of ['a', 'b']) {
    lines.at(-1)?.(`${JSON.stringify({ type: 'ADDED', object: aFlavor(name) })}\n`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name } } })
  }
  watch.close()
  await over
})

test('AGG-31: an answer has the media type of the remote server', async () => {
  const { api } = await opened((_arrived, response) => {
    response.writeHead(200, {
      'content-type': 'application/json;as=Table',
      'x-of': 'behind',
      'access-control-allow-origin': '*',
      connection: 'x-hop',
      'x-hop': '1',
    })
    response.end('{}')
  })
  const { headers, text } = await api.get(collection, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' })
  expect([headers['content-type'], headers['x-of'], text]).toEqual(['application/json;as=Table', 'behind', '{}'])
  expect([headers['access-control-allow-origin'], headers['x-hop']]).toEqual([undefined, undefined])
})

test.each([
  ['NEG-11', 'Protobuf', 'application/vnd.kubernetes.protobuf'],
  ['NEG-12', 'a Table', 'application/json;as=Table;v=v1;g=meta.orch.io'],
])('%s: %s may be refused by the remote server', async (_id, _what, accept) => {
  const { server, api } = await opened((_arrived, response) => {
    response.writeHead(406, { 'content-type': 'text/plain' })
    response.end('only application/json')
  })
  const { status, text } = await api.get(collection, { accept })
  expect([status, text]).toEqual([406, 'only application/json'])
  expect(server.asked().map(({ headers }) => headers.accept)).toEqual([accept])
})

test.each([
  [[], 502, 'the backend attempted to redirect this request, which is not permitted'],
  [['--aggregator-reject-forwarding-redirect=false'], 302, ''],
])('AGG-22: a redirect is returned, with %j', async (flags, code, words) => {
  const { api } = await opened((_arrived, response) => {
    response.writeHead(302, { location: 'https://elsewhere.example.com/' })
    response.end()
  }, flags)
  const { status, text } = await api.get(collection)
  expect([status, text]).toEqual([code, words])
})

test('AGG-17: a certificate of another authority is refused', async () => {
  const server = await aRemoteServer(servingFlavors)
  const other = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(other))
  const { status, text } = await api.get(collection)
  expect([status, text]).toEqual([503, expect.stringMatching(/^error trying to reach service: /)])
  expect(server.asked()).toEqual([])
})

test('the certificate of the server itself may be the trusted authority', async () => {
  const server = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService({ caBundle: server.servingBundle }))
  expect((await api.get(`${flavorsPath}/flavors`)).status).toBe(200)
})

test('AGG-17: insecureSkipTLSVerify accepts any certificate, with any name', async () => {
  const server = await aRemoteServer(servingFlavors, { dnsNames: ['other.example.com'] })
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server, { caBundle: undefined, insecureSkipTLSVerify: true }))
  expect((await api.get(`${collection}/sweet`)).status).toBe(200)
})

test('AGG-21: an upgrade is forwarded with the user, and both sides send and receive', async () => {
  const { server, api } = await opened(servingFlavors)
  server.onUpgrade = (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ')
    socket.on('data', (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()))
  }
  const { hostname, port } = new URL(api.url)
  const { ca, cert, key } = api.credentials
  const socket = connect({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.write(`GET ${collection}/sweet/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`)
  while (!text.endsWith('hello ')) await once(socket, 'data')
  expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  socket.write('abc')
  while (!text.endsWith('ABC')) await once(socket, 'data')
  const upgraded = server.asked().find(({ url }) => url.endsWith('/exec'))
  expect(upgraded?.headers).toMatchObject({ upgrade: 'echo', 'x-remote-user': expect.stringMatching(/./) })
  socket.destroy()
})

test('AGG-19: an unreachable server is a 503 at once, before its condition is updated', async () => {
  const { server, api } = await opened(servingFlavors)
  await server.stop()
  const { status, text } = await api.get(collection)
  expect(status).toBe(503)
  expect(text).toMatch(/^(error trying to reach service: dial tcp 127\.0\.0\.1:\d+: connect: connection refused|service unavailable)\n$/)
})

test('AGG-11, AGG-17: the discovery request of the server itself has the proxy certificate', async () => {
  const folder = aFolder()
  const server = await aRemoteServer(servingFlavors)
  const { certificate, key } = await server.client('front')
  const [certFile, keyFile] = [join(folder, 'proxy.crt'), join(folder, 'proxy.key')]
  writeFileSync(certFile, certificate)
  writeFileSync(keyFile, key)
  const api = await anApi({ flags: [serviceAt(server), `--proxy-client-cert-file=${certFile}`, `--proxy-client-key-file=${keyFile}`] })
  await registered(api, anApiService(server))
  expect(server.arrived[0]).toMatchObject({
    method: 'GET',
    url: flavorsPath,
    caller: 'front',
    headers: { 'x-remote-user': 'system:orch-aggregator', 'x-remote-group': 'system:masters' },
  })
  await api.get(collection)
  expect(server.asked()[0]?.caller).toBe('front')
})

async function unavailableFor(api: Api, spec: object): Promise<unknown> {
  const { status } = await api.post(apiServices, anApiService({ caBundle: '' }, { caBundle: undefined, ...spec }))
  expect(status).toBe(201)
  const { reason, message } = await conditionOf(api, 'v1alpha1.taste.example.com', (condition) => condition['status'] === 'False')
  return [reason, message]
}

test('AGG-10, AGG-12: a Service that is missing, and then exists, changes the condition', async () => {
  const api = await anApi()
  expect(await unavailableFor(api, { service: { namespace: 'default', name: 'api' } })).toEqual([
    'ServiceNotFound',
    'service/api in "default" is not present',
  ])
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'api' }, spec: { ports: [{ port: 80 }] } }
  expect((await api.post('/api/v1/namespaces/default/services', service)).status).toBe(201)
  await conditionOf(api, 'v1alpha1.taste.example.com', ({ reason }) => reason === 'ServicePortError')
  await api.patch('/api/v1/namespaces/default/services/api', { spec: { ports: [{ port: 443 }] } })
  await conditionOf(api, 'v1alpha1.taste.example.com', ({ reason }) => reason === 'EndpointsNotFound')
  const metrics = await until(
    () => api.get('/metrics'),
    ({ text }) => text.includes('aggregator_unavailable_apiservice{'),
  )
  expect(metrics.text).toContain('aggregator_unavailable_apiservice{name="v1alpha1.taste.example.com"} 1')
})

test('a document of a hundred megabytes is forwarded in pieces', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const { api } = await opened((_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    let left = 100
    const write = () => {
      while (left > 0) {
        left -= 1
        if (!response.write(piece)) return void response.once('drain', write)
      }
      response.end()
    }
    write()
  })
  const { status, text } = await api.get(collection)
  expect([status, text.length]).toEqual([200, 100 * piece.length])
})
