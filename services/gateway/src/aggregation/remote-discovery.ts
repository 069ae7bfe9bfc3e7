import { aggregatedGroup } from '@orch/core/discovery'
import { namesOf } from '@orch/core/names'
import type { Workqueue } from '@orch/platform'
import { ended } from '@orch/platform'
import { isAvailable, type RemoteApi, rootOf } from './api-service.ts'
import { type QueueNeeds, queueRemotes } from './api-service-queue.ts'
import { type RemoteDocument, type RemoteJsonParts, readRemoteJson } from './remote-json.ts'
import { type RemoteResource, resourcesInAggregated, resourcesInList } from './remote-resources.ts'

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
