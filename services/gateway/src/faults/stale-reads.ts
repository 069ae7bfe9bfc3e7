import { compileMatch, type GatewayRequest, type RequestFacts } from '../request/index.ts'
import type { WatchFault, WatchFaults, WatchMatch } from './watch-faults.ts'

/**
 * The frozen reads. `cache`: those that a server may answer from its cache, lists and gets with a resourceVersion and watches. `all`: also lists and
 * gets without one.
 */
export type FreezeStrength = 'cache' | 'all'

/** Reads of a user frozen at a past revision. */
export interface FrozenReads extends Disposable {
  /** The revision that they see. */
  readonly revision: number
  /** Reads return to the current state, and watches get all missed events. */
  thaw(): void
}

/** A freeze for one read. */
export interface Freeze {
  readonly revision: number
  readonly strength: FreezeStrength
  /** Resolves when it is thawed. */
  readonly thawed: Promise<void>
}

export interface FreezeStart {
  readonly user: string
  /** The requested revision. The user sees nothing older than it has already seen. */
  readonly revision: number
  readonly strength: FreezeStrength
  readonly match: Omit<WatchMatch, 'user'>
  /** Called for each watch that is paused meanwhile. */
  readonly watches: Pick<WatchFaults, 'hold' | 'newestOf'>
}

interface Frozen extends Freeze {
  readonly matches: (facts: RequestFacts) => boolean
  readonly held: WatchFault
}

/** Reads of past state. Writes always use the current state. */
export class StaleReads {
  readonly #frozen = new Map<Frozen, () => void>()
  /** The newest revision that each user's lists and gets have seen. */
  readonly #seen = new Map<string, number>()

  /** Records a revision that a user has seen. */
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

  /** The freeze of a read; undefined for the current state. */
  freezeOf({ user, info }: GatewayRequest): Freeze | undefined {
    if (this.#frozen.size === 0) return undefined
    const facts = { user: user.name, agent: '', info }
    for (const frozen of this.#frozen.keys()) if (frozen.matches(facts)) return frozen
    return undefined
  }

  /** Thaws all, and drops the seen revisions. */
  clear(): void {
    for (const thaw of [...this.#frozen.values()]) thaw()
    this.#seen.clear()
  }
}
