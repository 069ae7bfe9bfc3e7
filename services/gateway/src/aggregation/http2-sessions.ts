import type { RequestOptions } from 'node:https'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import { ended, type Guard, onAbort, unlessAborted } from '@orch/platform'
import { type Address, openedSocket } from '@orch/platform/webhooks'
import { Http2Session, streamsAtFirst } from './http2-session.ts'

/** The route to a remote server: a session, a new connection for HTTP/1.1, or the agent. */
export type Reached =
  | { readonly kind: 'http2'; readonly session: Http2Session; readonly isReused: boolean }
  | { readonly kind: 'http1'; readonly socket?: TLSSocket }

/** Node accepts a TLS context in the options of a request, although its types omit it. */
type SecureOptions = RequestOptions & Pick<Address, 'open'> & { readonly secureContext?: SecureContext }

/** The sessions of one address under the same TLS settings. */
interface Server {
  readonly sessions: Set<Http2Session>
  connecting: Promise<Reached> | undefined
  speaksHttp1: boolean
  /** Streams of one session, by the last settings of the server. */
  streamsMax: number
}

/** Maximum duration of connecting. */
const connectMsMax = 30_000
/** Silence after which the system probes the peer of a connection. */
const keepAliveMs = 30_000
/** Maximum number of cached servers; the oldest without a session is dropped. */
const serversMax = 1_000

/**
 * HTTP/2 sessions with remote servers. The first TLS handshake shows if a server supports it; a session carries as many requests as the server allows,
 * and another one is opened beyond.
 */
export class Http2Sessions {
  readonly #guard: Guard
  readonly #servers = new Map<string, Server>()
  readonly #ending = new AbortController()

  constructor(guard: Guard) {
    this.#guard = guard
  }

  /** `key` identifies an address with its TLS settings. Rejects if the connection fails. */
  async reach(key: string, options: RequestOptions): Promise<Reached> {
    const server = this.#serverOf(key)
    for (;;) {
      if (server.speaksHttp1) return { kind: 'http1' }
      for (const session of server.sessions) if (session.hasRoom) return { kind: 'http2', session, isReused: true }
      if (server.connecting !== undefined) await unlessAborted(server.connecting, options.signal)
      else {
        server.connecting = this.#connect(key, server, options).finally(() => {
          server.connecting = undefined
        })
        return unlessAborted(server.connecting, options.signal)
      }
    }
  }

  close(): void {
    this.#ending.abort(ended)
    for (const { sessions } of this.#servers.values()) for (const session of sessions) session.destroy()
  }

  #serverOf(key: string): Server {
    const known = this.#servers.get(key)
    if (known !== undefined) return known
    for (const [other, { sessions, connecting }] of this.#servers) {
      if (this.#servers.size < serversMax) break
      if (sessions.size === 0 && connecting === undefined) this.#servers.delete(other)
    }
    const made: Server = { sessions: new Set(), connecting: undefined, speaksHttp1: false, streamsMax: streamsAtFirst }
    this.#servers.set(key, made)
    return made
  }

  async #connect(key: string, server: Server, options: RequestOptions): Promise<Reached> {
    const socket = await openSocket(options, this.#ending.signal)
    this.#guard.watch(socket, 'backend', () => socket.destroy())
    if (socket.alpnProtocol !== 'h2') {
      server.speaksHttp1 = true
      return { kind: 'http1', socket }
    }
    const session = new Http2Session({
      authority: authorityOf(options),
      socket,
      guard: this.#guard,
      streamsMax: server.streamsMax,
      onStreamsMax: (streamsMax) => {
        server.streamsMax = streamsMax
      },
      onClosed: (closed) => {
        server.sessions.delete(closed)
        if (server.sessions.size === 0 && server.connecting === undefined) this.#servers.delete(key)
      },
    })
    server.sessions.add(session)
    return { kind: 'http2', session, isReused: false }
  }
}

/** `host:port` in the form of a header. */
export function authorityOf({ host, port }: RequestOptions): string {
  return host?.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function openSocket(options: SecureOptions, signal: AbortSignal): Promise<TLSSocket> {
  const { host, port, lookup, servername, rejectUnauthorized, secureContext } = options
  const opened = openedSocket(options)
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: host ?? '',
      port: Number(port),
      ALPNProtocols: ['h2', 'http/1.1'],
      ...(lookup === undefined ? {} : { lookup }),
      ...(opened && { socket: opened }),
      ...{ servername, rejectUnauthorized, secureContext },
    })
    const end = () => socket.destroy(new Error('the server is stopping'))
    const late = setTimeout(
      () => socket.destroy(Object.assign(new Error(`dial tcp ${host}:${port}: i/o timeout`), { code: 'ETIMEDOUT' })),
      connectMsMax,
    )
    onAbort(signal, end)
    socket.once('close', () => {
      clearTimeout(late)
      signal.removeEventListener('abort', end)
      reject(new Error('socket hang up'))
    })
    socket.on('error', reject)
    socket.once('secureConnect', () => {
      clearTimeout(late)
      resolve(socket.setNoDelay().setKeepAlive(true, keepAliveMs))
    })
  })
}
