import {
  type AdmissionService,
  createInterestIndex,
  type InterestIndex,
  type InterestPlace,
  type InterestsPart,
} from '@orch/core/contracts'
import { type Clock, type Log, sleep } from '@orch/platform'
import { limits } from '../limits.ts'

const anybody = {}

/** Pause before admission is asked for its interests again. */
const retryDelayMs = 1_000

interface Waiting {
  readonly resource: string
  readonly revision: number
  resolve(): void
}

/** What admission wants to be asked about. A set that is too old is not believed: then everything is asked. */
export class Interests {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  readonly #waiting = new Set<Waiting>()
  #index: InterestIndex<unknown> | undefined
  #made: InterestsPart['interests'] | undefined
  #sources: ReadonlyMap<string, number> = new Map()
  #receivedMs = 0

  constructor(admission: AdmissionService, clock: Clock, log: Log) {
    this.#clock = clock
    void this.#follow(admission, log)
  }

  /** The set as long as it is believed; another object when it is another set. */
  get trusted(): InterestIndex<unknown> | undefined {
    return this.#clock.monotonic() - this.#receivedMs > limits.interestAgeMsMax ? undefined : this.#index
  }

  match(phase: string, place: InterestPlace): boolean {
    const { trusted } = this
    return trusted === undefined || trusted.find(phase, place).length > 0
  }

  /** Interests are made from this resource, by its storage prefix. */
  areMadeFrom(resource: string): boolean {
    return this.#sources.has(resource)
  }

  /** Resolves when the set includes the resource's changes up to the revision, or it has taken too long. */
  async reached(resource: string, revision: number): Promise<void> {
    if ((this.#sources.get(resource) ?? revision) >= revision || this.#closed.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = { resource, revision, resolve }
    this.#waiting.add(waiting)
    const timer = this.#clock.after(limits.interestsWaitMsMax, resolve)
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
        for await (const part of admission.interests({}, { signal })) {
          attempt = 0
          this.#take(part)
          if (signal.aborted) return
        }
      } catch (error) {
        if (!signal.aborted) log[attempt > 1 ? 'warn' : 'debug']({ err: error, attempt }, 'the interests of admission were lost')
      }
      await sleep(this.#clock, retryDelayMs, signal)
    }
  }

  #take({ interests, sources }: InterestsPart): void {
    this.#receivedMs = this.#clock.monotonic()
    // In one process the very same set is told again and again.
    if (interests !== this.#made || this.#index === undefined) {
      this.#index = createInterestIndex(interests.map((interest) => ({ interest, value: anybody })))
      this.#made = interests
    }
    this.#sources = new Map(sources.map(({ resource, revision }) => [resource, revision]))
    for (const { resource, revision, resolve } of this.#waiting) {
      if ((this.#sources.get(resource) ?? revision) >= revision) resolve()
    }
  }
}
