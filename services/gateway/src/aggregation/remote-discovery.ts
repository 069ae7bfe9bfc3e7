import { aggregatedGroup } from '@orch/core/discovery'
import { namesOf } from '@orch/core/names'
import { type Clock, createWorkqueue, type Log, type Workqueue, type WorkqueueMetrics } from '@orch/platform'
import { isAvailable, type RemoteApi, rootOf } from './api-service.ts'
import type { ApiServices } from './api-services.ts'
import { type RemoteDocument, type RemoteJsonParts, readRemoteJson } from './remote-json.ts'
import { type RemoteResource, resourcesInAggregated, resourcesInList } from './remote-resources.ts'

/** The dependencies of requesting resources from remote servers. */
export interface RemoteDiscoveryOptions extends RemoteJsonParts {
  readonly queues: WorkqueueMetrics
  readonly apiServices: ApiServices
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

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
const againMs = 60_000
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
  readonly #rounds: { cancel(): void }

  constructor(options: RemoteDiscoveryOptions) {
    this.#options = options
    const { apiServices, clock, log, names, queues, random } = options
    const groups = [...new Set([aggregatedGroup(namesOf('kubernetes')), aggregatedGroup(names)])]
    const clauses = formVersions.flatMap((version) =>
      groups.map((group) => `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`),
    )
    this.#accept = [...clauses, 'application/json'].join(',')
    this.#queue = createWorkqueue({
      name: 'remote_discovery',
      metrics: queues,
      work: (name) => this.#ask(name),
      onError: (apiService, error) => log.debug({ apiService, err: error }, 'the resources of an APIService could not be read'),
      clock,
      random,
      signal: this.#closed.signal,
      workersMax,
    })
    apiServices.onChange(({ name, isRemote }) => {
      this.version += 1
      if (isRemote) this.#queue.add(name)
    })
    this.#rounds = clock.every(againMs, () => {
      for (const { name } of apiServices.remotes.values()) this.#queue.add(name)
    })
  }

  /** The cached resources of an APIService. */
  of({ name }: RemoteApi): RemoteVersion {
    return this.#known.get(name) ?? unknown
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#rounds.cancel()
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
