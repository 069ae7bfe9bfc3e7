import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type IncomingHttpHeaders } from 'node:http2'
import { checkServerIdentity } from 'node:tls'
import { type Metadata, status } from '@grpc/grpc-js'
import { messageOf, systemClock, type Timer } from '@orch/platform'
import { afterPatience, announcedName } from '@orch/platform/rpc'
import { limits } from '../limits.ts'

/** The server of a connection, and the TLS files for it. */
export interface DirectConnectionOptions {
  /** `https://host:port` */
  readonly server: string
  /** Contents of PEM files. */
  readonly tls?:
    | { readonly ca?: Buffer | undefined; readonly certificate?: Buffer | undefined; readonly key?: Buffer | undefined }
    | undefined
}

/**
 * Unary gRPC calls to one etcd member over a separate HTTP/2 connection. Each commit makes one call; `@grpc/grpc-js` needs twice the CPU for it.
 * Error messages have the format of that library: `14 UNAVAILABLE: …`.
 *
 * The first call opens the connection. The error of an unsent call contains `No connection established`; after any other error etcd may have executed
 * the call.
 */
export class DirectConnection {
  readonly #options: DirectConnectionOptions
  readonly #headers: Readonly<Record<string, string>>
  /** The session for new calls. */
  #session: ClientHttp2Session | undefined
  #dialling: Promise<ClientHttp2Session> | undefined
  /** Consecutive unanswered calls of the current session. */
  #failures = 0
  #isClosed = false

  constructor(options: DirectConnectionOptions) {
    this.#options = options
    const { host, protocol } = new URL(options.server)
    this.#headers = {
      ':method': 'POST',
      ':scheme': protocol.slice(0, -1),
      ':authority': host,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': `${limits.etcdMemberTimeoutMs}m`,
    }
  }

  /** The bytes of the answer. */
  async call(path: string, message: Buffer, metadata: Metadata): Promise<Buffer> {
    const session = this.#session ?? (await this.#dial())
    const answer = new Answer(this.#request(session, { ...metadata.getMap(), ':path': path }), message)
    try {
      return await answer.bytes
    } finally {
      this.#note(session, answer.hasBegun)
    }
  }

  #request(session: ClientHttp2Session, headers: object): ClientHttp2Stream {
    try {
      return session.request({ ...this.#headers, ...headers })
    } catch (error) {
      // The session has just ended.
      this.#drop(session)
      throw notConnected(messageOf(error))
    }
  }

  close(): void {
    this.#isClosed = true
    this.#session?.close()
    this.#session = undefined
  }

  /** Replaces a session that does not answer. A damaged TLS record or an unreachable server causes no event. */
  #note(session: ClientHttp2Session, hasAnswered: boolean): void {
    // Late failures of a previous session do not count for the current one.
    if (session !== this.#session) return
    this.#failures = hasAnswered ? 0 : this.#failures + 1
    if (this.#failures >= limits.etcdFailuresMax) session.destroy()
    if (session.destroyed || session.closed) this.#drop(session)
  }

  #drop(session: ClientHttp2Session): void {
    if (this.#session === session) this.#session = undefined
  }

  #dial(): Promise<ClientHttp2Session> {
    if (this.#isClosed) return Promise.reject(failure(status.UNAVAILABLE, 'Channel closed before call started'))
    this.#dialling ??= this.#open().finally(() => {
      this.#dialling = undefined
    })
    return this.#dialling
  }

  #open(): Promise<ClientHttp2Session> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>()
    const session = connect(this.#options.server, { ...this.#security(), maxSessionMemory: Number.MAX_SAFE_INTEGER })
    const fail = (reason: string) => {
      timer.cancel()
      this.#drop(session)
      reject(notConnected(reason))
    }
    const timer = afterPatience(systemClock, limits.etcdMemberTimeoutMs, () => {
      fail('no answer in time')
      session.destroy()
    })
    session.on('connect', () => {
      timer.cancel()
      this.#failures = 0
      if (this.#isClosed) session.close()
      else this.#session = session
      resolve(session)
    })
    session.on('error', (error) => fail(messageOf(error)))
    session.on('goaway', () => this.#drop(session))
    session.on('close', () => fail('closed'))
    return promise
  }

  #security(): object {
    const { server, tls = {} } = this.#options
    const { hostname, protocol } = new URL(server)
    if (protocol === 'http:') return {}
    const host = hostname.replace(/^\[|\]$/g, '')
    const { ca, certificate: cert, key } = tls
    const own = cert === undefined || key === undefined ? {} : { cert, key }
    return {
      ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
      ...own,
      servername: announcedName(host),
      checkServerIdentity: (_: string, certificate: Parameters<typeof checkServerIdentity>[1]) => checkServerIdentity(host, certificate),
    }
  }
}

/** The bytes before a gRPC message: 0 for uncompressed, then its length. */
const prefixBytes = 5

/** The answer to one call; its promise rejects after `etcdMemberTimeoutMs`. */
class Answer {
  readonly bytes: Promise<Buffer>
  /** Headers have been received. */
  hasBegun = false
  readonly #stream: ClientHttp2Stream
  readonly #parts: Buffer[] = []
  readonly #resolve: (bytes: Buffer) => void
  readonly #reject: (error: Error) => void
  readonly #timer: Timer
  #status: IncomingHttpHeaders | undefined

  constructor(stream: ClientHttp2Stream, message: Buffer) {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    this.bytes = promise
    this.#stream = stream
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = afterPatience(systemClock, limits.etcdMemberTimeoutMs, () => this.#giveUp())
    stream.on('response', (headers) => this.#begin(headers))
    stream.on('data', (part: Buffer) => this.#parts.push(part))
    stream.on('trailers', (trailers) => {
      this.#status = trailers
    })
    stream.on('error', (error) => this.#fail(status.UNAVAILABLE, messageOf(error)))
    stream.on('close', () => this.#end())
    const framed = Buffer.allocUnsafe(prefixBytes + message.length)
    framed[0] = 0
    framed.writeUInt32BE(message.length, 1)
    message.copy(framed, prefixBytes)
    stream.end(framed)
  }

  #begin(headers: IncomingHttpHeaders): void {
    this.hasBegun = true
    // An error answer may consist of headers only.
    if (headers['grpc-status'] !== undefined) this.#status = headers
    else if (Number(headers[':status']) !== 200) this.#fail(status.UNAVAILABLE, `HTTP status ${headers[':status']}`)
  }

  #end(): void {
    const { 'grpc-status': code, 'grpc-message': text = '' } = this.#status ?? {}
    if (code === undefined) this.#fail(status.UNAVAILABLE, 'the connection was lost')
    else if (Number(code) !== status.OK) this.#fail(Number(code), decoded(String(text)))
    else this.#succeed()
  }

  #succeed(): void {
    const [first = empty] = this.#parts
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first
    if (bytes.length < prefixBytes || bytes[0] !== 0 || bytes.readUInt32BE(1) !== bytes.length - prefixBytes) {
      this.#fail(status.INTERNAL, 'the answer is not one message')
      return
    }
    this.#timer.cancel()
    this.#resolve(bytes.subarray(prefixBytes))
  }

  #giveUp(): void {
    this.#fail(status.DEADLINE_EXCEEDED, 'Deadline exceeded')
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  #fail(code: status, details: string): void {
    this.#timer.cancel()
    this.#reject(failure(code, details))
  }
}

const empty = Buffer.alloc(0)

function failure(code: status, details: string): Error {
  return new Error(`${code} ${status[code]}: ${details}`)
}

/** The call was not sent. */
function notConnected(reason: string): Error {
  return failure(status.UNAVAILABLE, `No connection established. Last error: ${reason}`)
}

/** Decodes `grpc-message`, which is percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
