import { readFile } from 'node:fs/promises'
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { isLoopback } from '../rpc/address.ts'
import { natsPingIntervalMs, natsTimeoutMs } from './limits.ts'

/** The address and the credentials of NATS. */
export interface NatsOptions {
  /** `host:port` each; one reachable server is enough. */
  readonly servers: readonly string[]
  /** The name of this connection in the tools of NATS. */
  readonly name: string
  /** The trusted authorities, and our certificate. The files are read for every connection, so renewals take effect. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string } | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** A credentials file in the format of NATS' tools. */
  readonly credentialsFile?: string | undefined
  /** Allows unencrypted connections to other machines. */
  readonly insecureTransport?: boolean | undefined
}

/** A connection that is opened on demand. A broken one is never reopened: its user creates another, and so notices the break. */
export type Nats = ReturnType<typeof createNats>

/** Throws if the options would send unencrypted data to another machine. */
export function createNats(options: NatsOptions) {
  checkTransport(options)
  let current: Promise<NatsConnection> | undefined
  let isClosed = false
  const open = async (): Promise<NatsConnection> => {
    const connection = await connect(await toConnectionOptions(options))
    void connection.closed().then(() => {
      current = undefined
    })
    if (isClosed) await connection.close()
    return connection
  }
  return {
    connection() {
      if (isClosed) return Promise.reject(new Error('the connection to NATS has been closed'))
      current ??= open().catch((error: unknown) => {
        current = undefined
        throw error
      })
      return current
    },
    async close() {
      isClosed = true
      const connection = await current?.catch(() => undefined)
      await connection?.close()
    },
  }
}

function checkTransport({ servers, tls, insecureTransport = false }: NatsOptions): void {
  if (servers.length === 0) throw new RangeError('NATS: expected at least one server')
  for (const server of servers) {
    const url = URL.canParse(`nats://${server}`) ? new URL(`nats://${server}`) : undefined
    if (url === undefined || url.hostname === '' || url.port === '' || url.username !== '')
      throw new RangeError(`NATS server ${JSON.stringify(server)}: must be host:port`)
    if (tls === undefined && !insecureTransport && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
      throw new RangeError(
        `NATS server ${server}: beyond this machine TLS is wanted; name a certificate authority, or allow insecure transport`,
      )
  }
}

async function toConnectionOptions({ servers, name, tls, user, password, credentialsFile }: NatsOptions): Promise<ConnectionOptions> {
  return {
    servers: [...servers],
    name,
    // A new connection must not resend messages of a broken one, or the order would be lost.
    reconnect: false,
    timeout: natsTimeoutMs,
    pingInterval: natsPingIntervalMs,
    maxPingOut: 2,
    ignoreClusterUpdates: true,
    // The library passes unknown options to Node. Any certificate in the file is trusted, including intermediate authorities.
    ...(tls === undefined ? {} : { tls: { ...tls, ...{ allowPartialTrustChain: tls.caFile !== undefined } } }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(credentialsFile === undefined ? {} : { authenticator: credsAuthenticator(await readFile(credentialsFile)) }),
  }
}
