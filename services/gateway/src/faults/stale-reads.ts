import type { GatewayRequest } from '../request/request.ts'
import { compileMatch, type RequestFacts } from '../request/request-match.ts'
import type { WatchFault, WatchFaults, WatchMatch } from './watch-faults.ts'

/**
 * The reads that are frozen. `cache`: those that a server may answer from its cache, lists and gets with a resourceVersion and watches.
 * `all`: lists and gets without one, too.
 */
export type FreezeStrength = 'cache' | 'all'

/** Reads of a user that see a revision of the past. */
export interface FrozenReads extends Disposable {
  /** The revision that they see. */
  readonly revision: number
  /** They see the present again, and watches get all that they have missed. */
  thaw(): void
}

/** A freeze as a read sees it. */
export interface Freeze {
  readonly revision: number
  readonly strength: FreezeStrength
  /** Resolves when it has thawed. */
  readonly thawed: Promise<void>
}

/** The beginning of a freeze. */
export interface FreezeStart {
  readonly user: string
  /** The wanted revision. The user sees nothing older than it has seen. */
  readonly revision: number
  readonly strength: FreezeStrength
  readonly match: Omit<WatchMatch, 'user'>
  /** Told of each watch that is held meanwhile. */
  readonly watches: Pick<WatchFaults, 'hold' | 'newestOf'>
}

interface Frozen extends Freeze {
  readonly matches: (facts: RequestFacts) => boolean
  readonly held: WatchFault
}

/** Reads that do not see the present. Writes always do. */
export class StaleReads {
  readonly #frozen = new Map<Frozen, () => void>()
  /** The newest revision that each user's lists and gets have seen. */
  readonly #seen = new Map<string, number>()

  /** Notes a revision that a user has seen. */
  give({ user: { name } }: GatewayRequest, revision: number): void {
    if (revision > (this.#seen.get(name) ?? 0)) this.#seen.set(name, revision)
  }

  freeze({ user, revision, strength, match, watches }: FreezeStart): FrozenReads {
    const at = Math.max(revision, this.#seen.get(user) ?? 0, watches.newestOf(user))
    const { promise: thawed, resolve } = Promise.withResolvers<void>()
    const on = { ...match, user }
    const frozen: Frozen = { revision: at, strength, thawed, matches: compileMatch(on), held: watches.hold(on) }
    const thaw = () => {
      if (!this.#frozen.delete(frozen)) return
      frozen.held.release()
      resolve()
    }
    this.#frozen.set(frozen, thaw)
    return { revision: at, thaw, [Symbol.dispose]: thaw }
  }

  /** The freeze that a read is under; absent: it sees the present. */
  freezeOf({ user, info }: GatewayRequest): Freeze | undefined {
    if (this.#frozen.size === 0) return undefined
    const facts = { user: user.name, agent: '', info }
    for (const frozen of this.#frozen.keys()) if (frozen.matches(facts)) return frozen
    return undefined
  }

  /** Thaws all, and forgets what users have seen. */
  clear(): void {
    for (const thaw of [...this.#frozen.values()]) thaw()
    this.#seen.clear()
  }
}
