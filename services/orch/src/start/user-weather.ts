import { parseRevision } from '@orch/core/meta'
import type { Fault, FaultHandle, FaultMatch, Faults, FreezeStrength, FrozenReads, RequestLog, WatchFault, WatchMatch } from '@orch/gateway'
import { type Clock, toMs } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** Faults that the requests of one user meet. */
export interface UserFaults {
  add(fault: UserFault): FaultHandle
}

interface UserFault extends Omit<Fault, 'on'> {
  readonly on?: Omit<FaultMatch, 'user'>
}

/** The watches of one user, or some of them by resource, namespace and name. */
export interface UserWatches {
  /** Breaks off the watches that are open; returns their number. */
  cut(match?: UserMatch): number
  /** Ends the watches that are open with 410 Expired, so that clients list again; returns their number. */
  expire(match?: UserMatch): number
  /** Ends the watches that are open in order, as at their time limit; returns their number. */
  endNow(match?: UserMatch): number
  /**
   * Open watches and new ones get no event and no bookmark until the release, and then all that they have missed. Connections, pings and
   * time limits go on.
   */
  hold(match?: UserMatch): WatchFault
  /** Events come so much later: a duration (`5s`) or milliseconds of the server's clock. */
  delay(time: string | number, match?: UserMatch): WatchFault
  /** No bookmark is sent, but for the one after initial events. */
  withholdBookmarks(match?: UserMatch): WatchFault
}

type UserMatch = Omit<WatchMatch, 'user'>

/** A revision of the past: the present by default. */
interface FreezePoint {
  /** The state so long ago, as far as the log of requests knows it. */
  readonly ago?: string | number
  /** Distance from the newest revision. */
  readonly revisions?: number
  /** A resourceVersion. */
  readonly at?: string | number
}

/** The reads that a freeze is for. */
interface FreezeOptions {
  /** `cache` by default. */
  readonly strength?: FreezeStrength
  readonly on?: UserMatch
}

/** The reads of one user. */
export interface UserReads {
  /**
   * Reads see one revision of the past until they thaw, where a server may answer from an old cache, and watches get nothing newer. No
   * user sees anything older than it has seen. Writes meet the present.
   */
  freeze(point?: FreezePoint, options?: FreezeOptions): Promise<FrozenReads>
}

/** The parts of a server that its weather needs. */
export interface WeatherParts {
  readonly faults: Faults
  readonly log: RequestLog
  readonly clock: Clock
  readonly storage: Pick<Storage, 'status'>
}

/** The faults, watches and reads of a user. */
export function weatherOf(user: string, parts: WeatherParts) {
  const { faults } = parts
  const { watches } = faults
  const own = (match: UserMatch = {}) => ({ ...match, user })
  return {
    faults: { add: (fault) => faults.add({ ...fault, on: { ...fault.on, user } }) } satisfies UserFaults,
    watches: {
      cut: (match) => watches.cut(own(match)),
      expire: (match) => watches.expire(own(match)),
      endNow: (match) => watches.endNow(own(match)),
      hold: (match) => watches.hold(own(match)),
      delay: (time, match) => watches.delay(time, own(match)),
      withholdBookmarks: (match) => watches.withholdBookmarks(own(match)),
    } satisfies UserWatches,
    reads: {
      async freeze(point = {}, { strength = 'cache', on = {} } = {}) {
        return faults.reads.freeze({ user, revision: await revisionOf(point, parts), strength, match: on, watches })
      },
    } satisfies UserReads,
  }
}

async function revisionOf({ ago, revisions, at }: FreezePoint, { storage, log, clock }: WeatherParts): Promise<number> {
  if ([ago, revisions, at].filter((given) => given !== undefined).length > 1)
    throw new TypeError('freeze(): give one of ago, revisions and at')
  const { revision, compacted } = await storage.status({})
  const wanted = (): number => {
    if (ago !== undefined) return log.revisionAt(clock.now() - toMs('freeze', ago))
    return at === undefined ? revision - (revisions ?? 0) : (parseRevision(String(at)) ?? Number.NaN)
  }
  const found = wanted()
  if (!(found <= revision))
    throw new RangeError(`freeze(): there is no revision ${at ?? revision - (revisions ?? 0)}: the present one is ${revision}`)
  return Math.max(found, compacted)
}
