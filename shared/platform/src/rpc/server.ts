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
import { channelOptions } from './path.ts'
import { bindOffer, serveContract } from './serve.ts'
import type { Offer, ServeOptions } from './served.ts'
import { createWork } from './work.ts'

// Its own output does not belong in the log and has another form; errors reach us as exceptions.
setLogVerbosity(logVerbosity.NONE)

/** A server of contracts, until it is closed. */
export interface RpcServer {
  /** Host and port that it listens on. */
  readonly address: string
  /** Tells callers whether to use it; a server starts as one that accepts calls unless it was opened otherwise. */
  setServing(isServing: boolean): void
  /** Reports whether its backend answers; while it does not, callers use another replica if there is one. */
  setUseful(isUseful: boolean): void
  /** Refuses new calls, finishes the accepted ones, ends streams without an end of their own, then closes. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>
  /** Ends all open calls, streams included. */
  close(): void
}

/** The system does not let the server listen. */
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
  /** Host and port; port 0 takes any free one. */
  readonly address: string
  readonly offers: readonly Offer[]
  /** Both sides show certificates; absent: nothing is encrypted and every caller may do everything. */
  readonly tls?: TlsFiles | undefined
  /** Allows to go without `tls` where others than this machine can listen. */
  readonly insecureTransport?: boolean
  /** False: callers are asked to wait until `setServing(true)`. */
  readonly serving?: boolean
  readonly clock?: Clock
  readonly log: Log
}

/** Listens for calls of the offered contracts, and of the health service. */
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
  const port = await listen(server, address, serverCredentials(source)).catch((error: unknown) => {
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
      // Every connection receives GOAWAY, and is waited for until it is closed.
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

function listen(server: Server, address: string, credentials: Parameters<Server['bindAsync']>[1]): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => (error === null ? resolve(port) : reject(understandable(error))))
  })
}

/** Guards new connections and their streams, and widens the receive windows, for which a server of the library has no option. */
function receiveSessions(server: Server, guard: Guard): void {
  const listening: ReadonlyMap<Http2Server, unknown> = Reflect.get(server, 'http2Servers')
  for (const http2Server of listening.keys()) {
    // In a turn of its own: an event may be emitted while native code reads frames of the session.
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

/** gRPC tells in words alone why it cannot listen. */
function understandable(error: Error): Error {
  const code = /\b(EADDRINUSE|EADDRNOTAVAIL|EACCES)\b/.exec(error.message)?.[1]
  return code === undefined ? error : new ListenError(code, { cause: error })
}
