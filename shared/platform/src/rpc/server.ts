import type { Http2Server } from 'node:http2'
import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js'
import { type Clock, sleep, systemClock } from '../clock.ts'
import { createGuard, type Guard } from '../guard.ts'
import type { Log } from '../log.ts'
import { openCertificateSource, type TlsFiles } from '../tls/certificate-source.ts'
import { parseRpcAddress } from './address.ts'
import { requireLoopback, serverCredentials } from './credentials.ts'
import { createDeparture } from './departure.ts'
import { createHealth, healthContract } from './health.ts'
import { rpcLimits } from './limits.ts'
import type { RpcTelemetry } from './observe.ts'
import { type Offer, serveContract } from './offer.ts'
import { channelOptions } from './path.ts'
import { bindOffer } from './serve.ts'
import type { ServeOptions } from './served.ts'
import { createWork } from './work.ts'

// gRPC's own output has another format than the log; errors reach us as exceptions.
setLogVerbosity(logVerbosity.NONE)

/** A running server of contracts. */
export interface RpcServer {
  /** The host and port on which it listens. */
  readonly address: string
  /** Announces whether the server accepts calls. It does from the start, unless it was opened otherwise. */
  setServing(isServing: boolean): void
  /** Announces whether the backend answers. While it does not, callers prefer other replicas. */
  setUseful(isUseful: boolean): void
  /** Refuses new calls, waits for accepted ones, ends endless streams, and then closes. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>
  /** Ends all open calls and streams. */
  close(): void
}

/** The server cannot listen on its address. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** `EADDRINUSE`. */
  readonly code: string

  constructor(code: string, options: { readonly cause: unknown }) {
    super(`the address cannot be listened on (${code})`, options)
    this.code = code
  }
}

/** The address of a server, and its services. */
export interface RpcServerOptions extends RpcTelemetry {
  /** The host and port; port 0 means any free port. */
  readonly address: string
  readonly offers: readonly Offer[]
  /** Requires certificates on both sides. Default: no encryption, and every caller may do everything. */
  readonly tls?: TlsFiles | undefined
  /** Allows connections from other machines without `tls`. */
  readonly insecureTransport?: boolean
  /** False: callers are asked to wait until `setServing(true)`. */
  readonly serving?: boolean
  readonly clock?: Clock
  readonly log: Log
}

/** Listens for calls of the offered contracts and the health service. */
export async function openRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { address, tls, insecureTransport = false, clock = systemClock, log } = options
  const host = hostOf(address)
  if (tls === undefined) requireLoopback(host, { insecureTransport })
  const source = tls === undefined ? undefined : openCertificateSource({ files: tls, clock, log })
  const health = createHealth({
    offers: [...options.offers.map(({ contract }) => contract.name), healthContract.name],
    isServing: options.serving ?? true,
  })
  const work = createWork()
  const departure = createDeparture(work)
  const stopping = new AbortController()
  const serving: ServeOptions = { ...options, clock, work, departure, stopping: stopping.signal, hasRoles: tls !== undefined }
  const server = new Server(channelOptions)
  for (const offer of [...options.offers, serveContract(healthContract, health.service)]) {
    const { definition, implementation } = bindOffer(offer, serving)
    server.addService(definition, implementation)
  }
  const close = () => {
    server.forceShutdown()
    source?.close()
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, serverCredentials(source), (error, port) => (error === null ? resolve(port) : reject(understandable(error))))
  }).catch((error: unknown) => {
    close()
    throw error
  })
  receiveSessions(server, createGuard({ log, metrics: () => options.metrics }))
  return {
    address: `${address.slice(0, address.lastIndexOf(':'))}:${port}`,
    setServing: health.setServing,
    setUseful: health.setUseful,
    async drain({ timeoutMs = rpcLimits.drainMsMax } = {}) {
      health.setServing(false)
      departure.begin()
      const enough = new AbortController()
      const late = sleep(clock, timeoutMs, enough.signal)
      await Promise.race([work.idle(), late])
      stopping.abort()
      // Sends GOAWAY on every connection, and waits until all are closed.
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      await Promise.race([closed, late])
      enough.abort()
      close()
    },
    close,
  }
}

function hostOf(address: string): string {
  const parsed = parseRpcAddress(address)
  if (parsed?.kind !== 'one') throw new Error(`${address}: expected an address to listen on, such as 127.0.0.1:7000`)
  return parsed.host
}

/** Guards new connections and their streams, and enlarges the receive windows, for which the library's server has no option. */
function receiveSessions(server: Server, guard: Guard): void {
  const listening: ReadonlyMap<Http2Server, unknown> = Reflect.get(server, 'http2Servers')
  for (const http2Server of listening.keys()) {
    // In a separate turn: an event may be emitted while native code reads frames of the session.
    http2Server.prependListener('session', (session) => {
      guard.watch(session, 'connection', () => void setImmediate(() => session.destroy()))
    })
    http2Server.prependListener('stream', (stream) => void guard.watch(stream, 'call', () => stream.destroy()))
    http2Server.on('session', (session) => {
      if (session.destroyed) return
      session.setLocalWindowSize(rpcLimits.windowBytes)
      session.settings({ initialWindowSize: rpcLimits.windowBytes })
    })
  }
}

/** Translates gRPC's error for a failed listen, whose reason is only in its text. */
function understandable(error: Error): Error {
  const code = /\b(EADDRINUSE|EADDRNOTAVAIL|EACCES)\b/.exec(error.message)?.[1]
  return code === undefined ? error : new ListenError(code, { cause: error })
}
