import { type AggregatedDiscovery, aggregatedMediaType } from '@orch/core/discovery'
import { isJsonObject } from '@orch/core/json'
import { type ApiObject, badRequest, failed, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { isRefusal } from './refusals.ts'
import { type JsonRequest, sendJson } from './request.ts'
import {
  createResourceClient,
  type DeleteOptions,
  type GetOptions,
  type ObjectOptions,
  type PatchOptions,
  type ResourceAddress,
  type ResourceClient,
  type WriteOptions,
} from './resource-client.ts'
import type { Transport } from './transport.ts'

/** The name of an object whose resource is not known yet. */
export interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

/** A name, or an object that has it in its metadata. */
export type NamedObject = ObjectName | ApiObject

/** One resource as discovery describes it. */
export interface DiscoveredResource extends ResourceAddress {
  readonly kind: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
}

/** The verbs for objects of any kind: the resource is found by apiVersion and kind. */
interface ObjectsClient {
  get<T extends ApiObject = ApiObject>(reference: NamedObject, options?: GetOptions): Promise<T>
  create<T extends ApiObject>(object: T, options?: WriteOptions): Promise<T>
  update<T extends ApiObject>(object: T, options?: WriteOptions): Promise<T>
  patch<T extends ApiObject = ApiObject>(reference: NamedObject, patch: unknown, options: PatchOptions): Promise<T>
  delete(reference: NamedObject, options?: ObjectOptions, body?: DeleteOptions): Promise<unknown>
}

/** One resource in one of the versions of its group. */
export interface VersionedResource extends DiscoveredResource {
  readonly isPreferred: boolean
}

/** A client of one server, as one user. */
export interface Client {
  resource<T extends ApiObject = ApiObject>(address: ResourceAddress): ResourceClient<T>
  readonly objects: ObjectsClient
  /** All resources of one group version, without subresources. */
  discover(group: string, version: string): Promise<readonly DiscoveredResource[]>
  /** All resources of all groups, each in the preferred version of its group, or else in the first version that serves it. */
  discoverAll(): Promise<Discovery<DiscoveredResource>>
  /** All resources of every version of all groups; each group's preferred version comes first. */
  discoverVersions(): Promise<Discovery<VersionedResource>>
  /** Sends any request and reads the answer as JSON. */
  request<T = unknown>(request: JsonRequest): Promise<T>
  readonly transport: Transport
  close(): void
}

/** A group version whose resources are unknown because its server does not answer. */
export interface UndiscoveredVersion {
  readonly group: string
  readonly version: string
  readonly reason: string
}

/** The discovered resources of a server. */
export interface Discovery<Resource extends DiscoveredResource> {
  readonly resources: readonly Resource[]
  /** Group versions without an answer. They may have resources that are missing from the list above. */
  readonly undiscovered: readonly UndiscoveredVersion[]
}

/** The group versions that were not discovered, as a sentence in the words of Go's clients. */
export function undiscoveredMessage(undiscovered: readonly UndiscoveredVersion[]): string {
  const each = undiscovered.map(({ group, version, reason }) => `${group}/${version}: ${reason}`)
  return `unable to retrieve the complete list of server APIs: ${each.sort().join(', ')}`
}

/** Servers in Go print empty lists as null. */
interface ResourceListDocument {
  readonly resources:
    | readonly {
        readonly name: string
        readonly singularName?: string
        readonly shortNames?: readonly string[]
        readonly categories?: readonly string[]
        readonly kind: string
        readonly namespaced: boolean
        readonly verbs: readonly string[] | null
      }[]
    | null
}

interface GroupListDocument {
  readonly kind: 'APIGroupList'
  readonly groups: readonly {
    readonly name: string
    readonly preferredVersion: { readonly version: string }
    /** Some servers omit the versions of a group that has only one. */
    readonly versions?: readonly { readonly version: string }[]
  }[]
}

/** Asks for all groups in one document, under the names of either profile, from servers that support it. */
const accept = [
  ...(['orch', 'kubernetes'] as const).map((profile) => aggregatedMediaType(namesOf(profile), 'application/json')),
  'application/json',
].join(',')

function staleOf({ metadata: { name: group = '' }, versions }: AggregatedDiscovery['items'][number]): UndiscoveredVersion[] {
  const stale = versions.filter(({ freshness }) => freshness === 'Stale')
  return stale.map(({ version }) => ({ group, version, reason: `stale GroupVersion discovery: ${group}/${version}` }))
}

/** The resources of a group in its versions, the preferred one first. */
function resourcesOf({ metadata, versions }: AggregatedDiscovery['items'][number]): VersionedResource[] {
  const { name: group = '' } = metadata
  return versions.flatMap(({ version, resources = [], freshness }, index) =>
    (freshness === 'Stale' ? [] : resources).flatMap((resource) => {
      const { resource: plural, singularResource, scope, verbs, shortNames = [], categories = [], responseKind } = resource
      // The resource has only subresources.
      if (!responseKind?.kind) return []
      const { kind } = responseKind
      const singular = singularResource === '' ? kind.toLowerCase() : singularResource
      const namespaced = scope === 'Namespaced'
      return { group, version, plural, singular, namespaced, kind, verbs, shortNames, categories, isPreferred: index === 0 }
    }),
  )
}

/** Maximum number of parallel discovery requests: a server may have a thousand groups, and limits the requests of one user. */
const discoveriesAtOnce = 8

/** A client over a transport. */
export function createClient(transport: Transport): Client {
  const request = <T>(what: JsonRequest) => sendJson<T>(transport, what)
  const resource = <T extends ApiObject>(address: ResourceAddress) => createResourceClient<T>(transport, address)
  const discover = async (group: string, version: string) => {
    const path = group === '' ? `/api/${encodeURIComponent(version)}` : `/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`
    const { resources } = await request<ResourceListDocument>({ method: 'GET', path })
    return (resources ?? [])
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, singularName = '', kind, namespaced, verbs, shortNames = [], categories = [] }) => {
        const singular = singularName === '' ? kind.toLowerCase() : singularName
        return { group, version, plural: name, singular, namespaced, kind, verbs: verbs ?? [], shortNames, categories }
      })
  }
  const discoverVersions = async (): Promise<Discovery<VersionedResource>> => {
    const undiscovered: UndiscoveredVersion[] = []
    const attempt = async ({ group, version, isPreferred }: GroupVersion): Promise<readonly VersionedResource[]> => {
      try {
        return (await discover(group, version)).map((one) => ({ ...one, isPreferred }))
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        undiscovered.push({ group, version, reason: error.message })
        return []
      }
    }
    const found = (await discover('', 'v1')).map((one) => ({ ...one, isPreferred: true }))
    const document = await request<GroupListDocument | AggregatedDiscovery>({ method: 'GET', path: '/apis', headers: { accept } })
    if (document.kind === 'APIGroupDiscoveryList') {
      return { resources: [...found, ...document.items.flatMap(resourcesOf)], undiscovered: document.items.flatMap(staleOf) }
    }
    const versions = document.groups.flatMap(versionsOf)
    for (let first = 0; first < versions.length; first += discoveriesAtOnce) {
      const some = versions.slice(first, first + discoveriesAtOnce)
      for (const one of (await Promise.all(some.map(attempt))).flat()) found.push(one)
    }
    return { resources: found, undiscovered }
  }
  return {
    resource,
    objects: createObjectsClient(resource, discover),
    discover,
    discoverAll: async () => {
      const { resources, undiscovered } = await discoverVersions()
      return { resources: firstOfEach(resources), undiscovered }
    },
    discoverVersions,
    request,
    transport,
    close: () => transport.close(),
  }
}

/** Each resource once, in the first of its versions. */
function firstOfEach(versions: readonly VersionedResource[]): DiscoveredResource[] {
  const found = new Map<string, DiscoveredResource>()
  for (const { isPreferred: _isPreferred, ...resource } of versions) {
    const name = `${resource.group}/${resource.plural}`
    if (!found.has(name)) found.set(name, resource)
  }
  return [...found.values()]
}

interface GroupVersion {
  readonly group: string
  readonly version: string
  readonly isPreferred: boolean
}

/** The versions of a group, the preferred one first. */
function versionsOf({ name: group, preferredVersion, versions = [] }: GroupListDocument['groups'][number]): GroupVersion[] {
  const others = versions.filter(({ version }) => version !== preferredVersion.version)
  return [preferredVersion, ...others].map(({ version }, index) => ({ group, version, isPreferred: index === 0 }))
}

type Resource = <T extends ApiObject>(address: ResourceAddress) => ResourceClient<T>
type Discover = (group: string, version: string) => Promise<readonly DiscoveredResource[]>

function createObjectsClient(resource: Resource, discover: Discover): ObjectsClient {
  const known = new Map<string, ResourceAddress>()
  const find = async <T extends ApiObject>(apiVersion: string, kind: string): Promise<ResourceClient<T>> => {
    requireText('apiVersion', apiVersion)
    requireText('kind', kind)
    const key = `${apiVersion} ${kind}`
    if (!known.has(key)) {
      const slash = apiVersion.indexOf('/')
      const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)]
      const served = await discover(group, version).catch((error) => {
        if (isRefusal(error, [404])) return []
        throw error
      })
      for (const found of served) known.set(`${apiVersion} ${found.kind}`, found)
    }
    const address = known.get(key)
    if (address === undefined)
      throw failed(404, 'NotFound', `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
    return resource<T>(address)
  }
  return {
    async get<T extends ApiObject>(named: NamedObject, options: GetOptions = {}) {
      const { apiVersion, kind, name, namespace } = objectName(named)
      return (await find<T>(apiVersion, kind)).get(name, { namespace, ...options })
    },
    create: async (object, options) => (await find<typeof object>(object.apiVersion, object.kind)).create(requireMetadata(object), options),
    update: async (object, options) => (await find<typeof object>(object.apiVersion, object.kind)).update(requireMetadata(object), options),
    async patch<T extends ApiObject>(named: NamedObject, patch: unknown, options: PatchOptions) {
      const { apiVersion, kind, name, namespace } = objectName(named)
      return (await find<T>(apiVersion, kind)).patch(name, patch, { namespace, ...options })
    },
    async delete(named, options = {}, body = undefined) {
      const { apiVersion, kind, name, namespace } = objectName(named)
      return (await find(apiVersion, kind)).delete(name, { namespace, ...options }, body)
    },
  }
}

/** The name of an object. Without a name, requests would be about all objects of the kind. */
export function objectName(named: NamedObject): ObjectName {
  const { apiVersion, kind, metadata }: { apiVersion: string; kind: string; metadata?: ApiObject['metadata'] } = named
  const { name = metadata?.name, namespace = metadata?.namespace }: Partial<ObjectName> = named
  requireText('apiVersion', apiVersion)
  requireText('kind', kind)
  requireText('name', name)
  return { apiVersion, kind, name, namespace }
}

/** Throws a bad request where a caller without types left out the field, or gave something else. */
function requireText(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '')
    throw badRequest(`${field}: expected a text that is not empty, got ${JSON.stringify(value)}`)
}

function requireMetadata<T extends ApiObject>(object: T): T {
  const { metadata }: { readonly metadata?: unknown } = object
  if (isJsonObject(metadata)) return object
  throw badRequest(`metadata: expected an object, got ${JSON.stringify(metadata)}`)
}
