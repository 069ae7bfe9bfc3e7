import type { Client } from '@orch/client'
import {
  authenticationConfig,
  type BootstrapObject,
  bootstrap,
  bootstrapRoles,
  fixedObjects,
  flowControlObjects,
  servesFlowControl,
} from '@orch/controllers'
import type { Catalogue } from '@orch/core/catalogue'
import { objectKey } from '@orch/core/contracts'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { AuthoritySource, Gateway } from '@orch/gateway'
import type { Chance, Clock, Log, Metrics } from '@orch/platform'
import type { Storage } from '@orch/storage'
import type { AuthenticationOptions } from '../authentication/settings.ts'
import { type FrontProxy, publishedFrontProxy } from '../certificates/gateway.ts'
import { ClientMetrics, clientOf } from '../controllers/client.ts'
import { type Identity, serverIdentity } from '../controllers/open.ts'
import type { Surroundings } from '../surroundings.ts'
import type { GatewayGroups } from './settings.ts'

export interface StartObjectsParts extends Pick<GatewayGroups, 'serving' | 'authentication' | 'flowControl' | 'objects'> {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly authorities: AuthoritySource
  readonly frontProxy?: FrontProxy | undefined
}

/** The objects of a gateway's start: the given ones, and those that depend on no address of a gateway. */
export function startObjectsOf(
  given: readonly BootstrapObject[],
  { gateway, metrics, authorities, frontProxy, serving, authentication, flowControl, objects: settings }: StartObjectsParts,
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
  const isServiceRangeServed = catalogue.find(domainGroup(names, 'networking'), 'v1', 'servicecidrs') !== undefined
  const serviceRange = { cidrs: settings.serviceClusterIpRange.map(({ text }) => text), now: printTime(toInstant(clock.now())) }
  const fixed = fixedObjects(names, isServiceRangeServed ? serviceRange : undefined)
  const objects = [...fixed, ...given, ...flowControlStart(flowControl, surroundings), ...published]
  return {
    objects,
    /** A client without a socket, with this identity. */
    clientAs,
    /** Creates the objects and waits until they take effect. Several gateways may do so concurrently: the second finds the objects already present. */
    async make() {
      const client = clientAs(serverIdentity)
      const warn = ({ kind, metadata: { name, namespace } }: ApiObject, err: Error) =>
        log.warn(
          { err, kind, namespace, name },
          'an object of the server could not be brought up to date; the server starts without the change',
        )
      await bootstrap(client, objects, gateway.writeBootstrapObjects, warn)
      await bootstrapRoles(client, catalogue, gateway.writeBootstrapObjects, warn)
      await load()
    },
    /** Waits until the stored objects take effect. */
    load,
    /** Publishes authorities again when their files change. */
    follow: () => lifecycle.onStop('published authorities', followAuthorities(authorities, published, clientAs(serverIdentity), log)),
  }
}

/** Flow control's objects of the start; none if it is off or its group is not served. */
function flowControlStart({ isFair }: GatewayGroups['flowControl'], { catalogue, clock }: Surroundings): readonly BootstrapObject[] {
  return isFair && servesFlowControl(catalogue) ? flowControlObjects(catalogue, printTime(toInstant(clock.now()))) : []
}

/** The parts of the start's stored objects that differ between servers. */
interface OwnParts {
  readonly port: number
  /** PEM. */
  readonly authorities: readonly string[]
}

export interface AmendedObjects extends OwnParts {
  readonly catalogue: Catalogue
  readonly base: OwnParts
}

/**
 * Adapts the base's initial objects to this server: the port in its Service and endpoints, and the published authorities. Revisions do not change.
 */
export function amendStartObjects(
  storage: Storage,
  objects: readonly BootstrapObject[],
  { catalogue, base, port, authorities }: AmendedObjects,
): void {
  const portOfBase = new RegExp(`"(port|targetPort)":${base.port}(?!\\d)`, 'g')
  const amend = (text: string) =>
    authorities.reduce(
      (amended, authority, index) => amended.replaceAll(inJson(base.authorities[index] ?? ''), () => inJson(authority)),
      text.replace(portOfBase, `"$1":${port}`),
    )
  for (const one of objects) {
    if (one.resource.namespaced) storage.amend(keyOf(one, catalogue), amend)
  }
}

/** Changes the uids of the initial namespaces, because clients use the uid of kube-system as the uid of the cluster. */
export function renewNamespaces(
  storage: Storage,
  objects: readonly BootstrapObject[],
  { catalogue, chance, clock }: { readonly catalogue: Catalogue; readonly chance: Chance; readonly clock: Clock },
): void {
  const now = printTime(toInstant(clock.now()))
  for (const one of objects) {
    if (one.object.kind !== 'Namespace') continue
    const uid = chance.uuid()
    const renew = (text: string) =>
      text.replace(/"uid":"[^"]*"/, `"uid":"${uid}"`).replace(/"(creationTimestamp|time)":"[^"]*"/g, (_, name) => `"${name}":"${now}"`)
    storage.amend(keyOf(one, catalogue), renew)
  }
}

/** The text as a JSON string has it; for an empty text, a value that never occurs. */
function inJson(text: string): string {
  return text === '' ? '\u0000' : JSON.stringify(text).slice(1, -1)
}

function keyOf({ resource, object: { metadata } }: BootstrapObject, catalogue: Catalogue): string {
  const prefix = catalogue.find(resource.group, resource.version, resource.plural)?.stored.prefix ?? ''
  return objectKey(prefix, metadata.namespace, metadata.name ?? '')
}

/** The published parts of client authentication. */
interface PublishedParts {
  readonly authentication: Pick<AuthenticationOptions, 'proxy'>
  readonly source: AuthoritySource
  readonly catalogue: Pick<Catalogue, 'names' | 'isGateOn'>
  /** The authority of the proxy certificate; undefined if the settings have one. */
  readonly frontProxy?: FrontProxy | undefined
}

/** The published part of client authentication, from the current files of authorities. */
export function authenticationStart({ authentication, source, catalogue, frontProxy }: PublishedParts): BootstrapObject[] {
  const { proxy } = authentication
  const { names } = catalogue
  const read = () => {
    const { clients, proxies } = source.current
    const ofOwn =
      frontProxy === undefined ? undefined : publishedFrontProxy(frontProxy.authority, catalogue.isGateOn('RemoteRequestHeaderUID'))
    const ofProxy = proxy === undefined ? ofOwn : { ...proxy, authorities: proxies }
    return authenticationConfig({ names, clientAuthorities: clients, proxy: ofProxy })
  }
  const { resource } = read()
  return [
    {
      resource,
      get object() {
        return read().object
      },
    },
  ]
}

/** Publishes it again when the files of authorities change. Returns a function that stops. */
export function followAuthorities(source: AuthoritySource, objects: readonly BootstrapObject[], client: Client, log: Log): () => void {
  return source.listen(() => {
    bootstrap(client, objects).catch((error: unknown) => log.warn({ err: error }, 'new authorities could not be published'))
  })
}
