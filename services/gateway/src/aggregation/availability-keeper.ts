import { printTime, toInstant } from '@orch/core/meta'
import { ended, retryDelayMs, sleep, type Workqueue } from '@orch/platform'
import { slicesPrefix } from '@orch/platform/webhooks'
import type { Surroundings } from '../surroundings.ts'
import { type ApiService, isAsLocal, isRemote, localVerdict } from './api-service.ts'
import { type QueueNeeds, queueApiServices } from './api-service-queue.ts'
import { type JudgeParts, judge, type Verdict, withVerdict } from './availability.ts'
import type { AvailabilityMetrics } from './metrics.ts'
import type { OwnWrites } from './own-writes.ts'

/** The dependencies of maintaining the conditions. */
export interface AvailabilityOptions extends Omit<JudgeParts, 'storage'>, QueueNeeds, Pick<Surroundings, 'storage' | 'names'> {
  readonly writes: OwnWrites
  readonly metrics: AvailabilityMetrics
}

const againMs = 30_000
const backoffFirstMs = 5
const workersMax = 20
const retryMsMax = 5_000

/**
 * Maintains the condition Available of APIServices: evaluated when an APIService, its Service or its endpoints change, and every half minute, as a
 * server may end silently. Each gateway evaluates by itself; only a different verdict is written.
 */
export class AvailabilityKeeper {
  readonly #options: AvailabilityOptions
  readonly #queue: Workqueue
  readonly #closed = new AbortController()
  #unfollow: (() => void) | undefined

  constructor(options: AvailabilityOptions) {
    this.#options = options
    const { apiServices } = options
    this.#queue = queueApiServices(options, {
      name: 'available_conditions',
      work: (name) => this.#look(name),
      problem: 'the availability of an APIService could not be judged yet',
      signal: this.#closed.signal,
      workersMax,
      backoffFirstMs,
    })
    apiServices.onChange(({ name, isOfStatus }) => {
      const known = apiServices.get(name)
      // There may be thousands at the start.
      if (known !== undefined && isAsLocal(known.api)) return this.#followIfNeeded()
      // A message that differs each time must not cause another evaluation.
      if (!isOfStatus || apiServices.remoteNamed(name) === undefined) this.#queue.add(name)
      this.#followIfNeeded()
    })
  }

  async close(): Promise<void> {
    this.#closed.abort(ended)
    this.#unfollow?.()
    await this.#queue.close()
  }

  /** Services and endpoints change often, so they are watched only if an APIService depends on them. */
  #followIfNeeded(): void {
    const { apiServices, clock } = this.#options
    const isNeeded = apiServices.remotes.size > 0
    if (isNeeded === (this.#unfollow !== undefined) || this.#closed.signal.aborted) return
    if (!isNeeded) {
      this.#unfollow?.()
      this.#unfollow = undefined
      return
    }
    const ending = new AbortController()
    const rounds = clock.every(againMs, () => {
      for (const { name } of apiServices.remotes.values()) this.#queue.add(name)
    })
    this.#unfollow = () => {
      ending.abort()
      rounds.cancel()
    }
    void this.#follow(ending.signal)
  }

  /** Services and endpoints are not cached: a change in a namespace triggers another evaluation. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { storage, names, clock, random, apiServices, log } = this.#options
    const resources = ['core/services', slicesPrefix(names)]
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      if (attempt > 0) await sleep(clock, retryDelayMs({ attempt, maxMs: retryMsMax, random: random() }), signal)
      if (signal.aborted) return
      try {
        const { revision, epoch } = await storage.status({})
        // Changes before this revision may have been missed.
        for (const { name } of apiServices.remotes.values()) this.#queue.add(name)
        for await (const part of storage.changes({ after: revision, epoch, resources }, { signal })) {
          if (part.kind === 'expired') break
          attempt = 0
          if (part.kind !== 'changes') continue
          const namespaces = new Set(part.changes.map(({ key }) => key.split('/').at(-2)))
          for (const { name, service } of apiServices.remotes.values()) if (namespaces.has(service.namespace)) this.#queue.add(name)
        }
      } catch (error) {
        if (!signal.aborted) log.debug({ err: error }, 'services and endpoints cannot be followed')
      }
    }
  }

  /** Messages may differ each time; the gateway that wrote the condition logs the verdict. */
  #report(api: ApiService, { status, reason, message }: Verdict): void {
    const { log } = this.#options
    const before = api.conditions.find(({ type }) => type === 'Available')?.status
    if (!isRemote(api) || before === status) return
    if (status === 'True') log.info({ apiService: api.name }, 'the server of an APIService is available')
    else log.warn({ apiService: api.name, reason, problem: message }, 'the server of an APIService is not available')
  }

  async #look(name: string): Promise<void> {
    const { apiServices, clock, metrics, writes } = this.#options
    const known = apiServices.get(name)
    if (known === undefined) return metrics.forget(name)
    const { api, revision } = known
    const verdict: Verdict = isRemote(api) ? await judge(api, this.#options) : localVerdict
    if (isRemote(api)) metrics.note(name, verdict)
    const conditions = withVerdict(api.conditions, verdict, printTime(toInstant(clock.now())))
    if (conditions !== api.conditions && (await writes.patchStatus(name, revision, conditions))) this.#report(api, verdict)
    // Evaluated again soon, as the server may be about to start.
    if (verdict.reason === 'FailedDiscoveryCheck') throw new Error(verdict.message)
  }
}
