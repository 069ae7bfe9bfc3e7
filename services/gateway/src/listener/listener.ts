import { constants } from 'node:crypto'
import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2Session,
  constants as http2Constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { Server as NetServer, Socket } from 'node:net'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { type Clock, Guard, type IdleTimer, type KeyPair, type PairSource, portOf, systemCodeOf } from '@orch/platform'
import type { Authorities, AuthoritySource } from '../authentication/certificate/authorities.ts'
import { PeerReader } from '../authentication/certificate/peer-reader.ts'
import { toTrusted } from '../authentication/certificate/trusted.ts'
import type { Exchange, Peer, Upgrade } from '../exchange/exchange.ts'
import { Http1Exchange } from '../exchange/http1.ts'
import { Http1Connection } from '../exchange/http1-connection.ts'
import { Http2Exchange } from '../exchange/http2.ts'
import { trackSessions } from '../exchange/http2-sessions.ts'
import { RefusedHeads } from '../exchange/refused-heads.ts'
import { opensWebSocket } from '../exchange/web-socket-opening.ts'
import { limits } from '../limits.ts'
import { type ContextByName, contextsByName, type NamedPair } from './named-certificates.ts'
import { openSharedPort } from './shared-port.ts'

/** Address, certificates and bounds of a port. */
export interface ListenOptions {
  readonly host: string
  /** The host in URLs; by default the address above. */
  readonly publicHost?: string | undefined
  /** 0 for any free port. */
  readonly port: number
  /**
   * The port shared with further listeners of this process: the first one opens it if nothing listens there, and the others join. By default it is not
   * shared.
   */
  readonly sharing?: 'opens' | 'joins' | undefined
  /** Number of sockets at a shared port, between which connections are divided equally; 1 by default. */
  readonly portSockets?: number | undefined
  /** The port's certificate; connections that are opened after a change see the new one. */
  readonly pair: Pick<PairSource, 'current' | 'listen'>
  /** Other certificates by server name. */
  readonly namedPairs?: readonly NamedPair[] | undefined
  /** Without any at the start, client certificates are not requested. */
  readonly authorities: AuthoritySource
  /** Minimum TLS version. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /** OpenSSL names separated by colons. */
  readonly ciphers?: string | undefined
  /** Key exchanges: OpenSSL names separated by colons. By default those of OpenSSL. */
  readonly curves?: string | undefined
  readonly streamsPerConnectionMax?: number | undefined
  /** Probability, from 0 to 1, that a client over HTTP/2 is asked to reconnect. */
  readonly goawayChance?: number | undefined
  /** The handler of an upgrade request, by its path and query. Without one it is answered like a request without an upgrade. */
  readonly upgradeOf?: (target: string) => UpgradeKind | undefined
  /** Called after a failed handshake. */
  readonly onHandshakeError?: () => void
  /** Clock for the validity of client certificates; by default the machine's. */
  readonly clock?: Clock
  /** Ends failing exchanges and connections; by default without a report. */
  readonly guard?: Guard
  /** Interval of counting refused heads; for tests. */
  readonly headCheckMs?: number
  /** Timeout of a head; for tests. */
  readonly headTimeoutMs?: number
  /** Time and bytes for which a connection over HTTP/1.1 is read after its last answer; for tests. */
  readonly lingerMs?: number
  readonly lingerBytesMax?: number
}

/** The connection is taken over by another server or a tunnel, or a log or the events of a watch are sent as messages of a WebSocket. */
export type UpgradeKind = 'tunnel' | 'log' | 'events'

interface KnownPeer {
  readonly peer: Peer
  /** The authorities that verified the peer. */
  readonly authorities: Authorities
}

/** One TLS port that speaks HTTP/1.1 and HTTP/2. */
export class Listener {
  readonly #options: ListenOptions
  readonly #handle: (exchange: Exchange) => void
  readonly #random: () => number
  readonly #guard: Guard
  readonly #peerReader: PeerReader
  readonly #peers = new WeakMap<TLSSocket, KnownPeer>()
  readonly #refusedHeads: RefusedHeads
  readonly #messages: ReturnType<typeof guardedMessages>
  readonly #http1Connections = new WeakMap<Socket, Http1Connection>()
  readonly #http1: HttpsServer
  readonly #sessions: ReadonlyMap<Http2Session, IdleTimer>
  readonly #connections: ReadonlySet<Socket>
  readonly #drainState = { isDraining: false, leaving: new Map() }
  readonly #unsubscribe: (() => void)[] = []
  /** Further sockets at the port. */
  readonly #beside: NetServer[] = []
  #contextOfName: ContextByName
  #port = 0

  private constructor(options: ListenOptions, handle: (exchange: Exchange) => void, random: () => number) {
    this.#options = options
    this.#handle = handle
    this.#random = random
    this.#guard = options.guard ?? new Guard(() => {})
    this.#peerReader = new PeerReader(options.authorities, options.clock)
    this.#refusedHeads = new RefusedHeads(options.headCheckMs)
    this.#contextOfName = this.#readNamedPairs()
    this.#messages = guardedMessages(this.#guard, (response) => this.#http1Connections.get(response.req.socket)?.addAnswer(response))
    this.#http1 = this.#createHttp1()
    const http2 = this.#createHttp2()
    this.#sessions = trackSessions(http2, this.#guard)
    this.#connections = trackConnections(this.#http1, this.#guard)
    const { lingerMs = limits.lingerMs, lingerBytesMax = limits.lingerBytesMax, onHandshakeError } = options
    const checkTimeouts = timeoutChecksOf(this.#http1)
    const onHttp1 = (socket: TLSSocket) => {
      checkTimeouts(socket)
      this.#http1Connections.set(socket, new Http1Connection(socket, { lingerMs, lingerBytesMax }))
    }
    routeByProtocol(this.#http1, http2, { guard: this.#guard, onHttp1, onHandshakeError })
  }

  /** Opens the port. `handle` receives every request of either protocol; `random` gives numbers from 0 to 1. */
  static async open(options: ListenOptions, handle: (exchange: Exchange) => void, random: () => number = () => 1): Promise<Listener> {
    const listener = new Listener(options, handle, random)
    await listener.#listen()
    return listener
  }

  get port(): number {
    return this.#port
  }

  get connections(): number {
    return this.#connections.size
  }

  /** Asks the clients of all connections to disconnect after their requests; new connections are still accepted. */
  announceEnd(): void {
    this.#drainState.isDraining = true
    for (const session of this.#sessions.keys()) session.close()
  }

  /** Accepts no new connections and asks the clients of open ones to disconnect after their requests. */
  drain(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#drainState.isDraining = true
    // Not `http1.close`, which ends idle connections at once: a request may be in transit, and over HTTP/1.1 only a response can ask the client to
    // disconnect. Connections that stay idle are ended by `close` below.
    NetServer.prototype.close.call(this.#http1)
    for (const beside of this.#beside) beside.close()
    for (const session of this.#sessions.keys()) session.close()
  }

  /** Resolves when every connection is closed; those still open are cut. */
  async close(): Promise<void> {
    this.drain()
    this.#refusedHeads.close()
    this.#http1.close()
    for (const session of this.#sessions.keys()) session.destroy()
    for (const socket of this.#connections) socket.destroy()
    await new Promise<void>((resolve) => (this.#connections.size === 0 ? resolve() : this.#http1.once('drained', resolve)))
  }

  /** The peer of a connection; read once, and again when the authorities have changed. */
  #peerOf(socket: TLSSocket): Peer {
    const { current: authorities } = this.#options.authorities
    const known = this.#peers.get(socket)
    if (known?.authorities === authorities) return known.peer
    const peer = this.#peerReader.read(socket, known === undefined)
    this.#peers.set(socket, { peer, authorities })
    return peer
  }

  #createHttp1(): HttpsServer {
    const { authorities, headTimeoutMs = limits.headTimeoutMs } = this.#options
    const server = createHttpsServer(
      {
        ...secureContextOf(this.#options),
        ...(toTrusted(authorities.current).length === 0 ? {} : { requestCert: true, rejectUnauthorized: false }),
        ALPNProtocols: ['h2', 'http/1.1'],
        SNICallback: (name, done) => {
          const refuse = () => done(new Error('no certificate can be chosen'))
          this.#guard.run('connection', refuse, () => done(null, this.#contextOfName(name)))
        },
        handshakeTimeout: limits.handshakeTimeoutMs,
        maxHeaderSize: limits.headBytesMax,
        headersTimeout: headTimeoutMs,
        requestTimeout: limits.receiveTimeoutMs,
        keepAliveTimeout: limits.idleTimeoutMs,
        connectionsCheckingInterval: neverMs,
        noDelay: true,
        shouldUpgradeCallback: (request) => this.#upgradeOf(request) !== undefined && this.#whyNoUpgrade(request) === undefined,
        ...this.#messages,
      },
      (request, response) => {
        const { socket } = request
        this.#guard.run(
          'request',
          () => socket.destroy(),
          () => this.#takeRequest(request, response),
        )
      },
    )
    server.on('clientError', (error, socket) => {
      const end = () => void socket.destroy(error)
      this.#guard.run('connection', end, () => {
        const connection = socket instanceof Socket ? this.#http1Connections.get(socket) : undefined
        if (connection === undefined) end()
        else connection.refuse(error)
      })
    })
    return server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      const connection = request.socket
      this.#guard.run(
        'upgrade',
        () => connection.destroy(),
        () => this.#upgrade({ request, socket, head }),
      )
    })
  }

  #takeRequest(request: IncomingMessage, response: ServerResponse): void {
    const socket = request.socket as TLSSocket
    const peer = this.#peerOf(socket)
    if (hasToComeAgain(socket, peer)) response.shouldKeepAlive = false
    const exchange = new Http1Exchange(request, response, peer, this.#drainState)
    const problem = this.#upgradeOf(request) === undefined ? undefined : this.#whyNoUpgrade(request, response)
    if (problem !== undefined) exchange.refuse(problem)
    this.#handle(exchange)
  }

  /** The protocol changes after the answers to all earlier requests, and a body would be its first bytes. */
  #whyNoUpgrade(request: IncomingMessage, response?: ServerResponse): string | undefined {
    if (hasBody(request)) return 'a request for another protocol cannot have a body'
    const isEarly = this.#http1Connections.get(request.socket)?.hasAnswersBefore(response) === true
    return isEarly ? 'a request for another protocol has to wait for the answers before it' : undefined
  }

  #upgradeOf(request: IncomingMessage): UpgradeKind | undefined {
    if (request.headers.upgrade === undefined) return undefined
    const kind = this.#options.upgradeOf?.(request.url ?? '')
    return kind === 'tunnel' || opensWebSocket(request) ? kind : undefined
  }

  /** The parser has released the connection: the answer in place of an upgrade is its last response. */
  async #upgrade(upgrade: Upgrade & { readonly socket: TLSSocket }): Promise<void> {
    const { request, socket } = upgrade
    socket.on('error', ignoreError)
    const isOfEvents = this.#upgradeOf(request) === 'events'
    // Created lazily, as few servers need one.
    const { WebSocketExchange } = isOfEvents ? await import('../exchange/web-socket.ts') : noWebSocket
    // An earlier aborted answer has ended the connection.
    if (request.socket.destroyed) return
    const response = new this.#messages.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.destroySoon())
    // Not that of `socket`, which Node may have wrapped.
    const peer = this.#peerOf(request.socket as TLSSocket)
    if (WebSocketExchange !== undefined) {
      this.#handle(new WebSocketExchange(request, response, { peer, upgrade, server: this.#drainState }))
      return
    }
    const exchange = new Http1Exchange(request, response, peer, this.#drainState)
    exchange.upgrade = upgrade
    this.#handle(exchange)
  }

  #createHttp2(): Http2Server {
    const { streamsPerConnectionMax = limits.streamsPerConnectionMax } = this.#options
    const http2 = createHttp2Server({
      settings: { maxConcurrentStreams: streamsPerConnectionMax, maxHeaderListSize: limits.headBytesMax },
      maxHeaderListPairs: 2_000,
      maxSessionMemory: limits.memoryPerConnectionMb,
      streamResetBurst: limits.streamResetsAtOnceMax,
      streamResetRate: limits.streamResetsPerSecondMax,
    })
    http2.on('session', (session) => this.#refusedHeads.begin(session))
    http2.on('stream', (stream, headers, _flags, rawHeaders) => {
      const end = () => stream.close(http2Constants.NGHTTP2_INTERNAL_ERROR)
      this.#guard.watch(stream, 'stream', end).on('error', ignoreError)
      this.#guard.run('stream', end, () => this.#takeStream(stream, headers, rawHeaders))
    })
    return http2
  }

  #takeStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    const { session } = stream
    // The connection may have ended since Node read the head.
    if (session === undefined || session.destroyed) {
      stream.destroy()
      return
    }
    if (!this.#refusedHeads.opens(session)) {
      // Deferred, since native code of some releases of Node 26 aborts when a session is destroyed while it delivers a stream.
      setImmediate(() => session.destroy())
      return
    }
    const socket = session.socket as TLSSocket
    const peer = this.#peerOf(socket)
    if (this.#drainState.isDraining || hasToComeAgain(socket, peer)) session.close()
    this.#handle(new Http2Exchange(stream, headers, rawHeaders, peer))
    const { goawayChance = 0 } = this.#options
    if (goawayChance > 0 && this.#random() < goawayChance) session.close()
  }

  async #listen(): Promise<void> {
    const { host, port, sharing, portSockets = 1, authorities, pair, namedPairs = [] } = this.#options
    const listen = async () => {
      this.#http1.listen({ host, port, reusePort: sharing !== undefined })
      await once(this.#http1, 'listening')
    }
    await (sharing === 'opens' ? openSharedPort({ host, port }, listen) : listen())
    this.#port = portOf(this.#http1)
    while (this.#beside.length + 1 < portSockets) await this.#listenBeside()
    const renew = () => {
      this.#http1.setSecureContext(secureContextOf(this.#options))
      this.#contextOfName = this.#readNamedPairs()
    }
    this.#unsubscribe.push(authorities.listen(renew), pair.listen(renew), ...namedPairs.map((named) => named.pair.listen(renew)))
  }

  /** The kernel distributes connections equally among sockets at a port. */
  async #listenBeside(): Promise<void> {
    const beside = new NetServer({ noDelay: true }, (socket) => void this.#http1.emit('connection', socket))
    this.#beside.push(beside)
    beside.listen({ host: this.#options.host, port: this.#port, reusePort: true })
    await once(beside, 'listening')
  }

  #readNamedPairs(): ContextByName {
    const contextOf = (current: KeyPair) => createSecureContext(secureContextOf({ ...this.#options, pair: { current } }))
    return contextsByName(this.#options.namedPairs ?? [], contextOf)
  }
}

/**
 * The authorities have changed since the handshake, whose intermediate certificates are gone: only another handshake can
 * show whether the peer is still authenticated.
 */
function hasToComeAgain(socket: TLSSocket, peer: Peer): boolean {
  return socket.authorized && peer.kind === 'untrusted'
}

/** True if the head announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return encoding !== undefined || !/^0+$/.test(length)
}

/**
 * Guarded classes for the messages of one port. A failing answer is ended with its connection only. `onAnswer` is called for each answer, including
 * Node's own.
 */
function guardedMessages(guard: Guard, onAnswer: (response: ServerResponse) => void) {
  class GuardedRequest extends IncomingMessage {}
  class GuardedResponse extends ServerResponse {
    constructor(...given: ConstructorParameters<typeof ServerResponse>) {
      super(...given)
      onAnswer(this)
    }
  }
  guard.watchAll(GuardedRequest, 'request', ({ socket }) => socket.destroy())
  guard.watchAll(GuardedResponse, 'request', ({ req }) => req.socket.destroy())
  return { IncomingMessage: GuardedRequest, ServerResponse: GuardedResponse }
}

/** The longest interval of Node: 25 days. */
const neverMs = 2 ** 31 - 1
/** Node ends a connection over HTTP/1.1 at most this long after its timeout. */
const checkMs = 1_000

/**
 * Node looks for exceeded timeouts of HTTP/1.1 at an interval that it sets when a server begins to listen. The returned function sets a short one until
 * the connection is closed, so that an idle server looks for nothing.
 */
function timeoutChecksOf(http1: HttpsServer): (socket: TLSSocket) => void {
  const [setChecks] = http1.listeners('listening')
  let open = 0
  const checkEvery = (connectionsCheckingInterval: number) => {
    Object.assign(http1, { connectionsCheckingInterval })
    if (setChecks !== undefined) Reflect.apply(setChecks, http1, [])
  }
  return (socket) => {
    open += 1
    if (open === 1) checkEvery(checkMs)
    socket.once('close', () => {
      open -= 1
      if (open === 0 && http1.listening) checkEvery(neverMs)
    })
  }
}

function ignoreData(): void {}

const noWebSocket = { WebSocketExchange: undefined }

interface Routing {
  readonly guard: Guard
  readonly onHttp1: (socket: TLSSocket) => void
  readonly onHandshakeError: (() => void) | undefined
}

/** The server speaks TLS once; the client's chosen protocol decides which server continues. */
function routeByProtocol(http1: HttpsServer, http2: Http2Server, { guard, onHttp1, onHandshakeError }: Routing): void {
  const [serveHttp1] = http1.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  http1.removeAllListeners('secureConnection')
  http1.on('secureConnection', (socket) => {
    const end = () => socket.destroy()
    guard.watch(socket, 'connection', end)
    guard.run('connection', end, () => {
      if (socket.alpnProtocol === 'h2') {
        http2.emit('connection', socket)
        return
      }
      onHttp1(socket)
      serveHttp1?.call(http1, socket)
      // Node's parser would read the TLS socket itself, fail on the records that follow a head while an earlier answer waits (HPE_PAUSED, Node 26),
      // and sometimes stop reading after such an answer. It leaves the reading to the stream once another listener was added.
      socket.on('data', ignoreData).off('data', ignoreData)
    })
  })
  http1.on('tlsClientError', (error, socket) => {
    const end = () => void socket.destroy()
    guard.run('connection', end, () => {
      onHandshakeError?.()
      if (systemCodeOf(error) === 'ERR_SSL_HTTP_REQUEST') answerPlainHttp(socket)
      end()
    })
  })
}

const plainHttpText = 'Client sent an HTTP request to an HTTPS server.\n'
const plainHttpAnswer = `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${plainHttpText.length}\r\nConnection: close\r\n\r\n${plainHttpText}`

/** Reports the error to a client that uses HTTP without TLS. The connection below the failed handshake is still open; Node has no public name for it. */
function answerPlainHttp(handshake: TLSSocket): void {
  if ('_parent' in handshake && handshake._parent instanceof Socket) handshake._parent.end(plainHttpAnswer)
}

function trackConnections(server: HttpsServer, guard: Guard): Set<Socket> {
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(guard.watch(socket, 'connection', () => socket.destroy()))
    socket.on('error', ignoreError).once('close', () => {
      connections.delete(socket)
      if (connections.size === 0) server.emit('drained')
    })
  })
  return connections
}

interface ContextOptions extends Pick<ListenOptions, 'authorities' | 'minVersion' | 'ciphers' | 'curves'> {
  readonly pair: { readonly current: KeyPair }
}

/** The certificate and the checks of a handshake. */
function secureContextOf({ pair: { current: pair }, authorities, minVersion = 'TLSv1.2', ciphers, curves }: ContextOptions) {
  const ca = toTrusted(authorities.current)
  // TLS 1.2 lets a client ask for one handshake after the other, which costs it much less than the server.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  const choice = { minVersion, honorCipherOrder: true, secureOptions, ...(ciphers === undefined ? {} : { ciphers }) }
  const exchange = curves === undefined ? {} : { ecdhCurve: curves }
  return { cert: pair.certificate, key: pair.key, ...choice, ...exchange, ...(ca.length === 0 ? {} : { ca: [...ca] }) }
}

/** A client that disconnects is an ordinary end. */
function ignoreError(): void {}
