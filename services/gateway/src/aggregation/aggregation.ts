import type { Catalogue } from '@orch/core/catalogue'
import type { StorageService } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import type { Clock, Log, Metrics, WorkqueueMetrics } from '@orch/platform'
import type { ServiceAddresses } from '@orch/platform/webhooks'
import type { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import type { InProcessRequest, InProcessResponse } from '../exchange/in-process.ts'
import type { HealthCheck } from '../server/health-check.ts'
import { ApiServices } from './api-services.ts'
import { AvailabilityKeeper } from './availability-keeper.ts'
import { Backends, type BackendsOptions } from './backends.ts'
import { DiscoveryView } from './discovery-view.ts'
import { createAvailabilityMetrics } from './metrics.ts'
import { createOwnWrites } from './own-writes.ts'
import { probe } from './probe.ts'
import { Registrar } from './registrar.ts'
import { RemoteDiscovery } from './remote-discovery.ts'
import { RemoteOpenApi } from './remote-openapi.ts'

/** The dependencies of serving remote group versions. */
export interface AggregationOptions {
  readonly storage: StorageService
  readonly builtIn: Catalogue
  readonly live: LiveCatalogue
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly queues: WorkqueueMetrics
  /** A number in [0, 1). */
  readonly random: () => number
  readonly addresses: ServiceAddresses
  readonly allowsLinkLocal: boolean
  readonly knownServices: ReadonlyMap<string, string>
  readonly proxyPair: BackendsOptions['proxyPair']
  readonly guard: BackendsOptions['guard']
  readonly calls: BackendsOptions['calls']
  readonly pathPrefix: string
  /** Sends a request of the server itself. */
  readonly send: (request: InProcessRequest) => Promise<InProcessResponse>
  /** Creates APIServices if none is stored yet. */
  readonly writeFirst: (objects: readonly ApiObject[]) => Promise<void>
  /** Resolves when all stored definitions are served; undefined if they already are. */
  readonly complete: () => Promise<void> | undefined
  /** True to maintain the condition Available of APIServices; otherwise another gateway of the process does. */
  readonly keepsAvailability: boolean
}

/** Group versions of remote servers, and the APIServices of this server. */
export interface Aggregation {
  readonly apiServices: ApiServices
  readonly backends: Backends
  readonly discovery: DiscoveryView
  readonly openApi: RemoteOpenApi
  readonly check: HealthCheck
  /** Watches the stored APIServices, and registers those of this server. Called when definitions are known. */
  load(): Promise<void>
  close(): Promise<void>
}

export function createAggregation(options: AggregationOptions): Aggregation {
  const { builtIn, addresses, allowsLinkLocal, proxyPair, guard, calls, knownServices, metrics, ...rest } = options
  const { names } = builtIn
  const apiServices = new ApiServices({ ...rest, names })
  const backends = new Backends({ addresses, allowsLinkLocal, proxyPair, guard, calls })
  const closed = new AbortController()
  const writes = createOwnWrites({ names, ...rest, closed: closed.signal })
  const availabilityMetrics = createAvailabilityMetrics(metrics)
  const keeper = options.keepsAvailability
    ? new AvailabilityKeeper({
        ...rest,
        names,
        apiServices,
        writes,
        knownServices,
        metrics: availabilityMetrics,
        probe: (api) => probe(api, { backends, clock: rest.clock, names }),
      })
    : undefined
  const registrar = new Registrar({ ...rest, builtIn, apiServices, writes })
  const remoteDiscovery = new RemoteDiscovery({ ...rest, names, apiServices, backends })
  const openApi = new RemoteOpenApi({ ...rest, names, apiServices, backends })
  return {
    apiServices,
    backends,
    openApi,
    discovery: new DiscoveryView(apiServices, remoteDiscovery, builtIn),
    check: registrar.check,
    async load() {
      await apiServices.load()
      await registrar.start()
    },
    async close() {
      closed.abort()
      apiServices.close()
      await Promise.all([keeper?.close(), registrar.close(), remoteDiscovery.close(), openApi.close()])
      backends.close()
    },
  }
}
