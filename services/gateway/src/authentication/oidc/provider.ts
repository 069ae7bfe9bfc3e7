import { isJsonObject } from '@orch/core/json'
import { messageOf, unlessAborted } from '@orch/platform'
import type { JWK } from 'jose'
import type { Surroundings } from '../../surroundings.ts'
import type { FetchJson } from './fetch-json.ts'
import { limits } from './limits.ts'

export interface ProviderOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly issuer: string
  /** The URL of the discovery document; by default below the issuer. */
  readonly discoveryUrl?: string | undefined
  readonly fetchJson: FetchJson
}

/** Keys and when they were read, on the monotonic clock. */
interface KeySet {
  readonly keys: readonly JWK[]
  readonly readMs: number
}

/**
 * The keys of an OpenID provider, found through its discovery document. The provider is asked when a token first needs it, when a token names an unknown
 * key, and when the keys are old. One request at a time is shared by all waiting tokens; after a failure there is a delay, and requests for unknown keys
 * have a rate limit.
 */
export class Provider {
  readonly #options: ProviderOptions
  #keySetUrl: string | undefined
  #keySet: KeySet | undefined
  #failedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined
  /** Requests allowed at once, at the time of the last one. */
  #questions: number = limits.unknownKeyQuestionsMax
  #countedMs = Number.NEGATIVE_INFINITY
  #failure = 'the provider has not been asked yet'

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  /** Keys that may have signed a token; throws if the provider has never answered, or does not answer in the token's time. */
  async keysFor(keyId: string | undefined, timeoutMs: number): Promise<readonly JWK[]> {
    const late = new AbortController()
    const timer = this.#options.clock.after(timeoutMs, () => late.abort(new Error('the provider has not answered in time')))
    try {
      // The answer to a request in progress may be older than the key.
      if (this.#lacks(keyId) && this.#asking !== undefined) await unlessAborted(this.#asking, late.signal)
      if (this.#lacks(keyId)) await unlessAborted(this.#refresh(), late.signal)
    } finally {
      timer.cancel()
    }
    if (this.#keySet === undefined) throw new Error(this.#failure)
    return named(this.#keySet.keys, keyId)
  }

  #lacks(keyId: string | undefined): boolean {
    const known = this.#keySet
    if (known === undefined || this.#options.clock.monotonic() - known.readMs > limits.keysAgeMsMax) return true
    return named(known.keys, keyId).length === 0
  }

  async #refresh(): Promise<void> {
    if (this.#asking === undefined) {
      if (!this.#mayAsk()) return
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined
      })
    }
    await this.#asking
  }

  #mayAsk(): boolean {
    const nowMs = this.#options.clock.monotonic()
    if (nowMs - this.#failedMs < limits.pauseMs) return false
    const regained = (nowMs - this.#countedMs) / limits.unknownKeyIntervalMs
    const questions = Math.min(limits.unknownKeyQuestionsMax, this.#questions + regained)
    if (questions < 1) return false
    this.#questions = questions - 1
    this.#countedMs = nowMs
    return true
  }

  /** Known keys stay when the provider fails. */
  async #ask(): Promise<void> {
    const { fetchJson, clock, log, issuer } = this.#options
    try {
      this.#keySetUrl ??= await discover(this.#options)
      this.#keySet = { keys: readKeys(await fetchJson(this.#keySetUrl)), readMs: clock.monotonic() }
    } catch (error) {
      this.#failure = messageOf(error)
      this.#failedMs = clock.monotonic()
      log.warn({ issuer, err: error }, 'the OpenID provider could not be asked for its keys')
    }
  }
}

/** The URL of the keys. The document must name the same issuer. */
async function discover({ issuer, discoveryUrl, fetchJson }: ProviderOptions): Promise<string> {
  const url = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(url)
  const { issuer: named, jwks_uri: keySet } = isJsonObject(document) ? document : {}
  if (named !== issuer) throw new Error(`${url}: issuer: must be ${issuer}`)
  if (typeof keySet !== 'string') throw new Error(`${url}: jwks_uri: must be an address`)
  return keySet
}

/** The keys for signatures. */
function readKeys(document: unknown): JWK[] {
  const keys = isJsonObject(document) ? document.keys : undefined
  if (!Array.isArray(keys)) throw new Error('the key set has no list of keys')
  return keys.filter((key: JWK | null) => typeof key === 'object' && key !== null && (key.use === undefined || key.use === 'sig'))
}

function named(keys: readonly JWK[], keyId: string | undefined): readonly JWK[] {
  return keyId === undefined || keyId === '' ? keys : keys.filter(({ kid }) => kid === keyId)
}
