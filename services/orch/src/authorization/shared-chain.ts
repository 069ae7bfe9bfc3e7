import type { Stream, User } from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import type { Access, AuthorizationLink, AuthorizationMode, Authorizer, Decision } from '@orch/gateway'
import { type Clock, PushStream } from '@orch/platform'
import { timeoutMsMax } from './configuration.ts'

/** A webhook in a chain of authorizers. */
interface NamedWebhook {
  readonly id: string
  /** The label of its metrics. */
  readonly name: string
  readonly authorizer: Authorizer
}

/** One step of a chain: a mode that every thread evaluates, or a webhook that only one thread calls. */
export type ChainLink = Exclude<AuthorizationMode, 'Webhook'> | NamedWebhook

/** A step without its authorizer, which can be sent to other threads. */
export type PlainLink = Exclude<AuthorizationMode, 'Webhook'> | Pick<NamedWebhook, 'id' | 'name'>

/** A chain that can be sent to other threads. */
export interface PlainChain {
  readonly links: readonly PlainLink[]
}

/** Provides the chain of authorizers. */
export interface ChainSource {
  readonly chain: readonly ChainLink[]
  /** Calls back with each new chain; undefined if the chain never changes. */
  follow?(apply: (chain: readonly ChainLink[]) => void): { stop(): void }
  close(): void
}

/** The authorizers of a chain, in order. */
export function linksOf(chain: readonly ChainLink[]): readonly AuthorizationLink[] {
  return chain.map((link) => (typeof link === 'string' ? link : { ...link.authorizer, name: link.name }))
}

/** A request to one webhook. */
export interface WebhookQuestion {
  readonly webhook: string
  readonly user: User
  readonly access: Access
}

/** The chain of the thread that calls the webhooks, for the other threads of its process: decisions are cached once. */
export class SharedChain {
  readonly #clock: Clock
  readonly #readers = new Set<PushStream<PlainChain>>()
  #chain: readonly ChainLink[]
  /** A removed webhook is still called until another thread has received the new chain. */
  readonly #webhooks = new Map<string, Authorizer>()

  constructor(chain: readonly ChainLink[], clock: Clock) {
    this.#clock = clock
    this.#chain = chain
    this.#keep(chain)
  }

  /** A new chain has replaced the current one. */
  replace(chain: readonly ChainLink[]): void {
    const before = webhooksOf(this.#chain)
    this.#chain = chain
    this.#keep(chain)
    this.#clock.after(timeoutMsMax, () => {
      for (const { id, authorizer } of before) if (!this.#isInUse(id, authorizer)) this.#webhooks.delete(id)
    })
    for (const reader of this.#readers) reader.push(plain(chain))
  }

  /** The current chain, then each new one. */
  follow(): Stream<PlainChain> {
    const reader = new PushStream<PlainChain>({ onClose: () => void this.#readers.delete(reader) })
    this.#readers.add(reader)
    reader.push(plain(this.#chain))
    return reader
  }

  async ask({ webhook, user, access }: WebhookQuestion): Promise<Decision> {
    const authorizer = this.#webhooks.get(webhook)
    if (authorizer === undefined) throw serviceUnavailable('the authorizers are being replaced', { retryAfterSeconds: 1 })
    return await authorizer.authorize(user, access)
  }

  #keep(chain: readonly ChainLink[]): void {
    for (const { id, authorizer } of webhooksOf(chain)) this.#webhooks.set(id, authorizer)
  }

  #isInUse(id: string, authorizer: Authorizer): boolean {
    if (this.#webhooks.get(id) !== authorizer) return true
    return webhooksOf(this.#chain).some((webhook) => webhook.id === id)
  }
}

function webhooksOf(chain: readonly ChainLink[]): readonly NamedWebhook[] {
  return chain.filter((link) => typeof link !== 'string')
}

function plain(chain: readonly ChainLink[]): PlainChain {
  return { links: chain.map((link) => (typeof link === 'string' ? link : { id: link.id, name: link.name })) }
}
