import { getOrMake } from '@orch/core/memo'
import type { WheelTask } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'

/** A watch with bytes that its client has not read. */
export interface UnreadHolder {
  readonly connection: object
  /** The user's name. */
  readonly user: string
  readonly unreadBytes: number
  /** Time of the last read by its client, on the monotonic clock. */
  readonly takenMs: number
  /** Ends the watch at once; none of its bytes wait afterwards. */
  cutOff(): void
}

/** Limits of unread bytes, and the clock. */
export interface UnreadBytesOptions extends Pick<Surroundings, 'clock' | 'wheel'> {
  readonly perConnectionMax: number
  readonly perUserMax: number
  /** Time after a read in which a watch is not ended. */
  readonly slowMs: number
}

/** Fraction of a limit that is left free when watches are ended, so that the next event does not end another one. */
const freePart = 1 / 4

/**
 * Unread bytes of watches, counted per connection and per user. Beyond a limit the longest-stalled watches are ended first; watches that still read are
 * not.
 *
 *   bound 8, watches a (5 bytes, stalled for 9 s) and b (4 bytes, stalled for 2 s): 9 bytes are too many, a is ended
 */
export class UnreadBytes {
  readonly #options: UnreadBytesOptions
  readonly #byConnection = new Map<object, Account>()
  readonly #byUser = new Map<string, Account>()
  #total = 0

  constructor(options: UnreadBytesOptions) {
    this.#options = options
  }

  /** Unread bytes of all watches. */
  get total(): number {
    return this.#total
  }

  /** Counts newly waiting bytes of a watch. */
  add(holder: UnreadHolder, bytes: number): void {
    const { perConnectionMax, perUserMax } = this.#options
    this.#total += bytes
    getOrMake(this.#byConnection, holder.connection, () => new Account(perConnectionMax, this.#options)).add(holder, bytes)
    getOrMake(this.#byUser, holder.user, () => new Account(perUserMax, this.#options)).add(holder, bytes)
  }

  /** Counts bytes that no longer wait, after a read or the end of the watch. */
  remove(holder: UnreadHolder, bytes: number): void {
    this.#total -= bytes
    removeFrom(this.#byConnection, holder.connection, holder, bytes)
    removeFrom(this.#byUser, holder.user, holder, bytes)
  }
}

/** The waiting bytes of the watches of one connection or user. */
class Account implements WheelTask {
  readonly #bytesMax: number
  readonly #options: UnreadBytesOptions
  readonly #holders = new Set<UnreadHolder>()
  #bytes = 0
  #isDue = false

  constructor(bytesMax: number, options: UnreadBytesOptions) {
    this.#bytesMax = bytesMax
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#holders.size === 0
  }

  add(holder: UnreadHolder, bytes: number): void {
    this.#bytes += bytes
    this.#holders.add(holder)
    if (this.#bytes > this.#bytesMax && !this.#isDue) this.#relieve()
  }

  remove(holder: UnreadHolder, bytes: number): void {
    this.#bytes -= bytes
    if (holder.unreadBytes === 0) this.#holders.delete(holder)
  }

  /** Called by the timer wheel, as watches may have become slow. */
  due(): void {
    this.#isDue = false
    if (this.#bytes > this.#bytesMax) this.#relieve()
  }

  #relieve(): void {
    const { clock, wheel, slowMs } = this.#options
    const slowSinceMs = clock.monotonic() - slowMs
    const slow = [...this.#holders].filter(({ takenMs }) => takenMs <= slowSinceMs).sort((a, b) => a.takenMs - b.takenMs)
    for (const holder of slow) {
      if (this.#bytes <= this.#bytesMax * (1 - freePart)) return
      holder.cutOff()
    }
    if (this.#bytes <= this.#bytesMax) return
    this.#isDue = true
    wheel.after(slowMs, this)
  }
}

function removeFrom<K>(accounts: Map<K, Account>, key: K, holder: UnreadHolder, bytes: number): void {
  const account = accounts.get(key)
  account?.remove(holder, bytes)
  if (account?.isEmpty === true) accounts.delete(key)
}
