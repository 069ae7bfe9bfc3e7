import type { CallContext, Contract, Methods, Service, Stream } from '@orch/core/contracts'
import { type Clock, systemClock } from '../clock.ts'
import { codecOf } from '../codec.ts'
import type { Log } from '../log.ts'
import { openCertificateSource, type TlsFiles } from '../tls/certificate-source.ts'
import { type Lookup, parseRpcAddress, type RpcAddress, systemLookup } from './address.ts'
import { callerCredentials, requireLoopback } from './credentials.ts'
import { createObserve, type RpcTelemetry } from './observe.ts'
import { methodPath } from './path.ts'
import { Pool } from './pool.ts'
import { callOnce, type RemoteMethod } from './remote-call.ts'
import { RemoteStream } from './remote-stream.ts'

/** A service in another process, with the connections to it. */
export interface Dialled<S> {
  readonly service: S
  /** True if a replica is reachable and accepts calls. */
  isReady(): boolean
  /** Resolves when a replica is reachable for the first time. */
  readonly reached: Promise<void>
  close(): void
}

/** The address of a service, and the connection to it. */
export interface DialOptions extends RpcTelemetry {
  /** `host:port` for each replica, or `dns:///name:port` for all addresses of a name. */
  readonly addresses: readonly string[]
  /** Our certificate and the trusted authorities. Default: a plain connection. */
  readonly tls?: TlsFiles | undefined
  /** Allows connections without `tls` to other machines. */
  readonly insecureTransport?: boolean
  /** The resolver of names. Default: the machine's. */
  readonly lookup?: Lookup
  readonly clock?: Clock
  /** From 0 to 1; spreads calls and connection attempts. */
  readonly random: () => number
  readonly log: Log
}

/**
 * A contract's service at the given addresses. Connections are opened at once, and again when they are lost. A call goes to the
 * replica with the fewest calls in flight. Without a replica, it waits up to a second and is then refused with 503.
 */
export function dialContract<M extends Methods>(contract: Contract<M>, options: DialOptions): Dialled<Service<Contract<M>>> {
  const { tls, lookup = systemLookup, clock = systemClock, random, log } = options
  const addresses = parseAddresses(options)
  const source = tls === undefined ? undefined : openCertificateSource({ files: tls, clock, log })
  const credentialsFor = (host: string) => callerCredentials(source, { host, roles: contract.offeredBy })
  const pool = new Pool({ service: contract.name, addresses, lookup, credentialsFor, clock, random, log })
  const service: Record<string, unknown> = {}
  for (const [name, method] of Object.entries(contract.methods))
    service[name] = createCaller({ contract: contract.name, name, description: method, pool, options })
  return {
    // Built from the contract, with one function per method.
    service: service as unknown as Service<Contract<M>>,
    isReady: () => pool.isReady,
    reached: pool.reached,
    close() {
      pool.close()
      source?.close()
    },
  }
}

function parseAddresses({ addresses, tls, insecureTransport = false }: DialOptions): readonly RpcAddress[] {
  if (addresses.length === 0) throw new Error('expected at least one address of a service')
  return addresses.map((text) => {
    const address = parseRpcAddress(text)
    if (address === undefined) throw new Error(`${text}: expected host:port or dns:///name:port`)
    if (tls === undefined) requireLoopback(address.host, { insecureTransport })
    return address
  })
}

interface CallerParts {
  readonly contract: string
  /** Name of the method. */
  readonly name: string
  readonly description: Methods[string]
  readonly pool: Pool
  readonly options: DialOptions
}

function createCaller({ contract, name, description, pool, options }: CallerParts) {
  const method: RemoteMethod = {
    name,
    path: methodPath(contract, name),
    request: codecOf(description.request),
    response: codecOf(description.response),
    isHot: description.form === 'unary' && description.options.hot === true,
    idempotent: description.options.idempotent === true,
    answerMs: (message) => description.options.answerMs?.(message as never),
    observe: createObserve(options, 'client', contract, name),
    pool,
    clock: options.clock ?? systemClock,
  }
  return description.form === 'unary'
    ? (message: unknown, context: CallContext = {}): Promise<unknown> => callOnce(method, message, context)
    : (message: unknown, context: CallContext = {}): Stream<unknown> => new RemoteStream(method, message, context)
}
