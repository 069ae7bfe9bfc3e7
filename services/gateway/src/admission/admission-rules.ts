import {
  type AdmissionRuleIndex,
  type AdmissionRulesPart,
  type AdmissionService,
  createAdmissionRuleIndex,
  type RulePlace,
} from '@orch/core/contracts'
import { type Clock, type Log, sleep } from '@orch/platform'
import { limits } from '../limits.ts'

const anybody = {}

/** Pause before the admission rules are requested again. */
const retryDelayMs = 1_000

interface Waiting {
  readonly resource: string
  readonly revision: number
  resolve(): void
}

/** What admission wants to be asked about. A set that is too old is not believed: then everything is asked. */
export class AdmissionRules {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  readonly #waiting = new Set<Waiting>()
  #index: AdmissionRuleIndex<unknown> | undefined
  #made: AdmissionRulesPart['admissionRules'] | undefined
  #sources: ReadonlyMap<string, number> = new Map()
  #receivedMs = 0

  constructor(admission: AdmissionService, clock: Clock, log: Log) {
    this.#clock = clock
    void this.#follow(admission, log)
  }

  /** The set as long as it is believed; another object when it is another set. */
  get trusted(): AdmissionRuleIndex<unknown> | undefined {
    return this.#clock.monotonic() - this.#receivedMs > limits.admissionRulesAgeMsMax ? undefined : this.#index
  }

  match(phase: string, place: RulePlace): boolean {
    const { trusted } = this
    return trusted === undefined || trusted.find(phase, place).length > 0
  }

  /** Admission rules are made from this resource, by its storage prefix. */
  areMadeFrom(resource: string): boolean {
    return this.#sources.has(resource)
  }

  /** Resolves when the set includes the resource's changes up to the revision, or it has taken too long. */
  async reached(resource: string, revision: number): Promise<void> {
    if ((this.#sources.get(resource) ?? revision) >= revision || this.#closed.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { resource, revision, resolve }
    this.#waiting.add(waiting)
    const timer = this.#clock.after(limits.admissionRulesWaitMsMax, resolve)
    await promise
    timer.cancel()
    this.#waiting.delete(waiting)
  }

  close(): void {
    this.#closed.abort()
    for (const { resolve } of this.#waiting) resolve()
  }

  async #follow(admission: AdmissionService, log: Log): Promise<void> {
    const { signal } = this.#closed
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        for await (const part of admission.admissionRules({}, { signal })) {
          attempt = 0
          this.#take(part)
          if (signal.aborted) return
        }
      } catch (error) {
        if (!signal.aborted) log[attempt > 1 ? 'warn' : 'debug']({ err: error, attempt }, 'the admission rules were lost')
      }
      await sleep(this.#clock, retryDelayMs, signal)
    }
  }

  #take({ admissionRules, sources }: AdmissionRulesPart): void {
    this.#receivedMs = this.#clock.monotonic()
    // In one process the very same set is received again and again.
    if (admissionRules !== this.#made || this.#index === undefined) {
      this.#index = createAdmissionRuleIndex(admissionRules.map((admissionRule) => ({ admissionRule, value: anybody })))
      this.#made = admissionRules
    }
    this.#sources = new Map(sources.map(({ resource, revision }) => [resource, revision]))
    for (const { resource, revision, resolve } of this.#waiting) {
      if ((this.#sources.get(resource) ?? revision) >= revision) resolve()
    }
  }
}
