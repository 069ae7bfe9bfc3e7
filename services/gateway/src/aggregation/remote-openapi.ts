import { hasMembers } from '@orch/core/json'
import { type Clock, createWorkqueue, type Log, type Workqueue } from '@orch/platform'
import { isAvailable, type RemoteApi } from './api-service.ts'
import type { ApiServices } from './api-services.ts'
import { hashOf, type OpenApi2Part, partOfOpenApi2, toOpenApi3 } from './openapi-of-remote.ts'
import { type RemoteJsonParts, readRemoteJson } from './remote-json.ts'

/** What reading OpenAPI documents of other servers needs. */
export interface RemoteOpenApiOptions extends RemoteJsonParts {
  readonly apiServices: ApiServices
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

/** An OpenAPI 3 document of another server. */
export interface RemoteFile {
  readonly bytes: Uint8Array
  /** Its own server's, where that has given one. */
  readonly hash: string
  readonly madeMs: number
}

/** What is known of one group version. */
export interface RemoteDocuments {
  /** Of `/openapi/v3`: `apis/<group>/<version>`. */
  readonly name: string
  readonly part2: OpenApi2Part | undefined
  readonly file3: RemoteFile | undefined
}

const againMs = 60_000
const workersMax = 4

/** Remembers the OpenAPI documents of other servers, so that those of this server wait for none of them. */
export class RemoteOpenApi {
  readonly #options: RemoteOpenApiOptions
  readonly #known = new Map<string, RemoteDocuments>()
  readonly #queue: Workqueue
  readonly #closed = new AbortController()
  readonly #rounds: { cancel(): void }
  #all: readonly RemoteDocuments[] = []

  constructor(options: RemoteOpenApiOptions) {
    this.#options = options
    const { apiServices, clock, log, random } = options
    this.#queue = createWorkqueue({
      work: (name) => this.#ask(name),
      onError: (apiService, error) => log.debug({ apiService, err: error }, 'the OpenAPI documents of an APIService could not be read'),
      clock,
      random,
      signal: this.#closed.signal,
      workersMax,
    })
    apiServices.onChange(({ name }) => this.#queue.add(name))
    this.#rounds = clock.every(againMs, () => {
      for (const { name } of apiServices.remotes.values()) this.#queue.add(name)
    })
  }

  /** All that is known; the same value for as long as nothing of it changes. */
  get all(): readonly RemoteDocuments[] {
    return this.#all
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#rounds.cancel()
    await this.#queue.close()
  }

  async #ask(name: string): Promise<void> {
    const api = this.#options.apiServices.remoteNamed(name)
    if (api === undefined) {
      if (this.#known.delete(name)) this.#all = [...this.#known.values()]
      return
    }
    // What a server that is away has said stays.
    if (!isAvailable(api)) return
    const before = this.#known.get(name)
    const after = await this.#read(api, before)
    if (before !== undefined && JSON.stringify(before.part2) === JSON.stringify(after.part2) && before.file3?.hash === after.file3?.hash)
      return
    this.#known.set(name, after)
    this.#all = [...this.#known.values()]
  }

  async #read(api: RemoteApi, before: RemoteDocuments | undefined): Promise<RemoteDocuments> {
    const { group, version } = api
    const name = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const { signal } = this.#closed
    const document = await readRemoteJson(api, { path: '/openapi/v2', accept: 'application/json', signal }, this.#options)
    const part2 = document.kind === 'read' ? partOfOpenApi2(document.value, api) : before?.part2
    return { name, part2, file3: (await this.#read3(api, name, before?.file3)) ?? this.#made3(part2, before?.file3) }
  }

  async #read3(api: RemoteApi, name: string, before: RemoteFile | undefined): Promise<RemoteFile | undefined> {
    const { signal } = this.#closed
    const ask = (path: string) => readRemoteJson(api, { path, accept: 'application/json', signal }, this.#options)
    const index = await ask('/openapi/v3')
    const paths = index.kind === 'read' && hasMembers(index.value) ? index.value['paths'] : undefined
    const entry = hasMembers(paths) ? paths[name] : undefined
    const url = hasMembers(entry) ? entry['serverRelativeURL'] : undefined
    if (typeof url !== 'string' || !url.startsWith('/')) return undefined
    const hash = new URL(url, 'https://server.invalid').searchParams.get('hash') ?? ''
    if (before !== undefined && hash !== '' && before.hash === hash) return before
    const document = await ask(url)
    if (document.kind !== 'read') return before
    const bytes = Buffer.from(JSON.stringify(document.value))
    return { bytes, hash: /^[A-Za-z0-9]+$/.test(hash) ? hash : hashOf(bytes), madeMs: this.#options.clock.now() }
  }

  /** A server that speaks the older form alone is shown in both. */
  #made3(part2: OpenApi2Part | undefined, before: RemoteFile | undefined): RemoteFile | undefined {
    if (part2 === undefined) return before
    const bytes = Buffer.from(JSON.stringify(toOpenApi3(part2, this.#options.names.openApiTitle)))
    const hash = hashOf(bytes)
    return before?.hash === hash ? before : { bytes, hash, madeMs: this.#options.clock.now() }
  }
}
