import { aggregatedGroup } from '@orch/core/discovery'
import { hasMembers } from '@orch/core/json'
import { namesOf } from '@orch/core/names'
import { ended, type Workqueue } from '@orch/platform'
import { isAvailable, type RemoteApi, rootOf } from './api-service.ts'
import { type QueueNeeds, queueRemotes } from './api-service-queue.ts'
import { type RemoteDocument, type RemoteJsonParts, readRemoteJson } from './remote-json.ts'

/** The dependencies of requesting resources from remote servers. */
export type RemoteDiscoveryOptions = RemoteJsonParts & QueueNeeds

/** A server's answer about the resources of its group version. */
export interface RemoteVersion {
  readonly resources: readonly RemoteResource[]
  /** True if the server does not answer now. */
  readonly freshness: 'Current' | 'Stale'
}

interface Known extends RemoteVersion {
  readonly etag: string
}

/** Versions of aggregated discovery that remote servers may support, preferred first. */
const formVersions = ['v2', 'v2beta1']
const workersMax = 8
const unknown: RemoteVersion = { resources: [], freshness: 'Stale' }

/** Caches the resources of remote servers, so that discovery does not wait for them. */
export class RemoteDiscovery {
  /** Increases with every change of the cached answers. */
  version = 0
  readonly #options: RemoteDiscoveryOptions
  readonly #accept: string
  readonly #known = new Map<string, Known>()
  readonly #queue: Workqueue
  readonly #closed = new AbortController()

  constructor(options: RemoteDiscoveryOptions) {
    this.#options = options
    const { apiServices, names } = options
    const groups = [...new Set([aggregatedGroup(namesOf('kubernetes')), aggregatedGroup(names)])]
    const clauses = formVersions.flatMap((version) =>
      groups.map((group) => `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`),
    )
    this.#accept = [...clauses, 'application/json'].join(',')
    this.#queue = queueRemotes(options, {
      name: 'remote_discovery',
      work: (name) => this.#ask(name),
      problem: 'the resources of an APIService could not be read',
      signal: this.#closed.signal,
      workersMax,
    })
    apiServices.onChange(() => {
      this.version += 1
    })
  }

  /** The cached resources of an APIService. */
  of({ name }: RemoteApi): RemoteVersion {
    return this.#known.get(name) ?? unknown
  }

  async close(): Promise<void> {
    this.#closed.abort(ended)
    await this.#queue.close()
  }

  async #ask(name: string): Promise<void> {
    const { apiServices } = this.#options
    const api = apiServices.remoteNamed(name)
    if (api === undefined) {
      if (this.#known.delete(name)) this.version += 1
      return
    }
    const before = this.#known.get(name)
    const after = isAvailable(api) ? await this.#read(api, before) : undefined
    if (after === before && before !== undefined) return
    this.#known.set(name, after ?? { resources: before?.resources ?? [], etag: '', freshness: 'Stale' })
    this.version += 1
  }

  /** Everything in one document if the server supports that form, otherwise the list of the group version. */
  async #read(api: RemoteApi, before: Known | undefined): Promise<Known | undefined> {
    const { group, version } = api
    const { signal } = this.#closed
    const etag = before?.freshness === 'Current' ? before.etag : ''
    const whole = await readRemoteJson(api, { path: '/apis', accept: this.#accept, etag, signal }, this.#options)
    if (whole.kind === 'same') return before
    const aggregated = isAggregated(whole) ? resourcesInAggregated(whole.value, group, version) : undefined
    if (aggregated !== undefined && whole.kind === 'read') return { resources: aggregated, etag: whole.etag, freshness: 'Current' }
    const list = await readRemoteJson(api, { path: rootOf(api), accept: 'application/json', signal }, this.#options)
    const resources = list.kind === 'read' ? resourcesInList(list.value, group, version) : undefined
    return resources === undefined ? undefined : { resources, etag: '', freshness: 'Current' }
  }
}

function isAggregated(document: RemoteDocument): document is RemoteDocument & { readonly kind: 'read' } {
  return document.kind === 'read' && document.contentType.includes('as=APIGroupDiscoveryList')
}

/** A resource in aggregated discovery, as another server describes it. */
export type RemoteResource = Readonly<Record<string, unknown>>

/**
 * The resources of a group version in an APIGroupDiscoveryList; undefined if the group version is absent. Each is parsed member by member, since one
 * member of a wrong type would invalidate the whole document for clients.
 */
export function resourcesInAggregated(document: unknown, group: string, version: string): readonly RemoteResource[] | undefined {
  const item = itemsOf(document, 'items').find((one) => hasMembers(one['metadata']) && one['metadata']['name'] === group)
  const found = itemsOf(item, 'versions').find((one) => one['version'] === version)
  if (found === undefined) return undefined
  return itemsOf(found, 'resources')
    .filter(({ resource }) => isText(resource))
    .map((entry) => {
      const subresources = itemsOf(entry, 'subresources').filter(({ subresource }) => isText(subresource))
      return {
        resource: entry['resource'],
        responseKind: kindOf(entry['responseKind']),
        scope: textOf(entry['scope']),
        singularResource: textOf(entry['singularResource']),
        verbs: textsOf(entry['verbs']),
        ...listed('shortNames', entry),
        ...listed('categories', entry),
        ...(subresources.length === 0
          ? {}
          : {
              subresources: subresources.map((one) => ({
                subresource: one['subresource'],
                responseKind: kindOf(one['responseKind']),
                verbs: textsOf(one['verbs']),
              })),
            }),
      }
    })
}

/** The resources in an APIResourceList, in which subresources have entries of their own. */
export function resourcesInList(document: unknown, group: string, version: string): readonly RemoteResource[] | undefined {
  if (!hasMembers(document) || document['groupVersion'] !== `${group}/${version}`) return undefined
  const entries = itemsOf(document, 'resources').filter(({ name, kind }) => isText(name) && isText(kind))
  const isPart = ({ name }: RemoteResource) => String(name).includes('/')
  const subresources = entries.filter(isPart)
  const parents = new Map(entries.filter((entry) => !isPart(entry)).map((entry) => [entry['name'], entry]))
  for (const { name, namespaced } of subresources) {
    const parent = String(name).split('/')[0]
    if (!parents.has(parent)) parents.set(parent, { name: parent, namespaced })
  }
  return [...parents.values()].map((entry) => {
    const own = subresources.filter(({ name }) => String(name).startsWith(`${entry['name']}/`))
    return {
      resource: entry['name'],
      responseKind: kindOf(entry),
      scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
      singularResource: textOf(entry['singularName']),
      verbs: textsOf(entry['verbs']),
      ...listed('shortNames', entry),
      ...listed('categories', entry),
      ...(own.length === 0 ? {} : { subresources: own.map(subresourceOf) }),
    }
  })
}

function subresourceOf(entry: Readonly<Record<string, unknown>>) {
  const subresource = String(entry['name']).split('/').slice(1).join('/')
  return { subresource, responseKind: kindOf(entry), verbs: textsOf(entry['verbs']) }
}

/** As in kube-apiserver, a resource without a kind, which has only subresources, has an empty one. */
function kindOf(given: unknown) {
  const entry = hasMembers(given) ? given : {}
  return { group: textOf(entry['group']), version: textOf(entry['version']), kind: textOf(entry['kind']) }
}

function listed(name: string, entry: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>> {
  const texts = textsOf(entry[name])
  return texts.length === 0 ? {} : { [name]: texts }
}

function itemsOf(holder: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = hasMembers(holder) ? holder[name] : undefined
  return Array.isArray(list) ? list.filter(hasMembers) : []
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : []
}

function textOf(value: unknown): string {
  return isText(value) ? value : ''
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
