import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { type ClientOptions, WebSocket as WsClient } from 'ws'
import { aName, aNamespace, configMap, configMapsIn, created, sharedApi, someConfigMaps, untilEverywhere } from './api.ts'

const server = sharedApi()

interface Message {
  readonly text: string
  readonly isBinary: boolean
}

/** A client of a watch that keeps messages until the test asks for them. */
function aSocket(target: string, protocols: string[] = [], options: ClientOptions = server.api.credentials) {
  const client = new WsClient(`${server.api.url.replace(/^https/, 'wss')}${target}`, protocols, options)
  const messages: Message[] = []
  const waiting: ((message: Message) => void)[] = []
  client.on('message', (data, isBinary) => {
    const message = { text: (data as Buffer).toString('latin1'), isBinary }
    const first = waiting.shift()
    if (first === undefined) messages.push(message)
    else first(message)
  })
  onTestFinished(() => client.on('error', () => undefined).terminate())
  const next = () => {
    const first = messages.shift()
    return first === undefined ? new Promise<Message>((resolve) => waiting.push(resolve)) : Promise.resolve(first)
  }
  return { client, next }
}

/** The answer to a client whose upgrade was refused. */
async function refusal(client: WsClient): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return { status: response.statusCode, body: JSON.parse(text) }
}

/** A token of a service account that may only read ConfigMaps of this namespace. */
async function aReadersToken(namespace: string): Promise<string> {
  const { api } = server
  const [name, group] = [aName('reader'), 'rbac.authorization.orch.io']
  await created(api, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
  const rbac = `/apis/${group}/v1/namespaces/${namespace}`
  await created(api, `${rbac}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'watch'] }],
  })
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  await created(api, `${rbac}/rolebindings`, { metadata: { name }, subjects, roleRef: { apiGroup: group, kind: 'Role', name } })
  const answer = await api.post(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { spec: {} })
  const { token } = answer.body['status'] as { token: string }
  const headers = { authorization: `Bearer ${token}` }
  const read = () => api.as({})('GET', `${configMapsIn(namespace)}/absent`, { headers })
  await untilEverywhere(read, ({ status }) => status === 404)
  return token
}

function asSubprotocol(token: string | Buffer, domain = 'orch.io'): string {
  return `base64url.bearer.authorization.${domain}.${Buffer.from(token).toString('base64url')}`
}

test('a watch over WebSocket sends each event as one text message, and closes normally at its end', async () => {
  const path = await someConfigMaps(server.api, 'a', 'b')
  const { client, next } = aSocket(`${path}?watch=true`)
  const [response] = (await once(client, 'upgrade')) as [IncomingMessage]
  expect(response.statusCode).toBe(101)
  expect(response.headers['audit-id']).toMatch(/./)
  const { body } = await server.api.get(`${path}/a`)
  const first = await next()
  expect([first.isBinary, first.text.endsWith('}\n'), JSON.parse(first.text)]).toEqual([false, true, { type: 'ADDED', object: body }])
  expect(JSON.parse((await next()).text)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
  await server.api.delete(`${path}/a`)
  expect(JSON.parse((await next()).text)).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } })
  const [code] = (await once(aSocket(`${path}?watch=true&timeoutSeconds=1`).client, 'close')) as [number]
  expect(code).toBe(1000)
})

test('each Protobuf event is one binary message, without the length prefix of a stream', async () => {
  const path = await someConfigMaps(server.api, 'a')
  const type = 'application/vnd.orch.protobuf;stream=watch'
  const streamed = await new Promise<Buffer>((resolve, reject) => {
    const url = new URL(`${server.api.url}${path}?watch=true`)
    const request = httpsRequest(url, { ...server.api.credentials, headers: { accept: type } }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('error', () => undefined)
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        const all = Buffer.concat(chunks)
        if (all.length < 4 || all.length < 4 + all.readUInt32BE()) return
        resolve(all)
        request.destroy()
      })
    })
    request.on('error', reject).end()
  })
  const { next } = aSocket(`${path}?watch=true`, [], { ...server.api.credentials, headers: { accept: type } })
  const { text, isBinary } = await next()
  expect([isBinary, Buffer.from(text, 'latin1')]).toEqual([true, streamed.subarray(4)])
})

test('client messages are ignored, pings are answered, and a message that is too long ends the watch', async () => {
  const path = await someConfigMaps(server.api)
  const { client, next } = aSocket(`${path}?watch=true`)
  await once(client, 'open')
  client.send('hello')
  const pong = once(client, 'pong')
  client.ping('there?')
  expect(String((await pong)[0])).toBe('there?')
  await created(server.api, path, configMap({ name: 'a' }))
  expect(JSON.parse((await next()).text)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
  const closed = once(client, 'close')
  client.send('x'.repeat(64 * 1024 + 1))
  expect((await closed)[0]).toBe(1009)
})

test('a WebSocket is refused with the status of the watch: parameters, users, and other namespaces', async () => {
  const [own, other] = [await aNamespace(server.api), await aNamespace(server.api)]
  const wrong = await refusal(aSocket(`${configMapsIn(own)}?watch=true&resourceVersionMatch=Exact`).client)
  expect(wrong).toMatchObject({ status: 422, body: { kind: 'Status', reason: 'Invalid' } })
  const { ca } = server.api.credentials
  const headers = { authorization: `Bearer ${await aReadersToken(own)}` }
  const { client } = aSocket(`${configMapsIn(own)}?watch=true`, [], { ca, headers })
  await once(client, 'open')
  const elsewhere = await refusal(aSocket(`${configMapsIn(other)}?watch=true`, [], { ca, headers }).client)
  expect(elsewhere).toMatchObject({ status: 403, body: { kind: 'Status', reason: 'Forbidden' } })
})

test('a WebSocket of Node sends its token as a subprotocol, and another subprotocol is selected', async () => {
  const namespace = await aNamespace(server.api)
  const before = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, server.api.credentials.ca ?? ''])
  const url = `${server.api.url.replace(/^https/, 'wss')}${configMapsIn(namespace)}?watch=true`
  const client = new WebSocket(url, [asSubprotocol(await aReadersToken(namespace)), 'events'])
  onTestFinished(() => client.close())
  const received = once(client, 'message')
  await once(client, 'open')
  expect(client.protocol).toBe('events')
  await created(server.api, configMapsIn(namespace), configMap({ name: 'a' }))
  const [{ data }] = (await received) as [MessageEvent]
  // A controller puts a ConfigMap into every namespace, perhaps before the test's ConfigMap.
  expect(JSON.parse(String(data))).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap' } })
})

test('a token as a subprotocol is accepted once, in the domain of the API, and only for a WebSocket', async () => {
  const namespace = await aNamespace(server.api)
  const token = await aReadersToken(namespace)
  const path = `${configMapsIn(namespace)}?watch=true`
  const { ca } = server.api.credentials
  const statusOf = async (...protocols: string[]) => (await refusal(aSocket(path, protocols, { ca }).client)).status
  expect(await statusOf(asSubprotocol(token), asSubprotocol(`${token}x`), 'events')).toBe(401)
  expect(await statusOf(asSubprotocol(`${token}x`), 'events')).toBe(401)
  expect(await statusOf(asSubprotocol(Buffer.from([0xff, 0xfe])), 'events')).toBe(401)
  // The client sends no credential.
  expect(await statusOf(asSubprotocol(token, 'example.com'), 'events')).toBe(403)
  const headers = { 'sec-websocket-protocol': `${asSubprotocol(token)}, events` }
  expect((await server.api.as({})('GET', path, { headers })).status).toBe(403)
})

test.each([
  ['another version', { 'sec-websocket-version': '8', 'sec-websocket-key': 'x'.repeat(22).concat('==') }],
  ['a key that is none', { 'sec-websocket-version': '13', 'sec-websocket-key': 'short' }],
  ['another protocol', { upgrade: 'spdy/3.1' }],
])('a watch whose handshake has %s is an HTTP stream', async (_what, headers) => {
  const path = await someConfigMaps(server.api, 'a')
  const watch = await server.api.watch(`${path}?watch=true`, { connection: 'Upgrade', upgrade: 'websocket', ...headers })
  expect([watch.status, watch.headers['transfer-encoding']]).toEqual([200, 'chunked'])
  expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
})

test('a request other than a watch is answered as if it did not request a WebSocket', async () => {
  const path = await someConfigMaps(server.api, 'a')
  const { status, body } = await refusal(aSocket(path).client)
  expect(status).toBe(200)
  expect(body).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] })
})

test('a WebSocket that its client closes no longer counts as an open watch', async () => {
  const namespace = await aNamespace(server.api)
  // No other test and no controller opens watches of these in one namespace.
  const [labels, path] = [['resource="limitranges"', 'scope="namespace"'], `/api/v1/namespaces/${namespace}/limitranges?watch=true`]
  const underWay = async () => {
    const lines = (await server.api.getFromEach('/metrics')).flatMap(({ text }) => text.split('\n'))
    const ours = lines.filter((line) => line.startsWith('apiserver_longrunning_requests{') && labels.every((label) => line.includes(label)))
    return ours.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  const { client } = aSocket(path)
  await once(client, 'open')
  await expect.poll(underWay).toBe(1)
  client.close()
  await expect.poll(underWay).toBe(0)
})
