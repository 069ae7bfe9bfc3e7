import { readWithoutOwners } from '@orch/core/events'
import { boundedMemo } from '@orch/core/memo'
import { automanagedLabel, domainGroup } from '@orch/core/names'
import { isSame } from '@orch/core/validation'
import { ended, Reflector, type Stored } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { type ApiService, isRemote, type RemoteApi, readApiService, rootOf } from './api-service.ts'
import { managementOf } from './registration.ts'

/** The dependencies of watching APIServices. */
export type ApiServicesOptions = Pick<Surroundings, 'storage' | 'names' | 'clock' | 'log' | 'random'>

/** A stored APIService with its revision. */
export interface KnownApiService {
  readonly api: ApiService
  readonly revision: number
}

/** An APIService that was added, changed or removed. */
interface ApiServiceChange {
  readonly name: string
  /** Only its conditions have changed. */
  readonly isOfStatus: boolean
  /** It is or was remote. */
  readonly isRemote: boolean
}

type ApiServiceListener = (change: ApiServiceChange) => void

/** Watches the stored APIServices, and finds the remote server of a path. */
export class ApiServices {
  /** The remote APIServices, by the path of the group version. Most servers have none, and need no lookup for each request. */
  readonly remotes = new Map<string, RemoteApi>()
  readonly #all = new Map<string, KnownApiService>()
  readonly #options: ApiServicesOptions
  /** Names of APIServices that differ from this server's own registrations. */
  readonly #byHand = new Set<string>()
  readonly #label: string
  readonly #closed = new AbortController()
  readonly #listeners = new Set<ApiServiceListener>()
  readonly #prefix: string
  #isLoaded = false
  /** True if only this server serves the group of APIServices. */
  readonly #ownGroup: string

  constructor(options: ApiServicesOptions) {
    this.#options = options
    this.#label = automanagedLabel(options.names)
    this.#ownGroup = domainGroup(options.names, 'apiregistration')
    this.#prefix = `${this.#ownGroup}/apiservices`
  }

  /** Starts to watch; resolves when all stored APIServices are loaded. */
  async load(): Promise<void> {
    const { storage, clock, log, random } = this.#options
    const reflector = new Reflector({ storage, clock, log, random, resource: this.#prefix, keep: readStored, signal: this.#closed.signal })
    reflector.onChange(({ before, after, revision }) => this.#take(before, after, revision))
    await reflector.ready
    this.#isLoaded = true
  }

  /** True if all stored APIServices have been read. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  close(): void {
    this.#closed.abort(ended)
  }

  onChange(listener: ApiServiceListener): void {
    this.#listeners.add(listener)
  }

  get(name: string): KnownApiService | undefined {
    return this.#all.get(name)
  }

  values(): Iterable<KnownApiService> {
    return this.#all.values()
  }

  /** The remote APIService of this name. */
  remoteNamed(name: string): RemoteApi | undefined {
    const api = this.#all.get(name)?.api
    return api !== undefined && this.remotes.get(rootOf(api))?.name === name ? this.remotes.get(rootOf(api)) : undefined
  }

  /** The APIServices that differ from this server's own registrations, in the order of their arrival. */
  get byHand(): readonly ApiService[] {
    return [...this.#byHand].flatMap((name) => this.#all.get(name)?.api ?? [])
  }

  /** True if there are any. */
  get hasByHand(): boolean {
    return this.#byHand.size > 0
  }

  /** The remote APIService whose group version contains a path. */
  remoteAt(path: string): RemoteApi | undefined {
    const [, root, first, second] = path.split('/', 4)
    return this.remotes.get(root === 'api' ? `/api/${first}` : `/${root}/${first}/${second}`)
  }

  #take(before: ApiService | undefined, after: ApiService | undefined, revision: number): void {
    const name = (after ?? before)?.name ?? ''
    if (before !== undefined) this.remotes.delete(rootOf(before))
    if (after === undefined) {
      this.#all.delete(name)
      this.#byHand.delete(name)
    } else {
      this.#all.set(name, { api: after, revision })
      if (isRemote(after) || managementOf(after.labels, this.#label) === undefined) this.#byHand.add(name)
      else this.#byHand.delete(name)
      if (isRemote(after) && after.group !== this.#ownGroup) this.remotes.set(rootOf(after), after)
    }
    const isOfStatus = before !== undefined && after !== undefined && isSame({ ...before, conditions: [] }, { ...after, conditions: [] })
    const isOfOthers = [before, after].some((api) => api !== undefined && isRemote(api))
    for (const listener of this.#listeners) listener({ name, isOfStatus, isRemote: isOfOthers })
  }
}

/** APIServices that servers of one process remember by their texts: those of a start, and some more. */
const knownMax = 256
/** Longest remembered text. */
const knownBytesMax = 2_048

/** The APIService of a text, which servers with the same objects share. */
const knownApiService = boundedMemo(knownMax, (text: string) => readApiService(JSON.parse(text)))

function readStored(stored: Stored): ApiService {
  const { buffer, byteOffset, length } = stored.value
  return length > knownBytesMax
    ? readApiService(readWithoutOwners(stored))
    : knownApiService(Buffer.from(buffer, byteOffset, length).toString())
}
