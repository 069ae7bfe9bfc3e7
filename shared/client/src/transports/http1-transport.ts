import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Transport, type TransportRequest, type TransportResponse, UnsentError } from '../transport.ts'
import { headersOf, notConnected, type Remote, silent } from './transport-options.ts'

/** An agent that reuses connections and can take over a connection from another transport. */
class TlsAgent extends HttpsAgent {
  #offered: TLSSocket | undefined
  readonly #taken = new WeakSet<Socket>()

  offer(socket: TLSSocket): void {
    this.#offered?.destroy()
    this.#offered = socket
  }

  /** True if the connection was passed to `offer`. */
  wasOffered(socket: Socket): boolean {
    return this.#taken.has(socket)
  }

  override createConnection(...parameters: Parameters<HttpsAgent['createConnection']>): ReturnType<HttpsAgent['createConnection']> {
    const offered = this.#offered
    this.#offered = undefined
    if (offered === undefined || offered.destroyed) return super.createConnection(...parameters)
    this.#taken.add(offered)
    return offered
  }

  override destroy(): void {
    this.#offered?.destroy()
    super.destroy()
  }
}

/** Sends requests over HTTP/1.1 on connections that are reused. */
export class Http1Transport implements Transport {
  readonly #remote: Remote
  readonly #closing = new AbortController()
  #agent: HttpAgent | undefined

  constructor(remote: Remote) {
    this.#remote = remote
  }

  /** Hands over a connection on which nothing has been sent. */
  offer(socket: TLSSocket): void {
    const agent = this.#openAgent()
    if (agent instanceof TlsAgent && !this.#closing.signal.aborted) agent.offer(socket)
    else socket.destroy()
  }

  send(sent: TransportRequest): Promise<TransportResponse> {
    const { isTls, host, port, prefix, lookup } = this.#remote
    const { method, path, body, signal } = sent
    const agent = this.#openAgent()
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)({
        agent,
        ...(lookup === undefined ? {} : { lookup }),
        host,
        port,
        method,
        path: prefix + path,
        headers: headersOf(this.#remote, sent),
        signal: signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]),
      })
      let isConnected = false
      request.on('socket', (socket) => {
        isConnected = request.reusedSocket || (agent instanceof TlsAgent && agent.wasOffered(socket))
        if (!isConnected) this.#awaitConnection(request, socket, () => (isConnected = true))
      })
      const isGivenUp = () => this.#closing.signal.aborted || signal?.aborted === true
      request.on('error', (error) => reject(isConnected || isGivenUp() ? error : new UnsentError(error)))
      request.on('response', (response) => resolve(toResponse(response)))
      // Node reports no error for an answer that changes the protocol.
      request.on('close', () => reject(new Error('the server has changed the protocol without being asked to')))
      this.#boundSilence(request)
      request.end(body)
    })
  }

  close(): void {
    this.#closing.abort()
    this.#agent?.destroy()
  }

  #openAgent(): HttpAgent {
    this.#agent ??= this.#remote.isTls ? new TlsAgent({ keepAlive: true, ...this.#remote.tls() }) : new HttpAgent({ keepAlive: true })
    return this.#agent
  }

  #awaitConnection(request: ClientRequest, socket: Socket, connected: () => void): void {
    const { isTls, connectMsMax } = this.#remote
    const late = connectMsMax === undefined ? undefined : setTimeout(() => request.destroy(notConnected(connectMsMax)), connectMsMax)
    socket.once('close', () => clearTimeout(late))
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(late)
      connected()
    })
  }

  #boundSilence(request: ClientRequest): void {
    const { silenceMsMax } = this.#remote
    if (silenceMsMax === undefined) return
    let answer: IncomingMessage | undefined
    request.on('response', (response) => {
      answer = response
    })
    request.setTimeout(silenceMsMax, () => {
      const error = silent(silenceMsMax)
      // A partial answer ends with an error; the request itself can no longer report one.
      answer?.destroy(error)
      request.destroy(error)
    })
  }
}

function toResponse(response: IncomingMessage): TransportResponse {
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(response.headers)) headers[name] = Array.isArray(value) ? value.join(', ') : value
  return { status: response.statusCode ?? 0, headers, body: response }
}
