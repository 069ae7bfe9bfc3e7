import type { Catalogue } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import { automanagedLabel } from '@orch/core/names'
import { isSame } from '@orch/core/validation'
import { ended, onAbort, type Workqueue } from '@orch/platform'
import type { CatalogueListener } from '../custom-resources/live-catalogue.ts'
import type { HealthCheck } from '../server/health-check.ts'
import { type ApiService, isAvailable, readApiService } from './api-service.ts'
import { type QueueNeeds, queueApiServices } from './api-service-queue.ts'
import type { KnownApiService } from './api-services.ts'
import { apiServiceName, builtInGroupVersions, customGroupVersions, type GroupVersion, localApiService } from './local-api-service.ts'
import type { OwnWrites } from './own-writes.ts'
import { type Management, managementOf, registrationStep } from './registration.ts'

/** The dependencies of registering local APIServices. */
export interface RegistrarOptions extends QueueNeeds {
  readonly builtIn: Catalogue
  /** The served catalogue, and its changes. */
  readonly live: { current(): Catalogue; onChange(listener: CatalogueListener): () => void }
  readonly writes: OwnWrites
  /** Creates objects where none of their kind is stored yet. */
  readonly writeFirst: (objects: readonly ApiObject[]) => Promise<void>
  /** Resolves when all stored definitions are served; undefined if they already are. */
  readonly complete: () => Promise<void> | undefined
}

/** A group version to register. */
interface Wanted extends GroupVersion {
  readonly management: Management
}

/** Grace period for another gateway's APIService, which may belong to a definition that this gateway does not know yet. */
const strangeMs = 2_000
const workersMax = 4

/** Ensures that each group version that this server serves has an APIService. */
export class Registrar {
  /** Not ready before every local APIService has been seen available. */
  readonly check: HealthCheck
  readonly #options: RegistrarOptions
  readonly #label: string
  readonly #queue: Workqueue
  readonly #closed = new AbortController()
  /** By name. The objects are created lazily, as there may be thousands. */
  readonly #wanted = new Map<string, Wanted>()
  readonly #known = new Set<string>()
  readonly #synced = new Set<string>()
  readonly #atStart = new Set<string>()
  readonly #unseen = new Set<string>()
  /** Observed APIServices that were never registered here. */
  readonly #strange = new Set<string>()
  /** Names of the APIServices that custom resources need, by group. */
  readonly #custom = new Map<string, readonly string[]>()
  #isStarted = false

  constructor(options: RegistrarOptions) {
    this.#options = options
    const { apiServices, builtIn, live } = options
    this.#label = automanagedLabel(builtIn.names)
    this.#queue = queueApiServices(options, {
      name: 'autoregister',
      work: (name) => this.#sync(name),
      problem: 'an APIService could not be registered yet',
      signal: this.#closed.signal,
      workersMax,
    })
    this.check = {
      name: 'autoregister-completion',
      condition: 'registration',
      check: () => (this.#unseen.size === 0 ? undefined : `missing APIService: [${[...this.#unseen].sort().join(' ')}]`),
    }
    apiServices.onChange(({ name, isOfStatus }) => {
      this.#see(name)
      if (this.#isStarted && !isOfStatus) this.#queue.add(name)
    })
    live.onChange((catalogue, changed) => this.#takeCustom(catalogue, changed))
  }

  /** Registers the served group versions at the start. Called when the stored APIServices and definitions are known. */
  async start(): Promise<void> {
    const { apiServices, builtIn, clock, live, writeFirst } = this.#options
    for (const one of builtInGroupVersions(builtIn)) this.#wanted.set(apiServiceName(one), { ...one, management: 'onstart' })
    for (const { api } of apiServices.values()) this.#atStart.add(api.name)
    for (const name of this.#wanted.keys()) this.#unseen.add(name)
    for (const { api } of apiServices.values()) this.#see(api.name)
    if (this.#atStart.size === 0) {
      await writeFirst([...this.#wanted.values()].map((one) => localApiService(builtIn.names, one)))
      for (const name of this.#wanted.keys()) this.#synced.add(name)
    }
    this.#isStarted = true
    const catalogue = live.current()
    this.#takeCustom(
      catalogue,
      catalogue.groups.map(({ name }) => name),
    )
    for (const name of this.#wanted.keys()) this.#queue.add(name)
    // The definitions' APIServices are known once the definitions are loaded, a moment after the start.
    const strange = clock.after(strangeMs, () => {
      for (const name of this.#atStart) if (!this.#wanted.has(name)) this.#queue.add(name)
    })
    onAbort(this.#closed.signal, () => strange.cancel())
  }

  async close(): Promise<void> {
    this.#closed.abort(ended)
    await this.#queue.close()
  }

  #see(name: string): void {
    const known = this.#options.apiServices.get(name)
    if (known !== undefined && isAvailable(known.api)) this.#unseen.delete(name)
  }

  /** Reads the served versions of these groups. */
  #takeCustom(catalogue: Catalogue, groups: readonly string[]): void {
    if (!this.#isStarted) return
    for (const group of groups) {
      const served = customGroupVersions(catalogue, this.#options.builtIn, group)
      const before = this.#custom.get(group) ?? []
      const names = served.map(apiServiceName)
      if (names.length === 0) this.#custom.delete(group)
      else this.#custom.set(group, names)
      for (const one of served) {
        const name = apiServiceName(one)
        if (before.includes(name)) continue
        this.#wanted.set(name, { ...one, management: 'true' })
        this.#known.add(name)
        this.#queue.add(name)
      }
      for (const name of before) {
        if (names.includes(name)) continue
        this.#wanted.delete(name)
        this.#queue.add(name)
      }
    }
  }

  async #sync(name: string): Promise<void> {
    const { apiServices, builtIn, writes } = this.#options
    const wantedNow = this.#wanted.get(name)
    const wanted = wantedNow && localApiService(builtIn.names, wantedNow)
    const stored = apiServices.get(name)
    const step = registrationStep({
      wanted: wantedNow,
      stored: stored && {
        management: managementOf(stored.api.labels, this.#label),
        isAsWanted: wanted !== undefined && isSame(specOf(stored.api), specOf(readApiService(wanted))),
      },
      hasSynced: this.#synced.has(name),
      wasThereAtStart: this.#atStart.has(name),
    })
    if (step === 'create' && wanted !== undefined) await writes.create(wanted)
    if (step === 'update' && wanted !== undefined && stored !== undefined) await this.#update(wanted, stored)
    if (step === 'delete' && stored !== undefined && (await this.#mayDelete(name))) await writes.delete(name, stored.api.uid)
    this.#synced.add(name)
  }

  /** Labels and annotations stay; only registered members are corrected. */
  async #update(wanted: ApiObject, { api, revision }: KnownApiService): Promise<void> {
    await this.#options.writes.replace({ ...wanted, metadata: { ...wanted.metadata, labels: { ...api.labels } } }, revision)
  }

  async #mayDelete(name: string): Promise<boolean> {
    // Definitions are loaded a moment after the start, and then their groups are registered.
    await this.#options.complete()
    if (this.#wanted.has(name)) return false
    if (this.#known.has(name) || this.#strange.delete(name)) return true
    this.#strange.add(name)
    this.#queue.addAfter(name, strangeMs)
    return false
  }
}

function specOf({ group, version, service, authorities, skipsVerification, groupPriority, versionPriority }: ApiService) {
  return { group, version, service, authorities, skipsVerification, groupPriority, versionPriority }
}
