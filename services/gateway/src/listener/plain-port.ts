import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { type Guard, portOf } from '@orch/platform'
import type { Exchange } from '../exchange/exchange.ts'
import { Http1Exchange } from '../exchange/http1.ts'
import { limits } from '../limits.ts'

/** Options of a port without TLS, which is reachable only from this machine. */
export interface PlainPortOptions {
  /** A loopback address. */
  readonly host: string
  readonly guard: Guard
  /** Serves a request at the port of this number. */
  readonly serve: (exchange: Exchange, port: number) => Promise<void>
}

/** A port that speaks HTTP/1.1 without TLS. */
export async function openPlainPort({ host, guard, serve }: PlainPortOptions) {
  const drainState = { isDraining: false, leaving: new Map() }
  const connections = new Set<Socket>()
  const server = createServer(
    {
      maxHeaderSize: limits.plainHeadBytesMax,
      headersTimeout: limits.headTimeoutMs,
      requestTimeout: limits.receiveTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      noDelay: true,
    },
    (request, response) => {
      const end = () => request.socket.destroy()
      guard.watch(request, 'request', end)
      guard.watch(response, 'request', end)
      guard.run('request', end, () => serve(new Http1Exchange(request, response, { kind: 'unknown' }, drainState), portOf(server)))
    },
  )
  server.maxConnections = limits.plainConnectionsMax
  server.on('connection', (socket: Socket) => {
    connections.add(guard.watch(socket, 'connection', () => socket.destroy()))
    socket.once('close', () => connections.delete(socket))
  })
  server.listen({ host, port: 0 })
  await once(server, 'listening')
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`,
    /** Closes open connections. */
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}
