import { type AggregatedDiscovery, aggregatedMediaType } from '@orch/core/discovery'
import { type ApiObject, notFound } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
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

/** What names an object whose resource is not known yet. */
interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

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
  get<T extends ApiObject = ApiObject>(reference: ObjectReference, options?: GetOptions): Promise<T>
  create<T extends ApiObject>(object: T, options?: WriteOptions): Promise<T>
  update<T extends ApiObject>(object: T, options?: WriteOptions): Promise<T>
  patch<T extends ApiObject = ApiObject>(reference: ObjectReference, patch: unknown, options: PatchOptions): Promise<T>
  delete(reference: ObjectReference, options?: ObjectOptions, body?: DeleteOptions): Promise<unknown>
}

/** A client of one server, as one user. */
export interface Client {
  resource<T extends ApiObject = ApiObject>(address: ResourceAddress): ResourceClient<T>
  readonly objects: ObjectsClient
  /** All resources of one group version; subresources aside. */
  discover(group: string, version: string): Promise<readonly DiscoveredResource[]>
  /** All resources of the preferred versions of all groups. */
  discoverAll(): Promise<readonly DiscoveredResource[]>
  /** Any request that answers JSON. */
  request<T = unknown>(request: JsonRequest): Promise<T>
  readonly transport: Transport
  close(): void
}

interface ResourceListDocument {
  readonly resources: readonly {
    readonly name: string
    readonly singularName?: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
    readonly kind: string
    readonly namespaced: boolean
    readonly verbs: readonly string[]
  }[]
}

interface GroupListDocument {
  readonly kind: 'APIGroupList'
  readonly groups: readonly { readonly name: string; readonly preferredVersion: { readonly version: string } }[]
}

/** All groups in one document, from servers that have it, whichever names they use. */
const accept = [
  ...(['orch', 'kubernetes'] as const).map((profile) => aggregatedMediaType(namesOf(profile), 'v2')),
  'application/json',
].join(',')

/** The resources of a group's preferred version, which comes first. */
function resourcesOf({ metadata, versions: [preferred] }: AggregatedDiscovery['items'][number]): DiscoveredResource[] {
  const { name: group = '' } = metadata
  if (preferred === undefined) return []
  return preferred.resources.map((resource) => {
    const { resource: plural, singularResource, scope, verbs, shortNames = [], categories = [] } = resource
    const { kind } = resource.responseKind
    const singular = singularResource === '' ? kind.toLowerCase() : singularResource
    return { group, version: preferred.version, plural, singular, namespaced: scope === 'Namespaced', kind, verbs, shortNames, categories }
  })
}

/** Groups that are asked about at once: there may be a thousand, and a server refuses so many requests of one user. */
const discoveriesAtOnce = 8

/** A client over a transport. */
export function createClient(transport: Transport): Client {
  const request = <T>(what: JsonRequest) => sendJson<T>(transport, what)
  const resource = <T extends ApiObject>(address: ResourceAddress) => createResourceClient<T>(transport, address)
  const discover = async (group: string, version: string) => {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const { resources } = await request<ResourceListDocument>({ method: 'GET', path })
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, singularName = '', kind, namespaced, verbs, shortNames = [], categories = [] }) => {
        const singular = singularName === '' ? kind.toLowerCase() : singularName
        return { group, version, plural: name, singular, namespaced, kind, verbs, shortNames, categories }
      })
  }
  return {
    resource,
    objects: createObjectsClient(resource, discover),
    discover,
    async discoverAll() {
      const found = [...(await discover('', 'v1'))]
      const document = await request<GroupListDocument | AggregatedDiscovery>({ method: 'GET', path: '/apis', headers: { accept } })
      if (document.kind === 'APIGroupDiscoveryList') return [...found, ...document.items.flatMap(resourcesOf)]
      const versions = document.groups.map(({ name, preferredVersion }) => ({ group: name, ...preferredVersion }))
      for (let first = 0; first < versions.length; first += discoveriesAtOnce) {
        const some = versions.slice(first, first + discoveriesAtOnce)
        const resources = await Promise.all(some.map(({ group, version }) => discover(group, version)))
        for (const resource of resources.flat()) found.push(resource)
      }
      return found
    },
    request,
    transport,
    close: () => transport.close(),
  }
}

type Resource = <T extends ApiObject>(address: ResourceAddress) => ResourceClient<T>
type Discover = (group: string, version: string) => Promise<readonly DiscoveredResource[]>

function createObjectsClient(resource: Resource, discover: Discover): ObjectsClient {
  const known = new Map<string, ResourceAddress>()
  const find = async <T extends ApiObject>(apiVersion: string, kind: string): Promise<ResourceClient<T>> => {
    const key = `${apiVersion} ${kind}`
    if (!known.has(key)) {
      const slash = apiVersion.indexOf('/')
      const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)]
      for (const found of await discover(group, version)) known.set(`${apiVersion} ${found.kind}`, found)
    }
    const address = known.get(key)
    if (address === undefined) throw notFound({ group: '', resource: 'kinds' }, `${kind} in ${apiVersion}`)
    return resource<T>(address)
  }
  return {
    get: async <T extends ApiObject>({ apiVersion, kind, name, namespace }: ObjectReference, options: GetOptions = {}) =>
      (await find<T>(apiVersion, kind)).get(name, { namespace, ...options }),
    create: async (object, options) => (await find<typeof object>(object.apiVersion, object.kind)).create(object, options),
    update: async (object, options) => (await find<typeof object>(object.apiVersion, object.kind)).update(object, options),
    patch: async <T extends ApiObject>({ apiVersion, kind, name, namespace }: ObjectReference, patch: unknown, options: PatchOptions) =>
      (await find<T>(apiVersion, kind)).patch(name, patch, { namespace, ...options }),
    delete: async ({ apiVersion, kind, name, namespace }, options = {}, body = undefined) =>
      (await find(apiVersion, kind)).delete(name, { namespace, ...options }, body),
  }
}
