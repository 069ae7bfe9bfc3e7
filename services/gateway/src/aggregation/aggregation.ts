import { ended } from '@orch/platform'
import type { ServiceAddresses } from '@orch/platform/webhooks'
import type { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import type { InProcessRequest, InProcessResponse } from '../exchange/in-process.ts'
import type { Surroundings } from '../surroundings.ts'
import { ApiServices } from './api-services.ts'
import { AvailabilityKeeper } from './availability-keeper.ts'
import { Backends, type BackendsOptions } from './backends.ts'
import { DiscoveryView } from './discovery-view.ts'
import { createAvailabilityMetrics } from './metrics.ts'
import { createOwnWrites } from './own-writes.ts'
import { probe } from './probe.ts'
import { Registrar, type RegistrarOptions } from './registrar.ts'
import { RemoteDiscovery } from './remote-discovery.ts'
import { RemoteOpenApi } from './remote-openapi.ts'

/** The dependencies of serving remote group versions. */
export interface AggregationOptions
  extends Omit<RegistrarOptions, 'apiServices' | 'writes' | 'live'>,
    Pick<Surroundings, 'storage' | 'metrics' | 'pathPrefix'> {
  readonly live: LiveCatalogue
  readonly addresses: ServiceAddresses
  readonly allowsLinkLocal: boolean
  readonly knownServices: ReadonlyMap<string, string>
  readonly proxyPair: BackendsOptions['proxyPair']
  readonly guard: BackendsOptions['guard']
  readonly calls: BackendsOptions['calls']
  /** Sends a request of the server itself. */
  readonly send: (request: InProcessRequest) => Promise<InProcessResponse>
  /** True to maintain the condition Available of APIServices; otherwise another gateway of the process does. */
  readonly keepsAvailability: boolean
}

/** Group versions of remote servers, and the APIServices of this server. */
export function createAggregation(options: AggregationOptions) {
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
    /** Watches the stored APIServices, and registers those of this server. Called when definitions are known. */
    async load() {
      await apiServices.load()
      await registrar.start()
    },
    async close() {
      closed.abort(ended)
      apiServices.close()
      await Promise.all([keeper?.close(), registrar.close(), remoteDiscovery.close(), openApi.close()])
      backends.close()
    },
  }
}
