import { type AdmissionRuleIndex, type AdmissionRulesPart, type AdmissionService, createAdmissionRuleIndex } from '@orch/core/contracts'
import { jsonEqual } from '@orch/core/json'
import { type Clock, ended, type Log, sleep } from '@orch/platform'
import { limits } from '../limits.ts'

const anybody = {}

/** Delay before the admission rules are requested again. */
const retryDelayMs = 1_000

interface AdmissionRulesOptions {
  /** True if admission is in this process, which does not renew the rules. */
  readonly isOwn: boolean
  readonly clock: Clock
  readonly log: Log
}

/** The admission rules of the last message in the stream. */
export class AdmissionRules {
  readonly #admission: AdmissionService
  readonly #isOwn: boolean
  readonly #clock: Clock
  readonly #log: Log
  readonly #closed = new AbortController()
  readonly #waiting = new Set<{ readonly resource: string; readonly revision: number; resolve(): void }>()
  #made: AdmissionRulesPart['admissionRules'] | undefined
  readonly #sources = new Map<string, number>()
  /** Changes identity with the content; undefined before the first message, and after a lost stream without renewals. */
  index: AdmissionRuleIndex<unknown> | undefined
  /** The time of the last message, on the monotonic clock. */
  receivedMs = 0
  hasBegun = false
  /** Revisions of the resources that the rules are built from, by their storage prefixes. */
  readonly sources: Pick<ReadonlyMap<string, number>, 'has' | 'get'> = this.#sources

  constructor(admission: AdmissionService, { isOwn, clock, log }: AdmissionRulesOptions) {
    this.#admission = admission
    this.#isOwn = isOwn
    this.#clock = clock
    this.#log = log
  }

  /** Follows the rules from now on. */
  begin(): void {
    if (this.hasBegun) return
    this.hasBegun = true
    void this.#follow()
  }

  /** Resolves when the rules include the resource's changes up to the revision, or after a timeout. */
  async reached(resource: string, revision: number): Promise<void> {
    if (this.#includes(resource, revision) || this.#closed.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { resource, revision, resolve }
    this.#waiting.add(waiting)
    const timer = this.#clock.after(limits.admissionRulesWaitMsMax, resolve)
    await promise
    timer.cancel()
    this.#waiting.delete(waiting)
  }

  close(): void {
    this.#closed.abort(ended)
    for (const { resolve } of this.#waiting) resolve()
  }

  /** True if the rules include the resource's changes up to the revision. Before the first message that is unknown. */
  #includes(resource: string, revision: number): boolean {
    return this.index !== undefined && (this.#sources.get(resource) ?? revision) >= revision
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closed
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        for await (const part of this.#admission.admissionRules({ isSameProcess: this.#isOwn }, { signal })) {
          attempt = 0
          this.#take(part)
          if (signal.aborted) return
        }
      } catch (error) {
        if (!signal.aborted) this.#log[attempt > 1 ? 'warn' : 'debug']({ err: error, attempt }, 'the admission rules were lost')
      }
      // Without renewals their age does not show that they are outdated.
      if (this.#isOwn) this.index = undefined
      await sleep(this.#clock, retryDelayMs, signal)
    }
  }

  #take({ admissionRules, sources }: AdmissionRulesPart): void {
    this.receivedMs = this.#clock.monotonic()
    // Most parts repeat the rules of the one before. The index of these rules, and the decisions made with it, stay valid.
    if (this.index === undefined || !jsonEqual(admissionRules, this.#made)) {
      this.index = createAdmissionRuleIndex(admissionRules.map((admissionRule) => ({ admissionRule, value: anybody })))
      this.#made = admissionRules
    }
    this.#sources.clear()
    for (const { resource, revision } of sources) this.#sources.set(resource, revision)
    for (const { resource, revision, resolve } of this.#waiting) {
      if (this.#includes(resource, revision)) resolve()
    }
  }
}
