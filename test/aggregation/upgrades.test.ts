import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer, WebSocket as WsClient, type WebSocket as WsSocket } from 'ws'
import { type Api, anApi } from '../api/api.ts'
import { aFolder } from '../audit/audited.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { aRemoteServer, flavorsPath, type RemoteServer, servingFlavors } from './remote-server.ts'

const execPath = `${flavorsPath}/namespaces/default/flavors/sweet/exec`

async function opened(flags: readonly string[] = []): Promise<{ readonly server: RemoteServer; readonly api: Api }> {
  const server = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server), ...flags] })
  await registered(api, anApiService(server))
  return { server, api }
}

/** Answers each message in the message's own form, as Kubernetes' exec does: one byte for the channel, then data. */
function echoing(server: RemoteServer): { readonly connected: Promise<WsSocket> } {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (asked) => [...asked].at(-1) ?? false })
  const { promise: connected, resolve } = Promise.withResolvers<WsSocket>()
  server.onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, (one) => {
      one.on('message', (data, isBinary) => one.send(data, { binary: isBinary }))
      resolve(one)
    })
  }
  return { connected }
}

/** Controllers also request flavors. */
function askedToExecute(server: RemoteServer) {
  return server.asked().find(({ url }) => url.startsWith(execPath))
}

function webSocketUrl(api: Api): string {
  return `${api.url.replace(/^https/, 'wss')}${execPath}?command=ls`
}

test('AGG-21: a WebSocket is forwarded with its subprotocol, messages in both directions, and its close with code and reason', async () => {
  const { server, api } = await opened()
  const { connected } = echoing(server)
  const client = new WsClient(webSocketUrl(api), ['v4.channel.k8s.io', 'v5.channel.k8s.io'], {
    ...api.credentials,
    headers: { 'x-remote-user': 'mallory', 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
  })
  onTestFinished(() => client.terminate())
  await once(client, 'open')
  expect(client.protocol).toBe('v5.channel.k8s.io')
  // Longer than one TLS record and than both connections' buffers, so that a late reader must wait.
  const long = Buffer.alloc(3 * 1024 * 1024, 'x')
  for (const sent of [Buffer.from('\u0000ls'), long]) {
    client.send(sent)
    const [data, isBinary] = await once(client, 'message')
    expect([Buffer.compare(data as Buffer, sent), isBinary]).toEqual([0, true])
  }
  client.send('text')
  const [text, isBinary] = await once(client, 'message')
  expect([String(text), isBinary]).toEqual(['text', false])
  const pong = once(client, 'pong')
  client.ping('there?')
  expect(String((await pong)[0])).toBe('there?')
  const behind = await connected
  const [ended, closed] = [once(behind, 'close'), once(client, 'close')]
  behind.close(4001, 'done')
  const [[code, reason]] = await Promise.all([closed, ended])
  expect([code, String(reason)]).toEqual([4001, 'done'])
  const asked = askedToExecute(server)
  expect(asked).toMatchObject({ url: `${execPath}?command=ls`, headers: { upgrade: 'websocket', 'x-remote-user': 'jane' } })
  expect(asked?.headers).not.toHaveProperty('impersonate-user')
})

test('AGG-21: a WebSocket of Node with a token reaches the remote server, which does not receive the token', async () => {
  const file = join(aFolder(), 'tokens.csv')
  writeFileSync(file, 'secret-of-jane,jane,u-1,"system:masters"\n')
  const { server, api } = await opened([`--token-auth-file=${file}`])
  const { connected } = echoing(server)
  const before = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(before))
  setDefaultCACertificates([...before, api.credentials.ca ?? ''])
  const token = Buffer.from('secret-of-jane').toString('base64url')
  const client = new WebSocket(webSocketUrl(api), [`base64url.bearer.authorization.orch.io.${token}`, 'v4.channel.k8s.io'])
  await once(client, 'open')
  expect(client.protocol).toBe('v4.channel.k8s.io')
  const received = once(client, 'message')
  client.send('hello')
  expect(await received).toMatchObject([{ data: 'hello' }])
  const asked = askedToExecute(server)
  expect(asked?.headers).toMatchObject({ 'x-remote-user': 'jane', 'sec-websocket-protocol': 'v4.channel.k8s.io' })
  expect(JSON.stringify(asked?.headers)).not.toContain(token)
  const ended = once(await connected, 'close')
  client.close(4000, 'enough')
  const [code, reason] = await ended
  expect([code, String(reason)]).toEqual([4000, 'enough'])
})

test('AGG-21: a user without permission gets a 403 instead of the WebSocket, and nothing reaches the remote server', async () => {
  const { server, api } = await opened()
  echoing(server)
  const client = new WsClient(webSocketUrl(api), { ...api.credentials, headers: { 'impersonate-user': 'jane' } })
  const [, response] = await once(client, 'unexpected-response')
  expect((response as IncomingMessage).statusCode).toBe(403)
  expect(askedToExecute(server)).toBe(undefined)
  client.on('error', () => undefined).terminate()
})

test('AGG-21: an answer of the remote server with a status instead of an upgrade is forwarded', async () => {
  const { server, api } = await opened()
  server.onUpgrade = (_request, socket) => {
    socket.end('HTTP/1.1 409 Conflict\r\nContent-Type: text/plain\r\nX-Of: behind\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy')
  }
  const client = new WsClient(webSocketUrl(api), { ...api.credentials })
  const [, response] = await once(client, 'unexpected-response')
  const { statusCode, headers } = response as IncomingMessage
  let text = ''
  for await (const chunk of response as IncomingMessage) text += String(chunk)
  expect([statusCode, headers['x-of'], text]).toEqual([409, 'behind', 'busy'])
  client.on('error', () => undefined).terminate()
})

const stream = 'SPDY/3.1'

/** The gateway forwards SPDY frames without reading them. These frames only begin correctly. */
function aFrame(number: number): Buffer {
  return Buffer.concat([Buffer.from([0x80, 0x03, 0x00, number, 0x00, 0x00, 0x00, 0xff]), Buffer.alloc(255, number)])
}

async function aConnection(api: Api): Promise<TLSSocket> {
  const { hostname, port } = new URL(api.url)
  const socket = connect({ host: hostname, port: Number(port), ...api.credentials, ALPNProtocols: ['http/1.1'] })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** Reads a connection: first the head, then the wanted number of bytes. */
function readerOf(socket: Duplex) {
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
  })
  const taken = (length: number) => {
    const part = bytes.subarray(0, length)
    bytes = bytes.subarray(length)
    return part
  }
  return {
    async head(): Promise<string> {
      while (!bytes.includes('\r\n\r\n')) await once(socket, 'data')
      return taken(bytes.indexOf('\r\n\r\n') + 4).toString()
    },
    async bytes(length: number): Promise<Buffer> {
      while (bytes.length < length) await once(socket, 'data')
      return taken(length)
    },
  }
}

test('AGG-21: an upgrade to SPDY is forwarded with all its protocols, and bytes after either head are not lost', async () => {
  const { server, api } = await opened()
  const { promise: behind, resolve } = Promise.withResolvers<{ readonly socket: Duplex; readonly head: Buffer }>()
  server.onUpgrade = (_request, socket, head) => {
    const answer = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${stream}\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n`
    socket.write(Buffer.concat([Buffer.from(answer), aFrame(1)]))
    resolve({ socket, head })
  }
  const client = await aConnection(api)
  const front = readerOf(client)
  const head = [
    `POST ${execPath}?command=ls HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    `Upgrade: ${stream}`,
    'X-Stream-Protocol-Version: v4.channel.k8s.io',
    'X-Stream-Protocol-Version: v3.channel.k8s.io',
    'Content-Length: 0',
  ]
  client.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), aFrame(2)]))
  expect(await front.head()).toMatch(/^HTTP\/1\.1 101 .*\r\nUpgrade: SPDY\/3\.1\r\n.*X-Stream-Protocol-Version: v4\.channel\.k8s\.io\r\n/s)
  expect(await front.bytes(aFrame(1).length)).toEqual(aFrame(1))
  const { socket, head: sentEarly } = await behind
  socket.unshift(sentEarly)
  const back = readerOf(socket)
  expect(await back.bytes(aFrame(2).length)).toEqual(aFrame(2))
  client.write(aFrame(3))
  expect(await back.bytes(aFrame(3).length)).toEqual(aFrame(3))
  socket.write(aFrame(4))
  expect(await front.bytes(aFrame(4).length)).toEqual(aFrame(4))
  const asked = askedToExecute(server)
  expect(asked).toMatchObject({ method: 'POST', headers: { connection: 'Upgrade', upgrade: stream } })
  expect(asked?.headersDistinct['x-stream-protocol-version']).toEqual(['v4.channel.k8s.io', 'v3.channel.k8s.io'])
  const ended = once(socket, 'close')
  client.destroy()
  await ended
})

async function anUpgraded(server: RemoteServer, api: Api): Promise<{ readonly client: TLSSocket; readonly behind: Duplex }> {
  const { promise: behind, resolve } = Promise.withResolvers<Duplex>()
  server.onUpgrade = (_request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${stream}\r\n\r\n`)
    resolve(socket)
  }
  const client = await aConnection(api)
  client.write(`POST ${execPath} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${stream}\r\nContent-Length: 0\r\n\r\n`)
  await readerOf(client).head()
  return { client, behind: await behind }
}

test('AGG-21: the end of the remote server ends the upgraded connection of the client', async () => {
  const { server, api } = await opened()
  const { client, behind } = await anUpgraded(server, api)
  const ended = once(client, 'close')
  behind.destroy()
  await ended
  expect(client.destroyed).toBe(true)
})

test('AGG-21: a server that stops ends upgraded connections on both sides', async () => {
  const { server, api } = await opened()
  const { client, behind } = await anUpgraded(server, api)
  const ended = Promise.all([once(client, 'close'), once(behind, 'close')])
  await api.stop()
  await ended
  expect([client.destroyed, behind.destroyed]).toEqual([true, true])
})
