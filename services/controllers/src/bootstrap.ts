import {
  type Client,
  type InformerEvent,
  type ResourceAddress,
  type ResourceClient,
  unlessGone,
  unlessRefused,
  type WriteOptions,
} from '@orch/client'
import { hasMembers } from '@orch/core/json'
import { type ApiObject, printApiVersion, StatusError } from '@orch/core/meta'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '@orch/core/names'
import { keyOf as cacheKeyOf } from './informers/object-keys.ts'
import { type Controller, done, mapped, reconciler } from './reconciler/index.ts'

export interface BootstrapOptions {
  readonly names: Names
  /** Address of the server's own Service: the first address of the range. */
  readonly serviceAddress: string
  /** The addresses of the gateways, for the Endpoints of that Service; at least one. */
  readonly advertised: readonly GatewayAddress[]
}

/** The address ranges of Services, and the current time. */
export interface ServiceRange {
  readonly cidrs: readonly string[]
  readonly now: string
}

export interface GatewayAddress {
  readonly address: string
  readonly port: number
}

export interface BootstrapObject {
  readonly resource: ResourceAddress
  readonly object: ApiObject
  /** The initial status of an object without one. */
  readonly status?: Readonly<Record<string, unknown>>
  /** The name of the manager; the server's by default. */
  readonly fieldManager?: string
  /** The manager of the status, which may apply it; by default that of the object, which does not. */
  readonly statusManager?: { readonly name: string; readonly applies: boolean }
  /** True if users may change this object; then it is restored only after a deletion. Default: false. */
  readonly isTakenOver?: (live: ApiObject) => boolean
}

/** Creates objects of the server without authorization; existing objects stay unchanged. */
export type WriteBootstrapObjects = (objects: readonly BootstrapWrite[]) => Promise<void>

/** An object to create, with the owners of its fields. */
export interface BootstrapWrite extends Pick<BootstrapObject, 'resource' | 'object' | 'status' | 'fieldManager' | 'statusManager'> {
  /** Fields with a separate manager; undefined for none. */
  readonly applied?: { readonly fieldManager: string; readonly fields: readonly string[] }
}

/** Receives the refusal of a write, which would otherwise end a start. */
export type ReceiveRefusal = (object: ApiObject, error: StatusError) => void

const servicePort = 443
const portName = 'https'

/** The bootstrap objects that do not depend on the gateways' addresses. `serviceRange` is undefined if the level has no object for it. */
export function fixedObjects(names: Names, serviceRange?: ServiceRange): BootstrapObject[] {
  const namespaceNames = [names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace, 'default']
  return [
    ...namespaceNames.map((name) => ({
      resource: namespaces,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    })),
    aPriorityClass(
      names,
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
    aPriorityClass(
      names,
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    ...(serviceRange === undefined ? [] : [aServiceRange(names, serviceRange)]),
  ]
}

/** The Service of the gateways, and the objects with their addresses. */
export function gatewayObjects({ names, serviceAddress, advertised }: BootstrapOptions): BootstrapObject[] {
  return [
    aService(names, serviceAddress, advertised[0]?.port ?? servicePort),
    anEndpoints(names, advertised),
    ...endpointSlices(names, advertised),
  ]
}

/** Deletes the slices of ports and families without a gateway. */
export async function removeEndpointSlices(client: Client, names: Names, wanted: readonly BootstrapObject[]): Promise<void> {
  const kept = new Set(wanted.map(({ object }) => object.metadata.name))
  const collection = client.resource(slicesOf(names))
  const labelSelector = Object.entries(furtherSliceLabels(names)).map(([name, value]) => `${name}=${value}`)
  const { items } = await collection.list({ namespace: 'default', labelSelector: labelSelector.join(',') })
  for (const { metadata } of items) {
    if (metadata.name === undefined || kept.has(metadata.name)) continue
    await unlessGone(() => collection.delete(metadata.name ?? '', { namespace: 'default' }))
  }
}

/**
 * Ensures that every object exists with its wanted content; the first half of a start. `receiveRefusal` receives refusals by stored admission, such
 * as a webhook that does not answer: they must not end the start, because only a running server can remove the webhook's configuration.
 */
export async function bootstrap(
  client: Client,
  objects: readonly BootstrapObject[],
  writeBootstrapObjects?: WriteBootstrapObjects,
  receiveRefusal?: ReceiveRefusal,
): Promise<void> {
  const isNamespace = ({ object }: BootstrapObject) => object.kind === 'Namespace'
  const missing = writeBootstrapObjects === undefined ? objects : await writeFirst(client, objects, writeBootstrapObjects)
  const received = missing === objects ? receiveRefusal : undefined
  const ensured = (wanted: BootstrapObject) => unlessReceived(wanted.object, () => ensure(client, wanted), received)
  await Promise.all(missing.filter(isNamespace).map(ensured))
  await Promise.all(missing.filter((wanted) => !isNamespace(wanted)).map(ensured))
}

/** Writes an object, and passes a refusal to its receiver. */
export async function unlessReceived(object: ApiObject, write: () => Promise<void>, receive: ReceiveRefusal | undefined): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (receive === undefined || !(error instanceof StatusError)) throw error
    receive(object, error)
  }
}

/** In an empty store, cluster-scoped objects need no admission and reserve nothing. Returns the remaining objects; of another store, all. */
async function writeFirst(
  client: Client,
  objects: readonly BootstrapObject[],
  writeBootstrapObjects: WriteBootstrapObjects,
): Promise<readonly BootstrapObject[]> {
  const { items } = await client.resource(namespaces).list({ limit: 1 })
  if (items.length > 0) return objects
  const unplaced = objects.filter(({ resource }) => !resource.namespaced)
  await writeBootstrapObjects(unplaced)
  return objects.filter(({ resource }) => resource.namespaced)
}

/** Restores objects that a client deletes or changes. Its keys are the wanted objects, which have many kinds. */
export function bootstrapController(objects: readonly BootstrapObject[]): Controller {
  return reconciler<undefined>('bootstrap', () => {
    const byKey = new Map(objects.map((wanted) => [keyOf(wanted), wanted]))
    const watches = new Map(
      collectionsOf(objects).map(({ resource, namespace }) => {
        const toKeys = ({ object }: InformerEvent<ApiObject>) => [keyOf({ resource, object })].filter((key) => byKey.has(key))
        return [
          resource.plural,
          mapped(printApiVersion(resource.group, resource.version), resource.plural, toKeys, { select: { namespace } }),
        ]
      }),
    )
    return {
      watches: [...watches.values()],
      workersMax: 2,
      // An object that was deleted before the watch began has no event.
      keys: [...byKey.keys()],
      reconcile: async ({ key, world, signal }) => {
        const wanted = byKey.get(key)
        const watch = watches.get(wanted?.resource.plural ?? '')
        if (wanted === undefined || watch === undefined) return done
        const cached = world.read(watch).get(cacheKeyOf(wanted.object))
        if (cached === undefined || !isAsWanted(cached, wanted)) await ensure(world.client, wanted, signal)
        return done
      },
    }
  })
}

function isAsWanted(live: ApiObject, wanted: BootstrapObject): boolean {
  const { object, isTakenOver } = wanted
  if (live.metadata.deletionTimestamp != null || isTakenOver?.(live) === true) return true
  return holds(live, object) && !lacksStatus(live, wanted)
}

function lacksStatus(live: ApiObject, { status }: BootstrapObject): boolean {
  return status !== undefined && Object.keys(live.status ?? {}).length === 0
}

async function ensure(client: Client, wanted: BootstrapObject, signal?: AbortSignal): Promise<void> {
  await ensureMain(client, wanted, signal)
  if (wanted.status === undefined) return
  const { resource, object, status, statusManager } = wanted
  const collection = client.resource(resource)
  const { apiVersion, kind, metadata } = object
  const { name = '' } = metadata
  const live = await unlessGone(() => collection.get(name, { signal }))
  if (live === undefined || !lacksStatus(live, wanted)) return
  const options = { subresource: 'status', fieldManager: statusManager?.name ?? wanted.fieldManager, signal }
  const type = statusManager?.applies ? ({ type: 'apply', force: true } as const) : ({ type: 'merge' } as const)
  await unlessGone(() => collection.patch(name, { apiVersion, kind, metadata: { name }, status }, { ...options, ...type }))
}

async function ensureMain(client: Client, wanted: BootstrapObject, signal?: AbortSignal): Promise<void> {
  const { resource, object, fieldManager } = wanted
  const collection = client.resource(resource)
  const { name = '', namespace } = object.metadata
  const live = await unlessGone(() => collection.get(name, { namespace, signal }))
  if (live === undefined) return void (await createOrFind(collection, object, { fieldManager, signal }))
  if (isAsWanted(live, { ...wanted, status: undefined })) return
  const patched = await unlessRefused(['Invalid'], () => collection.patch(name, object, { type: 'merge', namespace, fieldManager, signal }))
  if (patched !== undefined) return
  // An immutable difference, such as the address of a Service after its range was changed.
  await unlessGone(() => collection.delete(name, { namespace, signal }))
  await createOrFind(collection, object, { fieldManager, signal })
}

/** Another gateway may be creating it at the same time, and may already hold its reservations. */
async function createOrFind(collection: ResourceClient, object: ApiObject, options: WriteOptions): Promise<void> {
  try {
    await collection.create(object, options)
  } catch (error) {
    if (!(error instanceof StatusError) || (error.reason !== 'AlreadyExists' && error.reason !== 'Invalid')) throw error
    if (error.reason === 'AlreadyExists') return
    const { name = '', namespace } = object.metadata
    const found = await unlessGone(() => collection.get(name, { namespace, signal: options.signal }))
    if (found === undefined) throw error
  }
}

/** True if the object contains all wanted members; lists must be equal. */
export function holds(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, index) => holds(live[index], item))
  }
  if (typeof wanted !== 'object' || wanted === null) return live === wanted
  if (!hasMembers(live)) return false
  return Object.entries(wanted).every(([name, value]) => holds(live[name], value))
}

function keyOf({ resource, object }: BootstrapObject): string {
  return `${resource.plural}/${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

function collectionsOf(objects: readonly BootstrapObject[]): { resource: ResourceAddress; namespace: string | undefined }[] {
  const found = new Map(objects.map(({ resource, object }) => [resource.plural, { resource, namespace: object.metadata.namespace }]))
  return [...found.values()]
}

const namespaces: ResourceAddress = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

function aPriorityClass(names: Names, name: string, value: number, description: string): BootstrapObject {
  const group = domainGroup(names, 'scheduling')
  return {
    resource: { group, version: 'v1', plural: 'priorityclasses', namespaced: false },
    object: { apiVersion: `${group}/v1`, kind: 'PriorityClass', metadata: { name }, value, description },
  }
}

/** The address ranges of Services. Its status has no reason, as in kube-apiserver. */
function aServiceRange(names: Names, { cidrs, now }: ServiceRange): BootstrapObject {
  const group = domainGroup(names, 'networking')
  const message = 'Kubernetes default Service CIDR is ready'
  return {
    resource: { group, version: 'v1', plural: 'servicecidrs', namespaced: false },
    object: { apiVersion: `${group}/v1`, kind: 'ServiceCIDR', metadata: { name: names.serverServiceName }, spec: { cidrs } },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now, reason: '', message }] },
  }
}

function aService(names: Names, clusterIP: string, targetPort: number): BootstrapObject {
  return {
    resource: { group: '', version: 'v1', plural: 'services', namespaced: true },
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: names.serverServiceName,
        namespace: 'default',
        labels: { component: names.serverComponent, provider: names.serverServiceName },
      },
      spec: { type: 'ClusterIP', clusterIP, ports: [{ name: portName, port: servicePort, protocol: 'TCP', targetPort }] },
    },
  }
}

function anEndpoints(names: Names, advertised: readonly GatewayAddress[]): BootstrapObject {
  return {
    resource: { group: '', version: 'v1', plural: 'endpoints', namespaced: true },
    object: {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        name: names.serverServiceName,
        namespace: 'default',
        labels: { [subdomainLabel(names, 'endpointslice', 'skip-mirror')]: 'true' },
      },
      subsets: portsOf(advertised).map((port) => ({
        addresses: addressesAt(advertised, port).map((ip) => ({ ip })),
        ports: [{ name: portName, port, protocol: 'TCP' }],
      })),
    },
  }
}

/**
 * A slice has one set of ports and one address family. Gateways on one machine differ in their ports: the slice of the first has the name of the
 * Service, as in kube-apiserver, and names of further slices add port and family.
 */
function endpointSlices(names: Names, advertised: readonly GatewayAddress[]): BootstrapObject[] {
  const groups = portsOf(advertised).flatMap((port) =>
    addressTypes.map((type) => ({
      port,
      type,
      addresses: addressesAt(advertised, port).filter((address) => (address.includes(':') ? 'IPv6' : 'IPv4') === type),
    })),
  )
  const { serverServiceName } = names
  return groups
    .filter(({ addresses }) => addresses.length > 0)
    .map((group, index) => {
      if (index === 0) return anEndpointSlice(names, group, { name: serverServiceName, labels: serviceLabels(names) })
      const name = `${serverServiceName}-${group.port}-${group.type.toLowerCase()}`
      return anEndpointSlice(names, group, { name, labels: furtherSliceLabels(names) })
    })
}

const addressTypes = ['IPv4', 'IPv6'] as const

function anEndpointSlice(
  names: Names,
  { port, type, addresses }: { readonly port: number; readonly type: (typeof addressTypes)[number]; readonly addresses: readonly string[] },
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): BootstrapObject {
  const resource = slicesOf(names)
  return {
    resource,
    object: {
      apiVersion: `${resource.group}/v1`,
      kind: 'EndpointSlice',
      metadata: { name, namespace: 'default', labels },
      addressType: type,
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: portName, port, protocol: 'TCP' }],
    },
  }
}

function slicesOf(names: Names): ResourceAddress {
  return { group: domainGroup(names, 'discovery'), version: 'v1', plural: 'endpointslices', namespaced: true }
}

function serviceLabels(names: Names): Record<string, string> {
  return { [domainLabel(names, 'service-name')]: names.serverServiceName }
}

/** The second label marks the slices that may be deleted; slices of other Services have other labels. */
function furtherSliceLabels(names: Names): Record<string, string> {
  return { ...serviceLabels(names), [subdomainLabel(names, 'endpointslice', 'managed-by')]: names.serverManager }
}

function portsOf(advertised: readonly GatewayAddress[]): number[] {
  return [...new Set(advertised.map(({ port }) => port))]
}

function addressesAt(advertised: readonly GatewayAddress[], wanted: number): string[] {
  return advertised.filter(({ port }) => port === wanted).map(({ address }) => address)
}
