import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { Duplex } from 'node:stream'
import type { RunningServer } from 'orch'
import { onTestFinished } from 'vitest'
import { WebSocket as WsClient } from 'ws'
import { credentialsOf } from '../identity/call.ts'
import { SpdyClient } from './spdy-client.ts'

export type Refusal = Awaited<ReturnType<typeof refusalOf>>

const spdyHeaders = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }

/** A SPDY tunnel, or the refusal to open it. */
export async function spdyTo(
  server: Pick<RunningServer, 'url' | 'kubeconfig'>,
  path: string,
  { method = 'POST', headers = {} }: { readonly method?: string; readonly headers?: OutgoingHttpHeaders } = {},
): Promise<
  | { readonly kind: 'open'; readonly client: SpdyClient; readonly headers: IncomingMessage['headers'] }
  | ({ readonly kind: 'refused' } & Refusal)
> {
  const sent = request(new URL(path, server.url), {
    method,
    headers: { ...spdyHeaders, ...headers },
    ...(await credentialsOf(server)),
    agent: false,
  })
  const upgraded = once(sent, 'upgrade') as Promise<[IncomingMessage, Duplex]>
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.end()
  const [response, socket] = await Promise.race([upgraded, answered])
  if (socket === undefined) return { kind: 'refused', ...(await refusalOf(response)) }
  onTestFinished(() => void socket.destroy())
  return { kind: 'open', client: new SpdyClient(socket), headers: response.headers }
}

async function refusalOf(response: IncomingMessage) {
  let body = ''
  for await (const chunk of response) body += String(chunk)
  return { code: response.statusCode ?? 0, body, headers: response.headers }
}

/** Runs a command over SPDY. Sends all of `stdin` and then ends it. */
export async function execBySpdy(
  server: Pick<RunningServer, 'url' | 'kubeconfig'>,
  path: string,
  options: { readonly stdin?: string; readonly protocol?: string } = {},
) {
  const { stdin, protocol = 'v4.channel.k8s.io' } = options
  const tunnel = await spdyTo(server, path, { headers: { 'x-stream-protocol-version': protocol } })
  if (tunnel.kind === 'refused') throw new Error(`${tunnel.code}: ${tunnel.body}`)
  const { client } = tunnel
  const query = new URL(path, server.url).searchParams
  const open = (streamtype: string) => client.open({ streamtype })
  const error = open('error')
  const input = query.get('stdin') === 'true' ? open('stdin') : 0
  const output = query.get('stdout') === 'true' ? open('stdout') : 0
  const errors = query.get('stderr') === 'true' ? open('stderr') : 0
  if (query.get('tty') === 'true') client.write(open('resize'), '{"Width":80,"Height":24}\n')
  if (stdin !== undefined) client.write(input, stdin, true)
  await client.until(() => false)
  return { stdout: client.textOf(output), stderr: client.textOf(errors), error: client.textOf(error) }
}

/** SPDY in the binary messages of a WebSocket. No library opens it, because its subprotocol is not a valid token. */
export async function tunnelTo(
  server: Pick<RunningServer, 'url' | 'kubeconfig'>,
  path: string,
  subprotocol: string,
): Promise<{ readonly client: SpdyClient; readonly protocol: string | undefined }> {
  const opening = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', 'sec-websocket-version': '13', 'sec-websocket-protocol': subprotocol }
  const headers = { connection: 'Upgrade', upgrade: 'websocket', ...opening }
  const sent = request(new URL(path, server.url), { headers, ...(await credentialsOf(server)), agent: false }).end()
  const [response, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Duplex]
  onTestFinished(() => void socket.destroy())
  const messages = new Duplex({
    read() {},
    // A client frame with a mask of zeros.
    write(bytes: Buffer, _encoding, done) {
      socket.write(Buffer.concat([Buffer.from([0x82, 0xfe, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0]), bytes]), done)
    },
  })
  let pending = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const isLong = ((pending[1] ?? 0) & 127) === 126
      const start = isLong ? 4 : 2
      const length = isLong ? pending.readUInt16BE(2) : (pending[1] ?? 0)
      if (pending.length < 2 || pending.length < start + length) return
      messages.push(pending.subarray(start, start + length))
      pending = pending.subarray(start + length)
    }
  })
  return { client: new SpdyClient(messages), protocol: response.headers['sec-websocket-protocol'] }
}

/** A WebSocket whose messages belong to channels. */
export interface ChannelClient {
  readonly client: WsClient
  readonly protocol: string
  /** The bytes of a channel so far. */
  textOf(channel: number): string
  /** The channels of the messages, in order. */
  readonly order: readonly number[]
  send(channel: number, text: string): void
  /** Resolves with the close code. */
  readonly closed: Promise<number>
  until(holds: () => boolean): Promise<void>
}

/** Opens a WebSocket; a refusal returns the status code and the text. */
export async function channelsTo(
  server: Pick<RunningServer, 'url' | 'kubeconfig'>,
  path: string,
  protocols: string[],
  headers = {},
): Promise<ChannelClient | Refusal> {
  const client = new WsClient(`${server.url.replace(/^https/, 'wss')}${path}`, protocols, { ...(await credentialsOf(server)), headers })
  onTestFinished(() => client.on('error', () => undefined).terminate())
  const isBase64 = () => client.protocol.includes('base64')
  const texts = new Map<number, string>()
  const order: number[] = []
  const wake: (() => void)[] = []
  const wakeAll = () => {
    for (const resolve of wake.splice(0)) resolve()
  }
  client.on('message', (data) => {
    const bytes = data as Buffer
    const channel = isBase64() ? (bytes[0] ?? 0) - 0x30 : (bytes[0] ?? 0)
    const rest = isBase64() ? Buffer.from(bytes.toString('latin1', 1), 'base64') : bytes.subarray(1)
    order.push(channel)
    texts.set(channel, (texts.get(channel) ?? '') + rest.toString('latin1'))
    wakeAll()
  })
  const closed = new Promise<number>((resolve) => client.once('close', resolve))
  void closed.then(wakeAll)
  const [, response] = (await Promise.race([once(client, 'open'), once(client, 'unexpected-response')])) as [unknown, IncomingMessage?]
  if (response !== undefined) return refusalOf(response)
  return {
    client,
    protocol: client.protocol,
    textOf: (channel) => texts.get(channel) ?? '',
    order,
    send(channel, text) {
      client.send(
        isBase64() ? `${channel}${Buffer.from(text).toString('base64')}` : Buffer.concat([Buffer.from([channel]), Buffer.from(text)]),
      )
    },
    closed,
    async until(holds) {
      while (!holds() && client.readyState === client.OPEN) await new Promise<void>((resolve) => void wake.push(resolve))
    },
  }
}

/** The messages of a WebSocket until the server closes it, or the refusal. */
export async function messagesFrom(server: Pick<RunningServer, 'url' | 'kubeconfig'>, path: string, protocols: string[]) {
  const client = new WsClient(`${server.url.replace(/^https/, 'wss')}${path}`, protocols, await credentialsOf(server))
  onTestFinished(() => client.on('error', () => undefined).terminate())
  const messages: (string | Buffer)[] = []
  client.on('message', (data: Buffer, isBinary) => messages.push(isBinary ? data : String(data)))
  const ended = once(client, 'close') as Promise<[code: number]>
  const [first] = (await Promise.race([ended, once(client, 'unexpected-response').then(([, response]) => [response])])) as [
    number | IncomingMessage,
  ]
  if (typeof first !== 'number') return refusalOf(first)
  return { code: first, messages, protocol: client.protocol }
}
