import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { memo } from '@orch/core/memo'
import { limits } from '../limits.ts'
import {
  type BodyOutcome,
  collectBody,
  describeBody,
  type Exchange,
  type HeaderFields,
  headerText,
  lengthOf,
  type Peer,
  type Upgrade,
} from './exchange.ts'

const noNames: readonly string[] = []

/** The shared state of the exchanges of one server. */
export interface Http1Server {
  readonly isDraining: boolean
  /** Connections that are closed unless their clients send another request. */
  readonly leaving: Map<Socket, NodeJS.Timeout>
}

/** An exchange over HTTP/1.1. */
export class Http1Exchange implements Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  peer: Peer
  /** Set by the listener, for a request with an upgrade. */
  upgrade: Upgrade | undefined
  readonly #server: Http1Server
  /** Headers that are no longer needed. */
  #dropped: readonly string[] = noNames
  /** The connection is closed after this answer. */
  #closesConnection = false
  #problem: string | undefined

  constructor(request: IncomingMessage, response: ServerResponse, peer: Peer, server: Http1Server) {
    if (server.isDraining) stay(request.socket, server)
    this.#server = server
    this.#request = request
    this.#response = response
    this.peer = peer
    request.on('error', ignoreError)
    response.on('error', ignoreError)
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get target(): string {
    return this.#request.url ?? ''
  }

  get remoteAddress(): string {
    return this.#request.socket.remoteAddress ?? ''
  }

  get connection(): object {
    return this.#request.socket
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** Only allows a refusal, after which the connection ends. */
  refuse(problem: string): void {
    this.#problem = problem
    this.#closesConnection = true
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  get waitingBytes(): number {
    return this.#response.writableLength
  }

  header(name: string): string | undefined {
    return this.#dropped.includes(name) ? undefined : headerText(this.#request.headers[name])
  }

  headerValues(name: string): readonly string[] {
    return this.#dropped.includes(name) ? [] : (this.#request.headersDistinct[name] ?? [])
  }

  headerNames(): readonly string[] {
    const names = Object.keys(this.#request.headers)
    return this.#dropped.length === 0 ? names : names.filter((name) => !this.#dropped.includes(name))
  }

  dropHeaders(names: readonly string[]): void {
    // Node creates its second set of headers when it is accessed, and an object from which a member is deleted becomes slow.
    this.#dropped = [...this.#dropped, ...names]
  }

  get announcedBytes(): number | undefined {
    const { 'content-length': length, 'transfer-encoding': encoding } = this.#request.headers
    if (length !== undefined) return lengthOf(length)
    return encoding === undefined ? 0 : undefined
  }

  async readBody(bytesMax: number): Promise<BodyOutcome> {
    const announced = this.announcedBytes ?? 0
    // A client that is answered before its body is complete sends bytes that are no longer read.
    this.#closesConnection = true
    const outcome: BodyOutcome = announced > bytesMax ? { kind: 'tooLarge' } : await collectBody(this.#request, bytesMax)
    this.#closesConnection = outcome.kind !== 'body'
    return outcome
  }

  bodyStream(): Readable {
    this.#closesConnection = true
    this.#request.once('end', () => {
      this.#closesConnection = false
    })
    return this.#request
  }

  send(code: number, headers: HeaderFields, body: Uint8Array | string): void {
    if (this.isClosed) return
    describeBody(code, headers, body)
    this.#writeHead(code, headers)
    if (this.#request.method === 'HEAD') this.#response.end()
    else this.#response.end(body)
  }

  begin(code: number, headers: HeaderFields): void {
    if (this.isClosed) return
    const response = this.#response
    // Trailers need chunks.
    if (headers['content-length'] !== undefined || !response.useChunkedEncodingByDefault) delete headers['trailer']
    this.#writeHead(code, headers)
    // The writes of this turn are sent together with the head.
    response.cork()
    response.flushHeaders()
    process.nextTick(() => response.uncork())
  }

  write(bytes: Uint8Array | string, onTaken?: () => void): boolean {
    return this.isClosed || this.#response.write(bytes, onTaken)
  }

  writeShared(bytes: Uint8Array, onTaken?: () => void): void {
    if (this.isClosed) return
    const { socket, chunkedEncoding, writableCorked } = this.#response
    // Without a socket an earlier answer of this connection is incomplete; without chunks the client speaks HTTP/1.0; and earlier writes
    // of this tick may still wait to be joined.
    const isDirect = socket?.writable === true && chunkedEncoding && writableCorked === 0 && bytes.length > 0
    if (isDirect) socket.write(chunkOf(bytes), onTaken)
    else this.#response.write(bytes, onTaken)
  }

  drained(): Promise<void> {
    return drainOf(this.#response, this.isClosed)
  }

  end(trailers?: HeaderFields): void {
    if (this.isClosed) return
    if (trailers !== undefined)
      this.#response.addTrailers(Object.entries(trailers).map(([name, value]): [string, string] => [name, headerText(value) ?? '']))
    if (this.#server.isDraining) this.#response.once('finish', () => leave(this.#request.socket, this.#server))
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }

  destroyConnection(): void {
    this.#request.socket.destroy()
  }

  stopReading(): void {
    this.#request.socket.pause()
  }

  onClose(callback: () => void): void {
    callAtClose(callback, this.#response, this.#response.closed || this.#request.socket.destroyed)
  }

  #writeHead(code: number, headers: HeaderFields): void {
    if (this.#closesConnection || this.#server.isDraining) headers.connection = 'close'
    this.#response.writeHead(code, headers)
  }
}

/**
 * An answer that began before the drain could not announce that it is the last on its connection. Its client may have sent the next request already,
 * which is answered with the announcement; an immediate close would lose it.
 */
function leave(socket: Socket, { leaving }: Http1Server): void {
  const timer = setTimeout(() => {
    leaving.delete(socket)
    socket.destroySoon()
  }, limits.leavingPauseMs)
  timer.unref()
  leaving.set(socket, timer)
}

function stay(socket: Socket, { leaving }: Http1Server): void {
  clearTimeout(leaving.get(socket))
  leaving.delete(socket)
}

/** A client that disconnects is an ordinary end, which `close` reports. */
function ignoreError(): void {}

/** Calls back once at `close`; an emitter that has closed does not emit it again. */
export function callAtClose(callback: () => void, emitter: EventEmitter, hasClosed: boolean): void {
  if (hasClosed) queueMicrotask(callback)
  else emitter.once('close', callback)
}

/** Resolves at the next `drain` or `close`. */
export function drainOf(target: NodeJS.WritableStream, isClosed: boolean): Promise<void> {
  if (isClosed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      target.off('drain', done).off('close', done)
      resolve()
    }
    target.on('drain', done).on('close', done)
  })
}

const lineEnd = '\r\n'

/**
 * Bytes as one chunk of HTTP/1.1's chunked coding. It is built once for all exchanges that write these bytes, and sent to each socket in one write:
 * `ServerResponse.write` makes four writes, and joins them again for each client.
 */
export const chunkOf: (bytes: Uint8Array) => Uint8Array = memo((bytes: Uint8Array) => {
  const front = bytes.length.toString(16) + lineEnd
  const chunk = Buffer.allocUnsafe(front.length + bytes.length + lineEnd.length)
  chunk.write(front, 'latin1')
  chunk.set(bytes, front.length)
  chunk.write(lineEnd, front.length + bytes.length, 'latin1')
  return chunk
})
