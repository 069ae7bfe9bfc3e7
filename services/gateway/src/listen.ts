import { constants } from 'node:crypto'
import { createServer as createHttp2Server, type Http2Session } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { PairSource } from '@orch/platform'
import type { AuthoritySource } from './authentication/certificate/authorities.ts'
import { PeerReader } from './authentication/certificate/peer-reader.ts'
import { toTrusted } from './authentication/certificate/trusted.ts'
import type { Exchange } from './exchange/exchange.ts'
import { Http1Exchange } from './exchange/http1.ts'
import { Http2Exchange } from './exchange/http2.ts'
import { RefusedHeads } from './exchange/refused-heads.ts'
import { limits } from './limits.ts'

export interface ListenOptions {
  readonly host: string
  /** As clients write it in a URL; absent: as above. */
  readonly publicHost?: string | undefined
  /** 0: any that is free. */
  readonly port: number
  /** What the port shows; connections that are opened after a change see the new one. */
  readonly pair: Pick<PairSource, 'current' | 'listen'>
  /** Without any when the port is opened, client certificates are not asked for. */
  readonly authorities: AuthoritySource
  /** Oldest version of TLS that is spoken. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /** As OpenSSL calls them, with colons between. */
  readonly ciphers?: string | undefined
  readonly streamsPerConnectionMax?: number | undefined
  /** How often, from 0 to 1, a request over HTTP/2 is answered with the request to connect anew. */
  readonly goawayChance?: number | undefined
  /** How often refused heads are counted; for tests. */
  readonly headCheckMs?: number
  /** Longest that a head may take; for tests. */
  readonly headTimeoutMs?: number
}

/** One TLS port that speaks HTTP/1.1 and HTTP/2. */
export interface Listener {
  readonly port: number
  /** Connections that are open. */
  readonly connections: number
  /** Takes no new connections and asks those that are open to go when their requests are done. */
  drain(): void
  /** Resolves when every connection is closed; those that are left are cut. */
  close(): Promise<void>
}

/** Opens the port. `handle` gets every request, whichever protocol carries it. */
export async function listen(
  { host, port, ...tls }: ListenOptions,
  handle: (exchange: Exchange) => void,
  random: () => number = () => 1,
): Promise<Listener> {
  const { authorities, goawayChance = 0 } = tls
  const state = { isDraining: false, leaving: new Map() }
  const peers = new PeerReader(authorities)
  const http1 = createHttpsServer(
    {
      ...secureContextOf(tls),
      ...(toTrusted(authorities.current).length === 0 ? {} : { requestCert: true, rejectUnauthorized: false }),
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: limits.handshakeTimeoutMs,
      maxHeaderSize: limits.headBytesMax,
      headersTimeout: tls.headTimeoutMs ?? limits.headTimeoutMs,
      requestTimeout: limits.receiveTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
    },
    (request, response) => {
      const socket = request.socket as TLSSocket
      if (peers.hasToComeAgain(socket)) response.shouldKeepAlive = false
      handle(new Http1Exchange(request, response, peers.of(socket), state))
    },
  )
  const http2 = createHttp2Server({
    settings: {
      maxConcurrentStreams: tls.streamsPerConnectionMax ?? limits.streamsPerConnectionMax,
      maxHeaderListSize: limits.headBytesMax,
    },
    maxHeaderListPairs: 2_000,
    maxSessionMemory: limits.memoryPerConnectionMb,
    streamResetBurst: limits.streamResetsAtOnceMax,
    streamResetRate: limits.streamResetsPerSecondMax,
  })
  const refusedHeads = new RefusedHeads(tls.headCheckMs)
  http2.on('session', (session) => refusedHeads.begin(session))
  http2.on('stream', (stream, headers, _flags, rawHeaders) => {
    if (stream.session !== undefined && !refusedHeads.opens(stream.session)) {
      stream.session.destroy()
      return
    }
    const socket = stream.session?.socket as TLSSocket
    if (peers.hasToComeAgain(socket)) stream.session?.close()
    handle(new Http2Exchange(stream, headers, rawHeaders, peers.of(socket)))
    if (goawayChance > 0 && random() < goawayChance) stream.session?.close()
  })
  const sessions = trackSessions(http2)
  const connections = trackConnections(http1)
  routeByProtocol(http1, http2)
  await opened(http1, host, port)
  const follow = () => http1.setSecureContext(secureContextOf(tls))
  const stopFollowing = [authorities.listen(follow), tls.pair.listen(follow)]
  const drain = () => {
    for (const stop of stopFollowing) stop()
    state.isDraining = true
    // Not its own `close`, which ends idle connections at once: a request may be on its way, and only an answer can tell the
    // client over HTTP/1.1 to go elsewhere. Those that ask nothing any more are ended by `close` below.
    NetServer.prototype.close.call(http1)
    for (const session of sessions.keys()) session.close()
  }
  return {
    port: (http1.address() as AddressInfo).port,
    get connections() {
      return connections.size
    },
    drain,
    async close() {
      drain()
      refusedHeads.close()
      http1.close()
      for (const session of sessions.keys()) session.destroy()
      for (const socket of connections) socket.destroy()
      await new Promise<void>((resolve) => (connections.size === 0 ? resolve() : http1.once('drained', resolve)))
    },
  }
}

/** The server speaks TLS once; what the client has chosen decides who goes on. */
function routeByProtocol(http1: ReturnType<typeof createHttpsServer>, http2: ReturnType<typeof createHttp2Server>): void {
  const [serveHttp1] = http1.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  http1.removeAllListeners('secureConnection')
  http1.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') http2.emit('connection', socket)
    else serveHttp1?.call(http1, socket)
  })
  http1.on('tlsClientError', (error, socket) => {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SSL_HTTP_REQUEST') answerPlainHttp(socket)
    socket.destroy()
  })
}

const plainHttpText = 'Client sent an HTTP request to an HTTPS server.\n'
const plainHttpAnswer = `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${plainHttpText.length}\r\nConnection: close\r\n\r\n${plainHttpText}`

/** Tells a client that speaks HTTP without TLS so. The connection below the failed handshake is still open; Node has no public name for it. */
function answerPlainHttp(handshake: TLSSocket): void {
  const { _parent: connection } = handshake as TLSSocket & { readonly _parent?: Socket | null }
  connection?.end(plainHttpAnswer)
}

interface OpenSession {
  streams: number
  /** One for all streams of the session. */
  readonly onStreamClosed: () => void
}

/** Open sessions with the number of their open streams. One without streams that stays silent is closed. */
function trackSessions(http2: ReturnType<typeof createHttp2Server>): ReadonlyMap<Http2Session, OpenSession> {
  const sessions = new Map<Http2Session, OpenSession>()
  http2.on('session', (session) => {
    const open: OpenSession = {
      streams: 0,
      onStreamClosed: () => {
        open.streams -= 1
      },
    }
    sessions.set(session, open)
    session.setTimeout(limits.idleTimeoutMs, () => {
      if (open.streams === 0) session.close()
    })
    session.once('close', () => sessions.delete(session)).on('error', ignoreError)
  })
  http2.on('stream', (stream) => {
    const open = stream.session === undefined ? undefined : sessions.get(stream.session)
    if (open === undefined) return
    open.streams += 1
    stream.on('close', open.onStreamClosed)
  })
  return sessions
}

function trackConnections(server: ReturnType<typeof createHttpsServer>): Set<Socket> {
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.on('error', ignoreError).once('close', () => {
      connections.delete(socket)
      if (connections.size === 0) server.emit('drained')
    })
  })
  return connections
}

function opened(server: ReturnType<typeof createHttpsServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** What a handshake shows and by what it judges. */
function secureContextOf({ pair: { current: pair }, authorities, minVersion = 'TLSv1.2', ciphers }: Omit<ListenOptions, 'host' | 'port'>) {
  const ca = toTrusted(authorities.current)
  // TLS 1.2 lets a client ask for one handshake after the other, which costs it much less than the server.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION
  const choice = { minVersion, honorCipherOrder: true, secureOptions, ...(ciphers === undefined ? {} : { ciphers }) }
  return { cert: pair.certificate, key: pair.key, ...choice, ...(ca.length === 0 ? {} : { ca }) }
}

/** A client that breaks off is an ordinary end. */
function ignoreError(): void {}
