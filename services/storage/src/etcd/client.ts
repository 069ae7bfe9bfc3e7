import { setTimeout as delay } from 'node:timers/promises'
import { Etcd3, type IOptions } from 'etcd3'
import { etcdAttemptDelayMs, etcdAttemptsMax, etcdCallTimeoutMs, etcdKeepaliveMs, etcdKeepaliveTimeoutMs } from '../limits.ts'
import { toFailure, toStatusError } from './errors.ts'

/** How etcd is reached. */
export interface EtcdAccess {
  /** `https://host:port`, one for each member. */
  readonly servers: readonly string[]
  /** Contents of PEM files. */
  readonly tls?:
    | { readonly ca?: Buffer | undefined; readonly certificate?: Buffer | undefined; readonly key?: Buffer | undefined }
    | undefined
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** Allows unencrypted connections to other machines. */
  readonly insecureTransport?: boolean | undefined
}

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>

/**
 * A client that makes each call once and never holds one back: what is made again, and when, is decided here, since a lost
 * answer to a write is not a failure.
 */
export function createEtcdClient({ servers, tls, credentials, insecureTransport = false }: EtcdAccess): Etcd3 {
  if (servers.length === 0) throw new Error('no address of etcd is given')
  for (const server of servers) checkServer(server, insecureTransport)
  const once = { execute: async (call: (context: unknown) => unknown) => call({}) } as unknown as Policy
  return new Etcd3({
    hosts: [...servers],
    ...(tls === undefined ? {} : { credentials: toCredentials(tls) }),
    ...(credentials === undefined ? {} : { auth: { ...credentials, callOptions: () => ({ deadline: Date.now() + etcdCallTimeoutMs }) } }),
    faultHandling: { host: () => once, global: once },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + etcdCallTimeoutMs }),
    grpcOptions: {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.min_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 1_000,
      'grpc.keepalive_time_ms': etcdKeepaliveMs,
      'grpc.keepalive_timeout_ms': etcdKeepaliveTimeoutMs,
    },
  })
}

/** Makes a call without effect, again where a member was away. Failures are StatusErrors. */
export async function readSurely<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      const failure = toFailure(error)
      const isAway = failure === 'unsent' || failure === 'unanswered'
      if (!isAway || attempt === etcdAttemptsMax) throw toStatusError(error)
      await delay(etcdAttemptDelayMs * attempt)
    }
  }
}

function checkServer(server: string, insecureTransport: boolean): void {
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.host === '')
    throw new Error(`the address of etcd must look like https://host:2379, not '${server}'`)
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && !isLoopback && !insecureTransport)
    throw new Error(`etcd at ${server} would be spoken to unencrypted; use https://, or allow it with --insecure-transport`)
}

function toCredentials({ ca, certificate, key }: NonNullable<EtcdAccess['tls']>): NonNullable<IOptions['credentials']> {
  const own = certificate === undefined || key === undefined ? {} : { certChain: certificate, privateKey: key }
  // Without an authority of its own the client uses those that the runtime knows; the type of the library does not say so.
  return { rootCertificate: ca as Buffer, ...own }
}
