import type { IncomingMessage, ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { limits } from '../limits.ts'
import type { HeaderFields, Peer, Upgrade } from './exchange.ts'
import { callAtClose, drainOf, Http1Exchange, type Http1Server } from './http1.ts'
import { bearerSubprotocol } from './web-socket-opening.ts'

/** The parts of a WebSocket besides the request and its response. */
export interface WebSocketOpening {
  readonly peer: Peer
  readonly upgrade: Upgrade
  readonly server: Http1Server
}

/**
 * A watch over a WebSocket: its events are sent as messages, one for each event, a large one in fragments. In JSON an event is a text with its newline;
 * in Protobuf a binary message, without the length prefix of a stream. An answer other than a stream, such as a refusal, is an HTTP/1.1 answer. The
 * client's messages are read and ignored.
 */
export class WebSocketExchange extends Http1Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #upgrade: Upgrade
  #webSocket: WebSocket | undefined
  #isText = true
  #events = new EventMessages(true)

  constructor(request: IncomingMessage, response: ServerResponse, { peer, upgrade, server }: WebSocketOpening) {
    super(request, response, peer, server)
    // Messages have no content encoding.
    this.dropHeaders(['accept-encoding'])
    this.#request = request
    this.#response = response
    this.#upgrade = upgrade
  }

  override get isClosed(): boolean {
    if (this.#webSocket === undefined) return super.isClosed
    return this.#webSocket.readyState !== this.#webSocket.OPEN
  }

  override get waitingBytes(): number {
    return this.#webSocket?.bufferedAmount ?? super.waitingBytes
  }

  override begin(_code: number, { 'content-type': contentType = '', ...headers }: HeaderFields): void {
    if (this.isClosed) return
    const { socket, head } = this.#upgrade
    const fields = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`))
    this.#isText = String(contentType).startsWith('application/json')
    this.#events = new EventMessages(this.#isText)
    this.#response.removeAllListeners('finish')
    if (this.#response.socket !== null) this.#response.detachSocket(this.#response.socket)
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: limits.webSocketMessageBytesMax,
      handleProtocols: (offered) => [...offered].find((name) => bearerSubprotocol(name) === undefined) ?? false,
    })
    server.on('headers', (lines) => lines.push(...fields))
    server.handleUpgrade(this.#request, socket, Buffer.from(head), (webSocket) => {
      this.#webSocket = webSocket.on('error', ignoreError)
    })
  }

  override write(bytes: Uint8Array | string, onTaken?: () => void): boolean {
    const webSocket = this.#webSocket
    if (webSocket === undefined || this.isClosed) return true
    const { socket } = this.#upgrade
    socket.cork()
    for (const { bytes: data, isLast } of this.#events.fragmentsIn(bytesOf(bytes)))
      webSocket.send(data, { binary: !this.#isText, fin: isLast }, ignoreError)
    // `onTaken` is called after the last fragment, since the length prefix of an event is not sent.
    if (onTaken !== undefined) socket.write('', onTaken)
    socket.uncork()
    return !socket.writableNeedDrain
  }

  override writeShared(bytes: Uint8Array, onTaken?: () => void): void {
    this.write(bytes, onTaken)
  }

  override drained(): Promise<void> {
    return drainOf(this.#upgrade.socket, this.isClosed)
  }

  override end(): void {
    if (this.#webSocket === undefined) super.end()
    else this.#webSocket.close(normalClosure)
  }

  override destroy(): void {
    this.#upgrade.socket.destroy()
  }

  override onClose(callback: () => void): void {
    const { socket } = this.#upgrade
    callAtClose(callback, socket, socket.destroyed)
  }
}

/** Status of a normal close (RFC 6455, section 7.4.1). */
const normalClosure = 1000
/** A view of the bytes, not a copy. */
function bytesOf(bytes: Uint8Array | string): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A client that disconnects is an ordinary end, which `close` reports. */
function ignoreError(): void {}

const newline = 0x0a
const lengthBytes = 4

/** A fragment of a message, or all of it. */
export interface Fragment {
  readonly bytes: Buffer
  readonly isLast: boolean
}

/**
 * Divides a stream of events into messages, one for each event. An event in several pieces is a message of as many fragments.
 *
 *   '{"a":1}\n{"b"'  ':2}\n'   → message '{"a":1}\n', fragments '{"b"' and ':2}\n'
 */
export class EventMessages {
  readonly #isText: boolean
  /** The received part of the length prefix of an event in Protobuf. */
  #length = Buffer.alloc(0)
  /** Bytes of the event that have not arrived. */
  #left = 0

  /** Events in JSON end with their lines; events in Protobuf begin with their lengths, which are not sent. */
  constructor(isText: boolean) {
    this.#isText = isText
  }

  fragmentsIn(bytes: Buffer): Generator<Fragment, void, undefined> {
    return this.#isText ? linesIn(bytes) : this.#delimitedIn(bytes)
  }

  *#delimitedIn(bytes: Buffer): Generator<Fragment, void, undefined> {
    for (let start = 0; start < bytes.length; ) {
      if (this.#left === 0) {
        const end = Math.min(bytes.length, start + lengthBytes - this.#length.length)
        this.#length = Buffer.concat([this.#length, bytes.subarray(start, end)])
        start = end
        if (this.#length.length < lengthBytes) return
        this.#left = this.#length.readUInt32BE()
        this.#length = Buffer.alloc(0)
        continue
      }
      const part = bytes.subarray(start, start + this.#left)
      this.#left -= part.length
      start += part.length
      yield { bytes: part, isLast: this.#left === 0 }
    }
  }
}

function* linesIn(bytes: Buffer): Generator<Fragment, void, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start) + 1
    yield end === 0 ? { bytes: bytes.subarray(start), isLast: false } : { bytes: bytes.subarray(start, end), isLast: true }
    start = end === 0 ? bytes.length : end
  }
}
