import type { HealthCheck } from '@orch/gateway'
import { createLifecycle, createMetrics, type MetricReleases, type Metrics, messageOf, type Tracer } from '@orch/platform'
import { ListenError, type Offer, openRpcServer, type RpcServer } from '@orch/platform/rpc'
import type { TrustOptions } from '../certificates/service-trust.ts'
import { AddressTakenError, StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'

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

/** Assembles a replica; a failure closes the parts opened so far. */
export async function assemble(
  { trust, hasProcessMetrics, metricReleases }: ReplicaOptions,
  world: Omit<Surroundings, 'lifecycle'>,
  build: (assembly: Assembly) => Promise<Omit<Replica, 'metrics' | 'stop'>>,
): Promise<Replica> {
  const lifecycle = createLifecycle({ log: world.log })
  const metrics = createMetrics({
    process: hasProcessMetrics,
    ...(metricReleases === undefined ? {} : { releases: metricReleases }),
  })
  const { chance, clock, log, tracer } = world
  try {
    const built = await build({
      ...world,
      lifecycle,
      metrics,
      trust,
      rpc: { ...trust, metrics, tracer, clock, random: chance.fraction, log },
    })
    return { ...built, metrics, stop: () => lifecycle.stop() }
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
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
