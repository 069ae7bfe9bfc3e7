import { type BootstrapObject, bootstrap, bootstrapRoles } from '@orch/controllers'
import type { AuthoritySource, Gateway } from '@orch/gateway'
import type { Metrics } from '@orch/platform'
import type { FrontProxy } from '../aggregation/front-proxy.ts'
import { authenticationStart, followAuthorities } from '../authentication/published-configuration.ts'
import { ClientMetrics, clientOf } from '../controllers/client.ts'
import { flowControlStart, type Identity, serverIdentity } from '../controllers/open.ts'
import type { Surroundings } from '../surroundings.ts'
import type { GatewayGroups } from './settings.ts'

export interface StartObjectsParts extends Pick<GatewayGroups, 'serving' | 'authentication' | 'flowControl'> {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly authorities: AuthoritySource
  readonly frontProxy?: FrontProxy | undefined
}

/** The objects of a gateway's start, besides the given ones. */
export function startObjectsOf(
  given: readonly BootstrapObject[],
  { gateway, metrics, authorities, frontProxy, serving, authentication, flowControl }: StartObjectsParts,
  surroundings: Surroundings,
) {
  const { catalogue, clock, lifecycle, log } = surroundings
  const { names } = catalogue
  const requests = new ClientMetrics(metrics, clock)
  const clientAs = (identity: Identity) => clientOf(gateway, identity, { names, pathPrefix: serving.pathPrefix, requests })
  const published = authenticationStart({ authentication, source: authorities, catalogue, frontProxy })
  const load = async () => {
    await gateway.loadDefinitions()
    await gateway.loadAuthorization()
  }
  const objects = [...given, ...flowControlStart(flowControl, surroundings), ...published]
  return {
    objects,
    /** A client without a socket, with this identity. */
    clientAs,
    /** Creates the objects and waits until they take effect. Several gateways may do so concurrently: the second finds the objects already present. */
    async make() {
      const client = clientAs(serverIdentity)
      await bootstrap(client, objects, gateway.writeBootstrapObjects)
      await bootstrapRoles(client, catalogue, gateway.writeBootstrapObjects)
      await load()
    },
    /** Waits until the stored objects take effect. */
    load,
    /** Publishes authorities again when their files change. */
    follow: () => lifecycle.onStop('published authorities', followAuthorities(authorities, published, clientAs(serverIdentity), log)),
  }
}
