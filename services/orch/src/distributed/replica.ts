import { type NodesService, nodesContract, type StorageService, storageContract } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import type { HealthCheck } from '@orch/gateway'
import { createMetrics, type MetricReleases, type Metrics, messageOf, retryDelayMs, sleep, type Tracer, type Values } from '@orch/platform'
import { type Dialled, dialContract, ListenError, type Offer, openRpcServer, type RpcServer } from '@orch/platform/rpc'
import { AddressTakenError, StartError } from '../process/terminal.ts'
import { assemble, type Surroundings } from '../surroundings.ts'
import { type nodesAddressSettings, readServiceAddresses, type TrustOptions } from './settings.ts'

/** One service in a separate process, or in the same form in this one. */
export interface Replica {
  /** `host:port`, or the URL of a gateway; empty if the replica is not called. */
  readonly address: string
  readonly checks: readonly HealthCheck[]
  readonly metrics: Metrics
  /** Refuses new calls, finishes the open ones, and closes everything. */
  stop(): Promise<void>
}

export interface ReplicaOptions {
  readonly trust: TrustOptions
  /** True if metrics include those of the process. */
  readonly hasProcessMetrics: boolean
  /** The shown deprecated metrics; all by default. */
  readonly metricReleases?: MetricReleases
}

/** The options of a replica that others call. */
export interface InnerReplicaOptions extends ReplicaOptions {
  /** Host and port for calls; port 0 takes any free one. */
  readonly listen: string
}

/** The dependencies of a replica. */
export interface Assembly extends Surroundings {
  readonly metrics: Metrics
  readonly trust: TrustOptions
  /** The connections of a contract: the common options of dialling and serving. */
  readonly rpc: {
    readonly tls: TrustOptions['tls']
    readonly insecureTransport: boolean
    readonly metrics: Metrics
    readonly tracer: Tracer | undefined
    readonly random: () => number
  } & Pick<Surroundings, 'clock' | 'log'>
}

/** Assembles a replica. */
export function assembleReplica(
  { trust, hasProcessMetrics, metricReleases }: ReplicaOptions,
  world: Omit<Surroundings, 'lifecycle'>,
  build: (assembly: Assembly) => Promise<Omit<Replica, 'metrics' | 'stop'>>,
): Promise<Replica> {
  const metrics = createMetrics({
    process: hasProcessMetrics,
    ...(metricReleases === undefined ? {} : { releases: metricReleases }),
  })
  const { chance, clock, log, tracer } = world
  const rpc = { ...trust, metrics, tracer, clock, random: chance.fraction, log }
  return assemble(log, async (lifecycle) => {
    const built = await build({ ...world, lifecycle, metrics, trust, rpc })
    return { ...built, metrics, stop: () => lifecycle.stop() }
  })
}

/** Serves a contract; when the lifecycle stops, new calls are refused first. */
export async function serve(address: string, offers: readonly Offer[], { lifecycle, rpc }: Assembly): Promise<RpcServer> {
  const server = await open(address, offers, rpc)
  lifecycle.onStop('rpc server', () => server.drain())
  return server
}

async function open(address: string, offers: readonly Offer[], rpc: Assembly['rpc']): Promise<RpcServer> {
  try {
    return await openRpcServer({ ...rpc, address, offers })
  } catch (error) {
    const message = `--listen=${address}: ${messageOf(error)}`
    if (error instanceof ListenError && error.code === 'EADDRINUSE') throw new AddressTakenError(message, { address, cause: error })
    throw new StartError(message, { cause: error })
  }
}

/** True if the store takes writes. */
export function storeCheck(status: () => Promise<{ readonly refusing: string }>): HealthCheck {
  return {
    name: 'store',
    async check() {
      const { refusing } = await status()
      return refusing === '' ? undefined : refusing
    },
  }
}

/** Maximum delay between two attempts to ask storage for its identity. */
const askDelayMsMax = 2_000

/** A service over storage in other processes. */
export interface OverStorageOptions extends InnerReplicaOptions {
  readonly storageAddresses: readonly string[]
}

/** Serves a contract over storage, after its first answer. */
export function openOverStorage(
  options: OverStorageOptions,
  world: Omit<Surroundings, 'lifecycle'>,
  open: (storage: StorageService, assembly: Assembly) => Promise<Offer>,
): Promise<Replica> {
  return assembleReplica(options, world, async (assembly) => {
    const storage = dialStorage(options.storageAddresses, assembly)
    await storage.met
    const { address } = await serve(options.listen, [await open(storage.service, assembly)], assembly)
    return { address, checks: [storage.check, storage.profileCheck] }
  })
}

/** Connects to storage, and repeatedly asks for its profile until it answers, as services may start in any order. */
export function dialStorage(addresses: readonly string[], { catalogue, lifecycle, rpc }: Assembly) {
  const dialled = dialContract(storageContract, { ...rpc, addresses })
  const ending = new AbortController()
  let problem: string | undefined = 'storage has not answered yet'
  const meet = async () => {
    for (let attempt = 1; !ending.signal.aborted; attempt += 1) {
      try {
        const { profile } = await dialled.service.status({}, { signal: ending.signal })
        requireProfile(profile, catalogue.names.profile)
        problem = undefined
        return
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        problem = `storage does not answer: ${error.message}`
        if (attempt % 10 === 1 && attempt > 1) rpc.log.warn({ err: error, addresses }, 'storage does not answer')
      }
      await sleep(rpc.clock, retryDelayMs({ attempt, maxMs: askDelayMsMax, random: rpc.random() }), ending.signal)
    }
    throw new StartError('this process ended before storage answered')
  }
  const met = meet()
  met.catch(() => {})
  lifecycle.onStop('connections to storage', () => {
    ending.abort()
    dialled.close()
  })
  const profileCheck: HealthCheck = { name: 'storage-profile', check: () => problem }
  return {
    service: dialled.service,
    /** Resolves when storage has answered; rejects for another profile. */
    met,
    /** Healthy once storage has answered, with our profile. */
    profileCheck,
    /** Healthy while a replica is reachable. */
    check: reachable('storage', dialled),
  }
}

/** Healthy while a replica of the service is reachable. */
export function reachable(name: string, dialled: Pick<Dialled<unknown>, 'isReady'>): HealthCheck {
  return { name, check: () => (dialled.isReady() ? undefined : `no replica of ${name} can be reached`) }
}

function requireProfile(theirs: string, ours: Profile): void {
  if (theirs === ours) return
  throw new StartError(
    `storage has the profile ${theirs} and this process the profile ${ours}: start all services of a control plane with the same --profile`,
  )
}

/** The addresses of simulated nodes; empty if no node can be reached. */
export function readNodesAddresses({ nodesAddress }: Values<typeof nodesAddressSettings>, trust: TrustOptions): readonly string[] {
  return nodesAddress.length === 0 ? [] : readServiceAddresses('--nodes-address', nodesAddress, trust)
}

/** Simulated nodes in another process; undefined without an address. Readiness does not depend on them. */
export function dialNodes(addresses: readonly string[] | undefined, { rpc, lifecycle }: Assembly): NodesService | undefined {
  if (addresses === undefined || addresses.length === 0) return undefined
  return lifecycle.opened('connections to nodes', dialContract(nodesContract, { ...rpc, addresses })).service
}
