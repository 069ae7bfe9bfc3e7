import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { type TransportRequest, type TransportResponse, UnsentError } from '../transport.ts'
import { headersOf, type Remote, silent } from './transport-options.ts'

/** Maximum number of unread bytes per answer, such as a watch without a reader. */
const streamWindowBytes = 1024 * 1024
/** Maximum number of unread bytes per connection. It is large, so that an unread answer does not block the others. */
const connectionWindowBytes = 1024 * 1024 * 1024
/** Megabytes per session above which Node refuses streams. The number of streams and their windows are the effective limit. */
const sessionMegabytesMax = 1024
/** Number of requests until the server has announced its limit of streams: further requests could wait in the session for ever. */
const streamsAtFirst = 1

/** Interval of pings while answers are pending. A server that has not answered a ping by the next one is unreachable. */
const pingMs = 15_000

/** Requests over one HTTP/2 connection. */
export class Http2Connection {
  readonly #remote: Remote
  readonly #session: ClientHttp2Session
  #streams = 0
  #streamsMax = streamsAtFirst
  /** Resolves when the server has announced its limit of streams, or the connection is closed. */
  readonly ready: Promise<void>
  #isOpening = true
  /** True if further requests use another connection, because an answer over this one was silent for too long. */
  #isLeft = false
  #pings: NodeJS.Timeout | undefined
  #isPingOpen = false

  /** Uses a socket whose TLS handshake has selected HTTP/2. */
  constructor(remote: Remote, socket: TLSSocket, closed: (connection: Http2Connection) => void) {
    const { host, port } = remote
    this.#remote = remote
    this.#session = connect(`https://${host.includes(':') ? `[${host}]` : host}:${port}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: sessionMegabytesMax,
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ready = promise
    const settle = () => {
      this.#isOpening = false
      resolve()
    }
    this.#session.on('error', ignoreError).on('close', () => {
      closed(this)
      settle()
    })
    this.#session.on('connect', () => this.#session.setLocalWindowSize(connectionWindowBytes))
    this.#session.on('remoteSettings', ({ maxConcurrentStreams }) => {
      this.#streamsMax = maxConcurrentStreams ?? Number.POSITIVE_INFINITY
      settle()
    })
    this.#session.unref()
  }

  /** True until the server has announced its number of streams. */
  get isOpening(): boolean {
    return this.#isOpening
  }

  /** True if the connection accepts another request. After GOAWAY it accepts none. */
  get hasRoom(): boolean {
    return !this.#isLeft && !this.#session.closed && !this.#session.destroyed && this.#streams < this.#streamsMax
  }

  /** Rejects with an `UnsentError` if the server has not processed the request. */
  send(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const stream = this.#open(request)
      let failure: Error | undefined
      let isAnswered = false
      stream.on('error', (error: Error) => {
        failure = error
      })
      stream.once('response', (headers) => {
        isAnswered = true
        resolve({ ...headOf(headers), body: bodyOf(stream) })
      })
      stream.once('close', () => {
        this.#closed()
        if (isAnswered) return
        const error = failure ?? brokenOff('before its answer')
        reject(isUnprocessed(stream) && request.signal?.aborted !== true ? new UnsentError(error) : error)
      })
      if (request.body !== undefined) stream.end(request.body)
    })
  }

  /** Ends the connection and its open requests. */
  close(error: Error): void {
    this.#session.destroy(error)
  }

  #open(request: TransportRequest): ClientHttp2Stream {
    const { method, path, body, signal } = request
    const { prefix, silenceMsMax } = this.#remote
    const stream = this.#session.request(
      { ...headersOf(this.#remote, request), ':method': method, ':path': prefix + path },
      { endStream: body === undefined, ...(signal === undefined ? {} : { signal }) },
    )
    this.#streams += 1
    this.#pings ??= setInterval(() => this.#ping(), pingMs).unref()
    this.#session.ref()
    if (silenceMsMax !== undefined) {
      stream.setTimeout(silenceMsMax, () => {
        this.#isLeft = true
        stream.destroy(silent(silenceMsMax))
      })
    }
    return stream
  }

  #ping(): void {
    if (this.#isPingOpen) {
      this.#session.destroy(silent(pingMs))
      return
    }
    this.#isPingOpen = true
    this.#session.ping(() => {
      this.#isPingOpen = false
    })
  }

  #closed(): void {
    this.#streams -= 1
    if (this.#streams > 0) return
    clearInterval(this.#pings)
    this.#pings = undefined
    this.#isPingOpen = false
    if (this.#isLeft) this.#session.destroy()
    else this.#session.unref()
  }
}

/** The first piece is requested at once: Node's iterators refuse a stream that has already been closed, even if all its data has arrived. */
function bodyOf(stream: ClientHttp2Stream): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces: AsyncIterator<Uint8Array> = stream.iterator({ destroyOnReturn: false })
  const first = pieces.next()
  first.catch(ignoreError)
  return readBody(stream, pieces, first)
}

/** The pieces of an answer as they arrive. Leaving the loop cancels the stream. A truncated answer is an error, which Node does not always report. */
async function* readBody(
  stream: ClientHttp2Stream,
  pieces: AsyncIterator<Uint8Array>,
  first: Promise<IteratorResult<Uint8Array>>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let piece = await first; piece.done !== true; piece = await pieces.next()) yield piece.value
    if (!stream.readableEnded) throw brokenOff('in its answer')
  } finally {
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL)
  }
}

/** True if the request was never sent, the server refused the stream, or its GOAWAY excludes the stream. */
function isUnprocessed(stream: ClientHttp2Stream): boolean {
  return stream.id === undefined || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
}

function brokenOff(where: string): Error {
  return Object.assign(new Error(`the server closed the connection ${where}`), { code: 'ECONNRESET' })
}

function headOf(fields: IncomingHttpHeaders): Omit<TransportResponse, 'body'> {
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith(':')) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return { status: Number(fields[':status']), headers }
}

/** A session's errors are reported by its streams. */
function ignoreError(): void {}
