import { type Clock, Listeners, type Log, systemClock } from '@orch/platform'
import type { Etcd3, Lease } from 'etcd3'
import type { Leadership } from '../leadership.ts'
import { limits } from '../limits.ts'
import { endOfPrefix, type Layout } from './layout.ts'

/** Leadership that its owner must close. */
export interface EtcdLeadership extends Leadership {
  /** Becomes a candidate. */
  begin(): void
  /** Checks at once whether this replica leads. Without a call, the replica checks at intervals. */
  look(): void
  /** Resigns, so that another replica can lead. */
  close(): Promise<void>
}

/** The dependencies of leadership. */
export interface LeadershipOptions {
  readonly client: Etcd3
  readonly layout: Layout
  readonly clock: Clock
  readonly log: Log
  readonly candidate: string
}

/** An election among the replicas of a store: each replica holds a key with a lease, and the replica with the oldest key leads. */
export function openLeadership(options: LeadershipOptions): EtcdLeadership {
  return new LeaseLeadership(options)
}

/**
 * The library's election uses a separate watch, which may miss a change when it reopens. Here the keys are read whenever the store's watch reports an
 * added or removed key, and at intervals.
 */
class LeaseLeadership implements EtcdLeadership {
  readonly #options: LeadershipOptions
  readonly #listeners = new Listeners<boolean>()
  #lease: Lease | undefined
  #key: string | undefined
  #timer: { cancel(): void } | undefined
  isLeader = false
  #isClosed = false
  #looking: Promise<void> | undefined
  #mustLookAgain = false

  constructor(options: LeadershipOptions) {
    this.#options = options
  }

  onChange(listener: (isLeader: boolean) => void): () => void {
    return this.#listeners.add(listener)
  }

  begin(): void {
    this.#timer = this.#options.clock.every(limits.leadershipLookMs, () => this.look())
    this.look()
  }

  look(): void {
    if (this.#isClosed) return
    if (this.#looking !== undefined) {
      this.#mustLookAgain = true
      return
    }
    this.#looking = this.#lookOnce().finally(() => {
      this.#looking = undefined
      if (!this.#mustLookAgain) return
      this.#mustLookAgain = false
      this.look()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    const lease = this.#lease
    this.#drop()
    // Without this the other replicas wait until the lease expires.
    await lease
      ?.revoke({ deadline: systemClock.now() + limits.leaseReturnMs })
      .catch((error: unknown) => this.#options.log.debug({ err: error }, 'the lease could not be released'))
    this.#listeners.clear()
  }

  async #lookOnce(): Promise<void> {
    try {
      const key = this.#key ?? (await this.#stand())
      const { client, layout } = this.#options
      const range = { key: Buffer.from(layout.election), range_end: endOfPrefix(layout.election) }
      const { kvs } = await client.kv.range({ ...range, sort_target: 'Create', sort_order: 'Ascend' })
      const isStanding = kvs.some((kv) => kv.key.toString() === key)
      if (!isStanding) this.#drop()
      else this.#report(kvs[0]?.key.toString() === key)
      if (!isStanding) this.#mustLookAgain = !this.#isClosed
    } catch (error) {
      // The lease reports its loss.
      this.#options.log.debug({ err: error }, 'the election could not be read')
    }
  }

  /** Creates a key with a new lease. */
  async #stand(): Promise<string> {
    const { client, layout, candidate } = this.#options
    const lease = client.lease(limits.leadershipSeconds)
    lease.on('lost', () => {
      if (this.#lease === lease) this.#drop()
    })
    const id = await lease.grant()
    const key = `${layout.election}${id}`
    try {
      await client.kv.put({ key: Buffer.from(key), value: Buffer.from(candidate), lease: id })
    } catch (error) {
      lease.release()
      throw error
    }
    if (this.#isClosed) lease.release()
    this.#lease = lease
    this.#key = key
    return key
  }

  #drop(): void {
    this.#lease?.release()
    this.#lease = undefined
    this.#key = undefined
    this.#report(false)
  }

  #report(isLeader: boolean): void {
    if (isLeader === this.isLeader || (isLeader && this.#isClosed)) return
    this.isLeader = isLeader
    this.#listeners.call(isLeader)
  }
}
