import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Upgrade } from '../exchange/exchange.ts'
import { bearerSubprotocol, offeredSubprotocols, opensWebSocket } from '../exchange/web-socket-opening.ts'
import { limits } from '../limits.ts'
import { CutOff, commonHeaders, type GatewayRequest, PlainRefusal } from '../request/index.ts'

/** The subprotocols that a client offers, in order, without its token. Undefined without a WebSocket request. */
export function offeredChannels({ exchange }: GatewayRequest): string[] | undefined {
  const { upgrade } = exchange
  if (upgrade === undefined || !opensWebSocket(upgrade.request)) return undefined
  return offeredSubprotocols(exchange.header('sec-websocket-protocol')).filter((name) => bearerSubprotocol(name) === undefined)
}

/** The first supported subprotocol of a client, or the default form. Throws the refusal of kubelets. */
export function chooseForm<Form>(
  offered: readonly string[],
  forms: ReadonlyMap<string, Form>,
): { readonly subprotocol: string; readonly form: Form } {
  const subprotocol = offered.length === 0 ? '' : offered.find((name) => forms.has(name))
  const form = subprotocol === undefined ? undefined : forms.get(subprotocol)
  if (subprotocol === undefined || form === undefined) throw new PlainRefusal(403, '')
  return { subprotocol, form }
}

/** Upgrades a connection to WebSocket. `subprotocol` is '' for none. Throws if the client has disconnected. */
export async function openWebSocket(request: GatewayRequest, upgrade: Upgrade, subprotocol: string): Promise<WebSocket> {
  const { socket, head } = upgrade
  // Created lazily, as few servers need it.
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: limits.channelMessageBytesMax })
  const lines = fieldsOf(request)
  if (subprotocol !== '') lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`)
  server.on('headers', (added) => added.push(...lines))
  // The library only selects names that are tokens, unlike SPDY/3.1+portforward.k8s.io.
  const { 'sec-websocket-protocol': _offered, ...headers } = upgrade.request.headers
  const opening = Object.assign(Object.create(upgrade.request), { headers })
  // The library would never answer.
  if (!socket.readable || !socket.writable) {
    socket.destroy()
    throw new CutOff()
  }
  request.code = 101
  return new Promise((resolve) => {
    server.handleUpgrade(opening, socket, Buffer.from(head), (webSocket) => {
      webSocket.on('error', ignoreError)
      // A pong for each ping is written even if the client does not read it.
      webSocket.on('ping', () => void (socket.writableLength > limits.streamUnreadBytesMax && webSocket.terminate()))
      resolve(webSocket)
    })
  })
}

/** The bytes of the binary messages of a WebSocket. */
export async function byteStreamOf(webSocket: WebSocket): Promise<Duplex> {
  const { createWebSocketStream } = await import('ws')
  return createWebSocketStream(webSocket).on('error', ignoreError)
}

/**
 * The common protocol of a client and this server over SPDY, in the client's order. Throws the messages of kubelets. `required` refuses a client without
 * one; otherwise the last of `spoken` is the default.
 */
export function negotiateProtocol({ exchange }: GatewayRequest, spoken: readonly string[], required: boolean): string {
  const values = exchange.headerValues(protocolHeader)
  const offered = values.flatMap((value) => value.split(',')).map((name) => name.trim())
  const names = offered.filter((name) => name !== '')
  if (values.length === 0 && !required) return spoken.at(-1) ?? ''
  if (values.length === 0) throw new PlainRefusal(400, 'unable to upgrade: X-Stream-Protocol-Version is required')
  const found = names.find((name) => spoken.includes(name))
  if (found !== undefined) return found
  const text = `unable to upgrade: unable to negotiate protocol: client supports [${names.join(' ')}], server accepts [${spoken.join(' ')}]`
  throw new PlainRefusal(403, text, { 'x-accepted-stream-protocol-versions': [...spoken] })
}

const protocolHeader = 'x-stream-protocol-version'

/** Upgrades a connection to SPDY/3.1. */
export function openSpdySocket(request: GatewayRequest, { socket }: Upgrade, protocol: string): Duplex {
  if (!/\bspdy\/3\.1\b/i.test(request.exchange.header('upgrade') ?? '')) {
    throw new PlainRefusal(400, 'unable to upgrade: missing upgrade headers in request')
  }
  const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`, ...fieldsOf(request)]
  request.code = 101
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return socket
}

/** The common header fields of an upgrade. */
function fieldsOf(request: GatewayRequest): string[] {
  const { 'content-type': _none, ...headers } = commonHeaders(request, '')
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
}

/** A client that disconnects is an ordinary end, which `close` reports. */
function ignoreError(): void {}
