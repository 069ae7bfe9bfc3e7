import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfiguration } from '@orch/client'
import { type Answer, Connection } from '../http1-load.ts'
import { cpuMicrosOf } from '../process.ts'

/** A request as a line describes it. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Printed as JSON. */
  readonly body?: unknown
}

interface SideParts {
  readonly tls: ConnectionOptions
  /** The prefix of all paths. */
  readonly prefix: string
  readonly headers: string
  readonly control: Connection
  readonly pids: readonly number[]
}

/** One of the compared servers: any Kubernetes API server over TLS. */
export class Side {
  readonly name: string
  readonly #tls: ConnectionOptions
  readonly #prefix: string
  readonly #headers: string
  readonly #control: Connection
  readonly #pids: readonly number[]

  private constructor(name: string, parts: SideParts) {
    this.name = name
    this.#tls = parts.tls
    this.#prefix = parts.prefix
    this.#headers = parts.headers
    this.#control = parts.control
    this.#pids = parts.pids
  }

  /**
   * Connects with a certificate or a token; the bench does not support other ways to log in. `pids`: the server's processes on this machine; without
   * them, the server's metrics give the CPU time.
   */
  static async open(name: string, configuration: ClientConfiguration, pids: readonly number[] = []): Promise<Side> {
    const { server, certificateAuthority, clientCertificate, clientKey, token, serverName, isInsecure = false } = configuration
    const { protocol, hostname, port, pathname } = new URL(server)
    if (protocol !== 'https:') throw new Error(`${server}: the bench speaks TLS alone`)
    if (clientCertificate === undefined && token === undefined) throw new Error(`${server}: a client certificate or a token is needed`)
    const host = hostname.replace(/^\[|\]$/g, '')
    const named = serverName ?? (isIP(host) === 0 ? host : undefined)
    const tls = {
      host,
      port: port === '' ? 443 : Number(port),
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority, allowPartialTrustChain: true }),
      cert: clientCertificate,
      key: clientKey,
      ...(named === undefined ? {} : { servername: named }),
      rejectUnauthorized: !isInsecure,
    }
    const headers = `host: ${hostname}\r\n${token === undefined ? '' : `authorization: Bearer ${token}\r\n`}`
    return new Side(name, { tls, prefix: pathname.replace(/\/$/, ''), headers, control: await Connection.to(tls), pids })
  }

  connect(): Promise<Connection> {
    return Connection.to(this.#tls)
  }

  /** The bytes of a request. */
  bytesOf({ method, path, headers = {}, body }: Sent): Buffer {
    const content = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
    const own = { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }
    const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`)
    const length = body === undefined ? '' : `content-length: ${content.length}\r\n`
    const head = `${method} ${this.#prefix}${path} HTTP/1.1\r\n${this.#headers}${lines.join('')}${length}\r\n`
    return Buffer.concat([Buffer.from(head), content])
  }

  /** Sends one request outside the measurement and returns the body. */
  ask(sent: Sent): Promise<Answer> {
    return this.#control.send(this.bytesOf(sent), true)
  }

  /** The server's CPU time so far, in seconds, from the named processes or from the server's metrics; undefined: unknown. */
  async cpuSeconds(): Promise<number | undefined> {
    if (this.#pids.length > 0) return this.#pids.reduce((sum, pid) => sum + cpuMicrosOf(pid), 0) / 1e6
    const { status, body } = await this.ask({ method: 'GET', path: '/metrics', headers: { accept: 'text/plain' } })
    const text = /^process_cpu_seconds_total(?:\{[^}]*\})? ([0-9.e+-]+)/m.exec(String(body))?.[1]
    return status === 200 && text !== undefined ? Number(text) : undefined
  }

  close(): void {
    this.#control.close()
  }
}
