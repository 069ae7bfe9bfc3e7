import { hasMembers } from '@orch/core/json'
import { ended, type Workqueue } from '@orch/platform'
import type { HashedBytes, JoinedOpenApi, JoinOpenApiJob, OpenApiPart, ReadOpenApiAnswer, ReadOpenApiJob } from '../texts/jobs.ts'
import { joinOpenApi, readOpenApi } from '../texts/openapi-jobs.ts'
import { TextThread } from '../texts/text-thread.ts'
import { isAvailable, type RemoteApi, rootOf } from './api-service.ts'
import { type QueueNeeds, queueRemotes } from './api-service-queue.ts'
import { type ReadLimits, type RemoteJsonParts, readRemote, readRemoteJson } from './remote-json.ts'

/** The dependencies of reading OpenAPI documents of other servers. */
export type RemoteOpenApiOptions = RemoteJsonParts & QueueNeeds

/** An OpenAPI 3 document of a remote server. Its hash is from that server, if given. */
export interface RemoteFile extends HashedBytes {
  readonly madeMs: number
}

/** The cached documents of one group version. */
export interface RemoteDocuments {
  /** The name in `/openapi/v3`: `apis/<group>/<version>`. */
  readonly name: string
  /** Its part of the server's OpenAPI 2 document. */
  readonly part2: OpenApiPart | undefined
  readonly file3: RemoteFile | undefined
}

interface Known {
  readonly documents: RemoteDocuments
  /** The ETag of the OpenAPI 2 document; '' if the document has to be read again. */
  readonly etag: string
  /** True if its server supports OpenAPI 3 itself. */
  readonly has3: boolean
}

interface Described {
  readonly part2: OpenApiPart | undefined
  /** The part as OpenAPI 3. */
  readonly made3: HashedBytes | undefined
}

/** A server with a hundred kinds has two megabytes; this bound is far above. */
const documentLimits: ReadLimits = { bytesMax: 64 * 1024 * 1024, msMax: 60_000 }
const workersMax = 4

/** Caches the OpenAPI documents of remote servers, so that this server's documents do not wait for them. */
export class RemoteOpenApi {
  /** The thread that processes these documents. */
  readonly thread = new OpenApiThread()
  readonly #options: RemoteOpenApiOptions
  readonly #known = new Map<string, Known>()
  readonly #queue: Workqueue
  readonly #closed = new AbortController()
  #all: readonly RemoteDocuments[] = []

  constructor(options: RemoteOpenApiOptions) {
    this.#options = options
    this.#queue = queueRemotes(options, {
      name: 'remote_openapi',
      work: (name) => this.#ask(name),
      problem: 'the OpenAPI documents of an APIService could not be read',
      signal: this.#closed.signal,
      workersMax,
    })
  }

  /** All cached documents; the same value until one changes. */
  get all(): readonly RemoteDocuments[] {
    return this.#all
  }

  async close(): Promise<void> {
    this.#closed.abort(ended)
    await Promise.all([this.#queue.close(), this.thread.close()])
  }

  async #ask(name: string): Promise<void> {
    const api = this.#options.apiServices.remoteNamed(name)
    if (api === undefined) {
      if (this.#known.delete(name)) this.#list()
      return
    }
    // The documents of an unreachable server stay.
    if (!isAvailable(api)) return
    const before = this.#known.get(name)
    const after = await this.#read(api, before)
    const isSame = before !== undefined && isSameContent(before.documents, after.documents)
    this.#known.set(name, isSame ? { ...after, documents: before.documents } : after)
    if (!isSame) this.#list()
  }

  /** Sorted by name, since the order decides which of two definitions is renamed. */
  #list(): void {
    const all = [...this.#known.values()].map(({ documents }) => documents)
    this.#all = all.sort((left, right) => (left.name < right.name ? -1 : 1))
  }

  async #read(api: RemoteApi, before: Known | undefined): Promise<Known> {
    const name = rootOf(api).slice(1)
    const known = before?.documents
    const index = await this.#indexed(api, name)
    const has3 = index !== undefined
    const file3 = has3 ? await this.#read3(api, index, known?.file3) : undefined
    const { signal } = this.#closed
    const etag = before?.has3 === has3 ? before.etag : ''
    const question = { path: '/openapi/v2', accept: 'application/json', etag, signal }
    const document = await readRemote(api, question, documentLimits, this.#options)
    const read = document.kind === 'read' ? await this.#describe(api, document.bytes, has3) : undefined
    if (document.kind !== 'read' || read === undefined) {
      return { documents: { name, part2: known?.part2, file3: file3 ?? known?.file3 }, etag, has3 }
    }
    const { part2, made3 } = read
    return { documents: { name, part2, file3: file3 ?? this.#file3(made3, known?.file3) }, etag: document.etag, has3 }
  }

  /** Undefined for invalid JSON. */
  async #describe(api: RemoteApi, bytes: Uint8Array, has3: boolean): Promise<Described | undefined> {
    const { log, names } = this.#options
    const title3 = has3 ? undefined : names.openApiTitle
    try {
      const read = await this.thread.read({ kind: 'readOpenApi', bytes, root: rootOf(api), title3 })
      return read.kind === 'noOpenApi' ? { part2: undefined, made3: undefined } : { part2: read.part, made3: read.as3 }
    } catch (error) {
      log.debug({ apiService: api.name, err: error }, 'the OpenAPI document of an APIService could not be read')
      return undefined
    }
  }

  /** The path of the OpenAPI 3 document, if the server has that form. */
  async #indexed(api: RemoteApi, name: string): Promise<string | undefined> {
    const { signal } = this.#closed
    const index = await readRemoteJson(api, { path: '/openapi/v3', accept: 'application/json', signal }, this.#options)
    const paths = index.kind === 'read' && hasMembers(index.value) ? index.value['paths'] : undefined
    const entry = hasMembers(paths) ? paths[name] : undefined
    const url = hasMembers(entry) ? entry['serverRelativeURL'] : undefined
    return typeof url === 'string' && url.startsWith('/') ? url : undefined
  }

  async #read3(api: RemoteApi, url: string, before: RemoteFile | undefined): Promise<RemoteFile | undefined> {
    const { signal } = this.#closed
    const hash = new URL(url, 'https://server.invalid').searchParams.get('hash') ?? ''
    if (before !== undefined && hash !== '' && before.hash === hash) return before
    const document = await readRemote(api, { path: url, accept: 'application/json', signal }, documentLimits, this.#options)
    if (document.kind !== 'read') return before
    const isUsable = /^[A-Za-z0-9]+$/.test(hash)
    return { bytes: document.bytes, hash: isUsable ? hash : document.hash, madeMs: this.#options.clock.now() }
  }

  /** A server with only the older form is shown in both forms. */
  #file3(made: HashedBytes | undefined, before: RemoteFile | undefined): RemoteFile | undefined {
    return made === undefined || before?.hash === made.hash ? before : { ...made, madeMs: this.#options.clock.now() }
  }
}

function isSameContent(before: RemoteDocuments, after: RemoteDocuments): boolean {
  return before.part2?.hash === after.part2?.hash && before.file3?.hash === after.file3?.hash
}

/** Maximum size of documents that are parsed and printed in a few milliseconds. */
const atOnceBytesMax = 128 * 1024

/**
 * Processes OpenAPI documents of remote servers. Large ones are parsed and printed in a separate thread, so that neither the event loop nor the texts of
 * clients wait for them; the thread ends when it has no more work.
 */
export class OpenApiThread {
  #thread: TextThread | undefined
  #jobs = 0

  /** Parses a document's part of a group version. Rejects invalid JSON. */
  async read(job: ReadOpenApiJob): Promise<Exclude<ReadOpenApiAnswer, { kind: 'failed' }>> {
    const answer = job.bytes.length <= atOnceBytesMax ? readOpenApi(job) : await this.#in((thread) => thread.do(job))
    if (answer.kind === 'failed') throw answer.error
    return answer
  }

  /** A part of a document, printed for its place in a larger one. */
  async join(job: JoinOpenApiJob): Promise<JoinedOpenApi> {
    return job.bytes.length <= atOnceBytesMax ? joinOpenApi(job) : this.#in((thread) => thread.do(job))
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  async #in<T>(work: (thread: TextThread) => Promise<T>): Promise<T> {
    this.#thread ??= new TextThread()
    const thread = this.#thread
    this.#jobs += 1
    try {
      return await work(thread)
    } finally {
      this.#jobs -= 1
      if (this.#jobs === 0) {
        this.#thread = undefined
        await thread.close()
      }
    }
  }
}
