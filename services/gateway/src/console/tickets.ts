import type { User } from '@orch/core/contracts'
import type { Clock } from '@orch/platform'
import { limits } from './limits.ts'
import { drawSecret, keyOfSecret } from './secrets.ts'

interface Ticket {
  readonly user: User
  /** On the monotonic clock. */
  readonly endsMs: number
}

/** One-time tickets, each of which opens one session as its user. */
export class Tickets {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By the key of their secret, oldest first. */
  readonly #tickets = new Map<string, Ticket>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** A new ticket, valid for `limits.ticketMs`. Undefined if too many are unused. */
  issue(user: User): string | undefined {
    this.#forgetExpired()
    const ofUser = [...this.#tickets].filter(([, ticket]) => ticket.user.name === user.name)
    if (ofUser.length >= limits.ticketsPerUserMax) this.#tickets.delete(ofUser[0]?.[0] ?? '')
    if (this.#tickets.size >= limits.ticketsMax) return undefined
    const secret = drawSecret()
    this.#tickets.set(keyOfSecret(secret), { user, endsMs: this.#clock.monotonic() + limits.ticketMs })
    return secret
  }

  /** Uses a ticket and returns its user; undefined if the ticket is unknown, used or expired. */
  redeem(secret: string): User | undefined {
    this.#forgetExpired()
    const key = keyOfSecret(secret)
    const ticket = this.#tickets.get(key)
    this.#tickets.delete(key)
    return ticket?.user
  }

  /** Number of unused tickets. */
  get size(): number {
    return this.#tickets.size
  }

  #forgetExpired(): void {
    const nowMs = this.#clock.monotonic()
    for (const [key, { endsMs }] of this.#tickets) if (endsMs <= nowMs) this.#tickets.delete(key)
  }
}
