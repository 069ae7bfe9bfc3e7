import { hash } from 'node:crypto'
import { getOrMake } from '@orch/core/memo'
import type { Clock } from '@orch/platform'
import type { Authentication, TokenAuthenticator, TokenQuestion } from './authenticator.ts'
import { type Answer, firstToAccept } from './authenticators.ts'
import { limits } from './limits.ts'
import type { TokenCacheMetrics } from './metrics.ts'

export interface TokenCacheNeeds {
  readonly clock: Clock
  readonly metrics: TokenCacheMetrics
  /** Counts how often the authenticators have dropped all tokens, which drops those here. Undefined if they never do. */
  readonly forgottenBefore?: (() => number) | undefined
}

interface Kept {
  readonly answer: Authentication
  /** On the monotonic clock: the wall clock may be set back. */
  readonly untilMs: number
  /** The wall clock. */
  readonly validUntilMs: number
}

/**
 * The results for tokens, cached for seconds. A token is stored only as a hash, and dropped when an object that it depends on changes. Parallel lookups
 * of one token share one answer.
 */
export class TokenCache implements TokenAuthenticator {
  readonly name = 'tokens'
  readonly #authenticators: readonly TokenAuthenticator[]
  readonly #clock: Clock
  readonly #metrics: TokenCacheMetrics
  readonly #kept = new Map<string, Kept>()
  readonly #asked = new Map<string, Promise<Authentication>>()
  /** Hashes of tokens by their representative. */
  readonly #ids = new WeakMap<object, string>()
  /** Hashes by the storage keys that their tokens depend on. */
  readonly #dependents = new Map<string, Set<string>>()
  /** Counts removals: an answer in transit meanwhile may be outdated. */
  #forgotten = 0
  readonly #forgottenBefore: (() => number) | undefined
  #noticed = 0

  constructor(authenticators: readonly TokenAuthenticator[], needs: TokenCacheNeeds) {
    this.#authenticators = authenticators
    this.#clock = needs.clock
    this.#metrics = needs.metrics
    this.#forgottenBefore = needs.forgottenBefore
  }

  authenticate(token: string, question: TokenQuestion): Answer {
    this.#notice()
    const id = this.#idOf(token, question)
    const kept = this.#kept.get(id)
    if (kept !== undefined && kept.untilMs > this.#clock.monotonic() && kept.validUntilMs > question.nowMs) {
      this.#metrics.hit()
      return kept.answer
    }
    if (kept !== undefined) this.#drop(id)
    const startedMs = this.#clock.monotonic()
    const asked = this.#asked.get(id)
    const end = this.#metrics.begin(asked === undefined ? 'in_flight' : 'blocked')
    const counted = (answer: Authentication): Authentication => {
      end()
      this.#metrics.miss((this.#clock.monotonic() - startedMs) / 1000)
      return answer
    }
    const answer = asked ?? this.#ask(id, token, question)
    return answer instanceof Promise ? answer.then(counted) : counted(answer)
  }

  #idOf(token: string, { audiences, source }: TokenQuestion): string {
    const known = source === undefined ? undefined : this.#ids.get(source)
    if (known !== undefined) return known
    const id = hash('sha256', `${audiences.join('\0')}\0\0${token}`, 'base64')
    if (source !== undefined) this.#ids.set(source, id)
    return id
  }

  /** The object of this storage key has changed. */
  forget(key: string): void {
    this.#forgotten += 1
    for (const id of this.#dependents.get(key) ?? []) this.#drop(id)
  }

  /** Drops everything, after changes that were not received. */
  forgetAll(): void {
    this.#forgotten += 1
    this.#kept.clear()
    this.#dependents.clear()
  }

  #notice(): void {
    const count = this.#forgottenBefore?.() ?? 0
    if (count === this.#noticed) return
    this.#noticed = count
    this.forgetAll()
  }

  #ask(id: string, token: string, question: TokenQuestion): Answer {
    const before = this.#forgotten
    const keep = (answer: Authentication): Authentication => {
      this.#metrics.fetched(answer.kind === 'user')
      this.#notice()
      if (this.#forgotten === before) this.#keep(id, answer)
      return answer
    }
    const answer = firstToAccept(this.#authenticators, (authenticator) => authenticator.authenticate(token, question))
    if (!(answer instanceof Promise)) return keep(answer)
    const asked = answer.then(keep).finally(() => this.#asked.delete(id))
    this.#asked.set(id, asked)
    return asked
  }

  #keep(id: string, answer: Authentication): void {
    const [oldest] = this.#kept.size >= limits.cachedTokensMax ? this.#kept.keys() : []
    if (oldest !== undefined) this.#drop(oldest)
    const { keptMsMax, validUntilMs } = boundsOf(answer)
    this.#kept.set(id, { answer, untilMs: this.#clock.monotonic() + keptMsMax, validUntilMs })
    for (const key of dependenciesOf(answer)) {
      getOrMake(this.#dependents, key, () => new Set()).add(id)
    }
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    this.#kept.delete(id)
    for (const key of dependenciesOf(kept.answer)) {
      const dependents = this.#dependents.get(key)
      dependents?.delete(id)
      if (dependents?.size === 0) this.#dependents.delete(key)
    }
  }
}

function boundsOf(answer: Authentication): { readonly keptMsMax: number; readonly validUntilMs: number } {
  const ownMsMax = answer.kind === 'user' ? limits.cachedAcceptedMs : limits.cachedRefusedMs
  if (answer.kind === 'none') return { keptMsMax: ownMsMax, validUntilMs: Number.POSITIVE_INFINITY }
  const { keptMsMax = ownMsMax, validUntilMs = Number.POSITIVE_INFINITY } = answer
  return { keptMsMax: Math.min(ownMsMax, keptMsMax), validUntilMs }
}

function dependenciesOf(answer: Authentication): readonly string[] {
  return answer.kind === 'none' ? [] : (answer.dependsOn ?? [])
}
