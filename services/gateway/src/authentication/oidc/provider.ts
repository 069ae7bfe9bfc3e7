import type { Clock, Log } from '@orch/platform'
import type { JWK } from 'jose'
import type { FetchJson } from './fetch-json.ts'
import { limits } from './limits.ts'

export interface ProviderOptions {
  readonly issuer: string
  readonly fetchJson: FetchJson
  readonly clock: Clock
  readonly log: Log
}

/** Keys and when they were read, on the monotonic clock. */
interface KeySet {
  readonly keys: readonly JWK[]
  readonly readMs: number
}

/**
 * The keys of an OpenID provider, found through its discovery document. The provider is asked when a token first needs it, when a
 * token names a key that is not known, and when the keys have grown old; never more often than the pause allows. Who needs keys
 * meanwhile shares one question.
 */
export class Provider {
  readonly #options: ProviderOptions
  #keySetUrl: string | undefined
  #keySet: KeySet | undefined
  #askedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined
  #failure = 'the provider has not been asked yet'

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  /** Keys that may have signed a token; throws while the provider has never answered. */
  async keysFor(keyId: string | undefined, timeoutMs: number): Promise<readonly JWK[]> {
    const known = this.#keySet
    const isOld = known === undefined || this.#options.clock.monotonic() - known.readMs > limits.keysAgeMsMax
    if (isOld || named(known.keys, keyId).length === 0) await this.#refresh(timeoutMs)
    if (this.#keySet === undefined) throw new Error(this.#failure)
    return named(this.#keySet.keys, keyId)
  }

  async #refresh(timeoutMs: number): Promise<void> {
    const { clock } = this.#options
    if (this.#asking === undefined) {
      if (clock.monotonic() - this.#askedMs < limits.pauseMs) return
      this.#askedMs = clock.monotonic()
      this.#asking = this.#ask(timeoutMs).finally(() => {
        this.#asking = undefined
      })
    }
    await this.#asking
  }

  /** The keys that are known stay when the provider fails. */
  async #ask(timeoutMs: number): Promise<void> {
    const { issuer, fetchJson, clock, log } = this.#options
    try {
      this.#keySetUrl ??= await discover(issuer, fetchJson, timeoutMs)
      this.#keySet = { keys: readKeys(await fetchJson(this.#keySetUrl, timeoutMs)), readMs: clock.monotonic() }
    } catch (error) {
      this.#failure = (error as Error).message
      log.warn({ issuer, err: error }, 'the OpenID provider could not be asked for its keys')
    }
  }
}

/** Where the keys are. The document must speak of the very issuer. */
async function discover(issuer: string, fetchJson: FetchJson, timeoutMs: number): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = (await fetchJson(url, timeoutMs)) as { issuer?: unknown; jwks_uri?: unknown } | null
  if (document?.issuer !== issuer) throw new Error(`${url}: issuer: must be ${issuer}`)
  if (typeof document.jwks_uri !== 'string') throw new Error(`${url}: jwks_uri: must be an address`)
  return document.jwks_uri
}

/** The keys for signatures. */
function readKeys(document: unknown): JWK[] {
  const keys = (document as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys)) throw new Error('the key set has no list of keys')
  return keys.filter((key: JWK | null) => typeof key === 'object' && key !== null && (key.use === undefined || key.use === 'sig'))
}

function named(keys: readonly JWK[], keyId: string | undefined): readonly JWK[] {
  return keyId === undefined || keyId === '' ? keys : keys.filter(({ kid }) => kid === keyId)
}
