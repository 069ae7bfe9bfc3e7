import { constants, type IncomingHttpHeaders, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import type { Readable } from 'node:stream'
import { hasMembers } from '@orch/core/json'
import {
  type BodyOutcome,
  collectBody,
  describeBody,
  type Exchange,
  type HeaderFields,
  headerText,
  lengthOf,
  type Peer,
} from './exchange.ts'
import { callAtClose, drainOf } from './http1.ts'

/** An exchange over one stream of an HTTP/2 connection. */
export class Http2Exchange implements Exchange {
  readonly #stream: ServerHttp2Stream
  #headers: IncomingHttpHeaders
  /** Name, value, name, value, as sent. */
  #rawHeaders: readonly string[]
  peer: Peer
  #resetsAfterAnswer = false
  /** Not `writableEnded`: the stream of a HEAD counts as ended before it is answered. */
  #isEnded = false

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[], peer: Peer) {
    this.#stream = stream
    this.#headers = headers
    this.#rawHeaders = rawHeaders
    this.peer = peer
  }

  get method(): string {
    return this.#headers[':method'] ?? ''
  }

  get target(): string {
    // A CONNECT has no path.
    return this.#headers[':path'] ?? ''
  }

  get remoteAddress(): string {
    const { session } = this.#stream
    return session === undefined || session.destroyed ? '' : (session.socket.remoteAddress ?? '')
  }

  get connection(): object {
    return this.#stream.session ?? this.#stream
  }

  get isClosed(): boolean {
    return this.#stream.destroyed || this.#isEnded
  }

  get waitingBytes(): number {
    return this.#stream.writableLength
  }

  header(name: string): string | undefined {
    return headerText(this.#headers[name])
  }

  headerValues(name: string): readonly string[] {
    return this.#rawHeaders.filter((_text, index) => index % 2 === 1 && this.#rawHeaders[index - 1] === name)
  }

  headerNames(): readonly string[] {
    return Object.keys(this.#headers).filter((name) => !name.startsWith(':'))
  }

  dropHeaders(names: readonly string[]): void {
    for (const name of names) delete this.#headers[name]
    this.#rawHeaders = this.#rawHeaders.filter((_text, index) => !names.includes(this.#rawHeaders[index & ~1] ?? ''))
  }

  get announcedBytes(): number | undefined {
    const length = this.#headers['content-length']
    if (length !== undefined) return lengthOf(length)
    return this.#stream.endAfterHeaders ? 0 : undefined
  }

  async readBody(bytesMax: number): Promise<BodyOutcome> {
    const announced = this.announcedBytes ?? 0
    // A client that is answered before its body is complete sends bytes that are no longer read.
    this.#resetsAfterAnswer = true
    const outcome: BodyOutcome = announced > bytesMax ? { kind: 'tooLarge' } : await collectBody(this.#stream, bytesMax)
    this.#resetsAfterAnswer = outcome.kind !== 'body'
    return outcome
  }

  bodyStream(): Readable {
    this.#resetsAfterAnswer = true
    this.#stream.once('end', () => {
      this.#resetsAfterAnswer = false
    })
    return this.#stream
  }

  send(code: number, headers: HeaderFields, body: Uint8Array | string): void {
    if (this.isClosed) return
    describeBody(code, headers, body)
    this.#isEnded = true
    this.#endReading()
    this.#respond(code, headers, { endStream: this.method === 'HEAD', waitForTrailers: false })
    if (this.method === 'HEAD') return
    this.#stream.end(body)
    this.#resetBehindAnswer()
  }

  begin(code: number, headers: HeaderFields): void {
    if (this.isClosed) return
    // Node ends a stream normally before it resets it, so that an interrupted answer would look complete. It waits for trailers first.
    this.#respond(code, headers, { endStream: false, waitForTrailers: true })
    // The answer may last for hours.
    this.#headers = noHeaders
    this.#rawHeaders = []
  }

  write(bytes: Uint8Array | string, onTaken?: () => void): boolean {
    return this.isClosed || this.#stream.write(bytes, onTaken)
  }

  writeShared(bytes: Uint8Array, onTaken?: () => void): void {
    this.write(bytes, onTaken)
  }

  drained(): Promise<void> {
    return drainOf(this.#stream, this.isClosed)
  }

  end(trailers: HeaderFields = {}): void {
    if (this.isClosed) return
    this.#isEnded = true
    this.#endReading()
    this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(trailers))
    this.#stream.end()
    this.#resetBehindAnswer()
  }

  /**
   * Node counts a stream as open until both sides have ended in JavaScript. A client counts until it reads the end, and may then open the next stream,
   * which Node would refuse with ENHANCE_YOUR_CALM at the limit of streams.
   */
  #endReading(): void {
    if (this.#stream.endAfterHeaders) this.#stream.resume()
  }

  /**
   * Only after the last byte was sent. Otherwise Node never resets a stream that is closed without an error and whose connection ends meanwhile: its
   * bytes are dropped, nghttp2 requests them, and gets neither bytes nor an end, in an endless loop that takes all memory.
   */
  #resetBehindAnswer(): void {
    if (!this.#resetsAfterAnswer) return
    const reset = () => this.#stream.close(constants.NGHTTP2_NO_ERROR)
    this.#stream.once('finish', reset)
  }

  destroy(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  destroyConnection(): void {
    const { session } = this.#stream
    if (session === undefined) this.#stream.destroy()
    else session.destroy()
  }

  stopReading(): void {
    const { session } = this.#stream
    if (session === undefined || session.destroyed) return
    // The session reads its socket below the stream, so a pause of the stream would have no effect.
    const socket: unknown = session.socket
    const handle = hasMembers(socket) ? socket['_handle'] : undefined
    if (hasMembers(handle) && typeof handle['readStop'] === 'function') handle['readStop']()
  }

  onClose(callback: () => void): void {
    callAtClose(callback, this.#stream, this.#stream.destroyed)
  }

  #respond(code: number, headers: HeaderFields, how: ServerStreamResponseOptions): void {
    const fields: Record<string, string | string[] | number> = headers
    fields[':status'] = code
    this.#stream.respond(fields, how)
  }
}

const noHeaders: IncomingHttpHeaders = {}
