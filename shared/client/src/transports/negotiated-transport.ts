import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { type Transport, type TransportRequest, type TransportResponse, UnsentError } from '../transport.ts'
import { Http1Transport } from './http1-transport.ts'
import { Http2Connection } from './http2-connection.ts'
import { notConnected, type Remote } from './transport-options.ts'

/** Maximum attempts of a request over HTTP/2. A server that closes the session or refuses a stream has not processed the request. */
const attemptsMax = 3
/** Idle time of a connection before the system sends TCP keep-alive probes. */
const keepAliveMs = 30_000

/**
 * Sends requests over HTTP/2, or over HTTP/1.1 if the TLS handshake does not select HTTP/2. One connection carries all requests;
 * another one is opened if the server accepts no more streams, closes the connection, or the connection breaks.
 */
export class NegotiatedTransport implements Transport {
  readonly #remote: Remote
  readonly #http1: Http1Transport
  readonly #connections = new Set<Http2Connection>()
  readonly #closing = new AbortController()
  #connecting: Promise<void> | undefined
  #speaksHttp1 = false

  constructor(remote: Remote) {
    this.#remote = remote
    this.#http1 = new Http1Transport(remote)
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#connectionFor(request.signal)
      if (connection === undefined) return this.#sendHttp1(request)
      try {
        return await connection.send(request)
      } catch (error) {
        if (!(error instanceof UnsentError) || attempt === attemptsMax) throw error
      }
    }
  }

  close(): void {
    this.#closing.abort()
    this.#http1.close()
    for (const connection of this.#connections) connection.close(aborted(this.#closing.signal))
  }

  /** A server that was unreachable may use another protocol when it returns. */
  async #sendHttp1(request: TransportRequest): Promise<TransportResponse> {
    try {
      return await this.#http1.send(request)
    } catch (error) {
      if (error instanceof UnsentError) this.#speaksHttp1 = false
      throw error
    }
  }

  /** A connection that accepts a request, or undefined if the server uses HTTP/1.1. */
  async #connectionFor(signal: AbortSignal | undefined): Promise<Http2Connection | undefined> {
    for (;;) {
      for (const one of [this.#closing.signal, signal]) if (one?.aborted === true) throw aborted(one)
      if (this.#speaksHttp1) return undefined
      const connections = [...this.#connections]
      const free = connections.find(({ hasRoom }) => hasRoom)
      if (free !== undefined) return free
      const opening = connections.find(({ isOpening }) => isOpening)
      if (opening !== undefined) {
        await orAborted(opening.ready, signal)
        continue
      }
      this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = undefined
      })
      await orAborted(this.#connecting, signal)
    }
  }

  async #connect(): Promise<void> {
    const socket = await this.#openSocket()
    if (socket.alpnProtocol === 'h2') {
      this.#connections.add(new Http2Connection(this.#remote, socket, (closed) => this.#connections.delete(closed)))
      return
    }
    this.#speaksHttp1 = true
    this.#http1.offer(socket)
  }

  #openSocket(): Promise<TLSSocket> {
    const { host, port, lookup, connectMsMax } = this.#remote
    const { signal } = this.#closing
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port,
        ...(lookup === undefined ? {} : { lookup }),
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...this.#remote.tls(),
        ALPNProtocols: ['h2', 'http/1.1'],
      })
      const late = connectMsMax === undefined ? undefined : setTimeout(() => socket.destroy(notConnected(connectMsMax)), connectMsMax)
      const close = () => socket.destroy(aborted(signal))
      signal.addEventListener('abort', close)
      const settle = () => {
        clearTimeout(late)
        signal.removeEventListener('abort', close)
      }
      // The listener stays: without it, an error on an unused connection would be uncaught.
      socket.on('error', (error) => reject(signal.aborted ? error : new UnsentError(error)))
      socket.once('close', () => {
        settle()
        reject(new UnsentError(new Error('socket hang up')))
      })
      socket.once('secureConnect', () => {
        settle()
        resolve(socket.setNoDelay().setKeepAlive(true, keepAliveMs))
      })
    })
  }
}

/** Waits for the promise or until the signal is raised. */
async function orAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise
  const { promise: given, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(aborted(signal))
  signal.addEventListener('abort', giveUp)
  try {
    await Promise.race([promise, given])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** The error with which Node rejects an aborted request. */
function aborted({ reason }: AbortSignal): Error {
  return Object.assign(new Error('The operation was aborted', { cause: reason }), { name: 'AbortError', code: 'ABORT_ERR' })
}
