import { setTimeout as delay } from 'node:timers/promises'
import {
  type CallOptions,
  type Client,
  type ClientDuplexStream,
  InterceptingCall,
  type InterceptorOptions,
  ListenerBuilder,
  type Metadata,
  type NextCall,
} from '@grpc/grpc-js'
import type { Revision } from '@orch/core/meta'
import { type Clock, messageOf, systemClock } from '@orch/platform'
import { HostCredentials, renewableChannels } from '@orch/platform/rpc'
import { Etcd3, EtcdInvalidAuthTokenError, type IOptions } from 'etcd3'
import { limits } from '../limits.ts'
import { DirectConnection } from './direct-connection.ts'
import { sayFailure, toFailure, toStatusError } from './errors.ts'
import { Members } from './members.ts'
import {
  parseRevision,
  parseTransactionAnswer,
  parseWatchAnswer,
  printLook,
  printTransaction,
  printWatchQuestion,
  type Transaction,
  type TransactionAnswer,
  type WatchAnswer,
  type WatchQuestion,
} from './wire.ts'

/** The connection to etcd. */
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

type Policy = ReturnType<NonNullable<NonNullable<IOptions['faultHandling']>['host']>>

/**
 * Sends each call once and without delay. The store decides about retries, because a write may have succeeded even if its answer is lost. Unavailable
 * members are skipped.
 */
export function createEtcdClient(access: EtcdAccess, clock: Clock = systemClock): EtcdClient {
  const { servers, insecureTransport = false } = access
  if (servers.length === 0) throw new Error('no address of etcd is given')
  for (const server of servers) checkServer(server, insecureTransport)
  const isBack = async (server: string) => (await problemOf({ ...access, servers: [server] })) === ''
  const members = new Members({ servers, clock, isBack })
  return new EtcdClient(access, members)
}

/** See `createEtcdClient`. */
export class EtcdClient extends Etcd3 {
  readonly #access: EtcdAccess
  readonly #members: Members
  /** Connections by the retry policy of their member. */
  readonly #direct: ReadonlyMap<unknown, DirectConnection>

  constructor(access: EtcdAccess, members: Members) {
    const { servers, tls, credentials } = access
    const direct = new Map<unknown, DirectConnection>()
    const policyOf = (server: string) => {
      const policy = members.policyOf(server)
      direct.set(policy, new DirectConnection({ server, tls }))
      return policy as unknown as Policy
    }
    const own = servers.some((server) => server.startsWith('https:')) ? new HostCredentials(tls ?? {}) : undefined
    const once = { execute: async (call: (context: unknown) => unknown) => call({}) } as unknown as Policy
    super({
      hosts: [...servers],
      ...(tls === undefined ? {} : { credentials: toCredentials(tls) }),
      ...(credentials === undefined
        ? {}
        : { auth: { ...credentials, callOptions: () => ({ deadline: systemClock.now() + limits.etcdMemberTimeoutMs }) } }),
      faultHandling: { host: policyOf, global: once },
      defaultCallOptions: (call) =>
        call.isStream
          ? {}
          : { deadline: systemClock.now() + (looksAtFewKeys(call) ? limits.etcdMemberTimeoutMs : limits.etcdCallTimeoutMs) },
      grpcOptions: {
        'grpc-node.flow_control_window': limits.etcdWindowBytes,
        'grpc.max_receive_message_length': -1,
        'grpc.max_send_message_length': -1,
        'grpc.initial_reconnect_backoff_ms': 50,
        'grpc.min_reconnect_backoff_ms': 50,
        'grpc.max_reconnect_backoff_ms': limits.etcdRedialMsMax,
        'grpc.use_local_subchannel_pool': 1,
        'grpc.keepalive_time_ms': limits.etcdKeepaliveMs,
        'grpc.keepalive_timeout_ms': limits.etcdKeepaliveTimeoutMs,
        // The library passes these options to the channel; its type omits some of them.
        ...({ interceptors: [renewingTokens], ...renewableChannels({ failuresMax: limits.etcdFailuresMax }, own) } as object),
      },
    })
    this.#access = access
    this.#members = members
    this.#direct = direct
    // The library requests tokens over channels without options.
    const authenticator: unknown = Reflect.get(this.pool, 'authenticator')
    if (own !== undefined && authenticator instanceof Object) Reflect.set(authenticator, 'credentials', own)
  }

  /** Reads one key over every connection, and returns etcd's revision. Replaces connections that do not answer, including that of an idle watch. */
  async check(key: string): Promise<Revision> {
    const looking = printTransaction(lookingAt(key))
    const ask = (service: 'KV' | 'Watch') =>
      this.pool.withConnection(service, ({ client, metadata }) => sendByLibrary(client, looking, metadata))
    const [answer] = await Promise.all([this.#send(transactionPath, looking), ask('KV'), ask('Watch')])
    return parseTransactionAnswer(answer).revision
  }

  /** A transaction with conditions on its writes. */
  async transact(transaction: Transaction): Promise<TransactionAnswer> {
    return parseTransactionAnswer(await this.#sendWithToken(transactionPath, printTransaction(transaction)))
  }

  /** etcd's revision, as agreed by its members; any key will do. */
  async latestRevision(key: Buffer): Promise<Revision> {
    return parseRevision(await this.#sendWithToken(rangePath, printLook(key)))
  }

  /** The library itself renews an invalid token. */
  async #sendWithToken(path: string, message: Buffer): Promise<Buffer> {
    try {
      return await this.#send(path, message)
    } catch (error) {
      if (!(error instanceof EtcdInvalidAuthTokenError) && !messageOf(error).includes(outdated)) throw error
      await this.kv.range({ key: Buffer.from('/'), keys_only: true })
      return this.#send(path, message)
    }
  }

  #send(path: string, message: Buffer): Promise<Buffer> {
    return this.pool.withConnection('KV', ({ resource, metadata }) => {
      const connection = this.#direct.get(resource.faultHandling)
      if (connection === undefined) throw new Error('a member of etcd has no connection')
      return connection.call(path, message, metadata)
    })
  }

  /** The errors of members, in the order of the addresses; '' for a member that answers. */
  members(): Promise<readonly string[]> {
    return Promise.all(this.#access.servers.map((server) => problemOf({ ...this.#access, servers: [server] })))
  }

  /** The watch stream of one member. */
  follow(options: CallOptions): Promise<ClientDuplexStream<WatchQuestion, WatchAnswer>> {
    return this.pool.withConnection('Watch', ({ resource, client, metadata }) => {
      const stream = client.makeBidiStreamRequest(watchPath, printWatchQuestion, parseWatchAnswer, metadata, options)
      stream.on('error', (error) => {
        if (stream.writable) this.pool.markFailed(resource, error)
      })
      return stream
    })
  }

  /** Skips this stream's member until it answers. */
  isSilent(stream: object): void {
    this.#members.isSilent(stream)
  }

  override close(): void {
    this.#members.close()
    for (const connection of this.#direct.values()) connection.close()
    super.close()
  }
}

const transactionPath = '/etcdserverpb.KV/Txn'
const rangePath = '/etcdserverpb.KV/Range'
const watchPath = '/etcdserverpb.Watch/Watch'

function sendByLibrary(client: Client, transaction: Buffer, metadata: Metadata): Promise<Buffer> {
  const options = { deadline: systemClock.now() + limits.etcdMemberTimeoutMs }
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(transactionPath, asItIs, asItIs, transaction, metadata, options, (error, answer = nothing) =>
      error === null ? resolve(answer) : reject(error),
    )
  })
}

const asItIs = (bytes: Buffer) => bytes
const nothing = Buffer.alloc(0)

/** A transaction without writes. Only a member with a leader answers it. */
function lookingAt(key: string): Transaction {
  const looked = Buffer.from(key)
  return { guards: [{ key: looked, revision: Number.MAX_SAFE_INTEGER }], puts: [], removes: [], looks: [looked] }
}

/** Sends a call without side effects, and repeats it if a member is unavailable. Throws StatusErrors. */
export async function readSurely<T>(call: () => Promise<T>): Promise<T> {
  const attempts = createAttempts()
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(await attempts.isAgain(error))) throw toStatusError(error)
    }
  }
}

/** Counts attempts at a call, and waits before the next one. A call that may have succeeded gets more attempts. */
export function createAttempts(): { isAgain(error: unknown, mayHaveHappened?: boolean): Promise<boolean> } {
  const startedMs = systemClock.monotonic()
  let count = 0
  return {
    async isAgain(error, mayHaveHappened = false) {
      count += 1
      const failure = toFailure(error)
      const isInTime = systemClock.monotonic() - startedMs < (mayHaveHappened ? limits.etcdOutcomeWaitMs : limits.etcdCallTimeoutMs)
      // A single member has used the whole time limit; one of several members has used only its share.
      const isAway = failure === 'unsent' || failure === 'unanswered' || (failure === 'late' && isInTime)
      if (!isAway || !(count < limits.etcdAttemptsMax || (mayHaveHappened && isInTime))) return false
      await delay(limits.etcdAttemptDelayMs * Math.min(count, limits.etcdAttemptsMax))
      return true
    },
  }
}

/** The reason why a member does not answer; '' if it answers. */
async function problemOf(access: EtcdAccess): Promise<string> {
  const client = new EtcdClient(access, new Members({ servers: access.servers, clock: systemClock, isBack: async () => false }))
  try {
    await client.kv.range({ key: Buffer.from('/') }, { deadline: systemClock.now() + limits.etcdMemberTimeoutMs })
    return ''
  } catch (error) {
    const failure = toFailure(error)
    return failure === 'unsent' || failure === 'unanswered' || failure === 'late' ? sayFailure(error) : ''
  } finally {
    client.close()
  }
}

/** Ranges of many keys may take longer. */
function looksAtFewKeys({ method, params = {} }: { readonly method: string; readonly params?: object }): boolean {
  return (
    (method === 'txn' && 'compare' in params && Array.isArray(params.compare) && params.compare.length > 0) ||
    (method === 'range' && !('range_end' in params && params.range_end !== undefined)) ||
    method === 'put' ||
    method === 'status' ||
    method === 'leaseGrant'
  )
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
  // Without a configured authority the client uses the runtime's; the library's type does not mention that.
  return { rootCertificate: ca as Buffer, ...own }
}

/** etcd's error for a token from before a change of users or roles. */
const outdated = 'etcdserver: revision of auth store is old'
const invalid = 'etcdserver: invalid auth token'

const renaming = new ListenerBuilder()
  .withOnReceiveStatus((status, next) => next(status.details === outdated ? { ...status, details: invalid } : status))
  .build()

/** Reports an outdated token as invalid, so that the library requests a new one. */
function renewingTokens(options: InterceptorOptions, next: NextCall): InterceptingCall {
  return new InterceptingCall(next(options), { start: (metadata, _listener, forward) => forward(metadata, renaming) })
}
