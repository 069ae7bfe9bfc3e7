import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { type Guard, IdleTimer } from '@orch/platform'

/** Unread bytes of one answer. */
const streamWindowBytes = 1024 * 1024
/** Unread bytes of all answers of a session, so that a slow client does not delay others. */
const sessionWindowBytes = 1024 * 1024 * 1024
/** Megabytes beyond which Node refuses streams; the effective bound is streams and their windows. */
const sessionMegabytesMax = 1024
/** Number of streams until the server has sent its settings. */
export const streamsAtFirst = 100
const idleMs = 90_000

/** The connection of a session, with callbacks. */
export interface Http2SessionOptions {
  readonly authority: string
  /** Its handshake has agreed on HTTP/2. */
  readonly socket: TLSSocket
  readonly guard: Guard
  /** Number of streams until the server has sent its settings. */
  readonly streamsMax: number
  readonly onStreamsMax: (streamsMax: number) => void
  readonly onClosed: (session: Http2Session) => void
}

/** One HTTP/2 connection to a remote server. */
export class Http2Session {
  readonly #session: ClientHttp2Session
  readonly #idle: IdleTimer
  #streamsMax: number

  constructor({ authority, socket, guard, streamsMax, onStreamsMax, onClosed }: Http2SessionOptions) {
    this.#streamsMax = streamsMax
    this.#session = connect(`https://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: sessionMegabytesMax,
    })
    guard.watch(this.#session, 'backend', () => void setImmediate(() => this.#session.destroy()))
    this.#session.on('connect', () => this.#session.setLocalWindowSize(sessionWindowBytes))
    this.#session.on('remoteSettings', ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) => {
      this.#streamsMax = maxConcurrentStreams
      onStreamsMax(maxConcurrentStreams)
    })
    this.#idle = new IdleTimer(idleMs, () => this.#session.close())
    // Streams report their own errors.
    this.#session
      .on('error', () => undefined)
      .on('close', () => {
        this.#idle.close()
        onClosed(this)
      })
  }

  /** True if it accepts another request. A server that has sent GOAWAY gets no more. */
  get hasRoom(): boolean {
    return !this.#session.closed && !this.#session.destroyed && this.#idle.users < this.#streamsMax
  }

  /** Opens a stream. */
  request(headers: OutgoingHttpHeaders, options: { readonly endStream: boolean; readonly signal?: AbortSignal }): ClientHttp2Stream {
    const stream = this.#session.request(headers, options)
    this.#idle.begin()
    stream.once('close', this.#idle.end)
    return stream
  }

  /** Ends it with its open requests. */
  destroy(): void {
    this.#session.destroy()
  }
}
