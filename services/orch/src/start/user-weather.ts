import { parseRevision } from '@orch/core/meta'
import type { Fault, FaultHandle, FaultMatch, Faults, FreezeStrength, FrozenReads, RequestLog, WatchFault, WatchMatch } from '@orch/gateway'
import { type Clock, toMs } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** Injects faults into the requests of one user. */
export interface UserFaults {
  add(fault: UserFault): FaultHandle
}

interface UserFault extends Omit<Fault, 'on'> {
  readonly on?: Omit<FaultMatch, 'user'>
}

/** Disturbs the watches of one user, optionally only for a resource, namespace and name. */
export interface UserWatches {
  /** Breaks the connections of open watches; returns their number. */
  cut(match?: UserMatch): number
  /** Ends open watches with 410 Expired, so that clients list again; returns their number. */
  expire(match?: UserMatch): number
  /** Ends open watches normally, as at their time limit; returns their number. */
  endNow(match?: UserMatch): number
  /**
   * Holds back all events and bookmarks of open and new watches until the release, which delivers them. Connections, pings and time limits are not
   * affected.
   */
  hold(match?: UserMatch): WatchFault
  /** Delays events by a duration (`5s`) or by milliseconds of the server's clock. */
  delay(time: string | number, match?: UserMatch): WatchFault
  /** Suppresses all bookmarks except the one after the initial events. */
  withholdBookmarks(match?: UserMatch): WatchFault
}

type UserMatch = Omit<WatchMatch, 'user'>

/** A past revision; the present one by default. */
interface FreezePoint {
  /** Age of the state, as far as the request log reaches back. */
  readonly ago?: string | number
  /** Number of revisions before the newest one. */
  readonly revisions?: number
  /** A resourceVersion. */
  readonly at?: string | number
}

/** The frozen reads. */
interface FreezeOptions {
  /** `cache` by default. */
  readonly strength?: FreezeStrength
  readonly on?: UserMatch
}

/** Disturbs the reads of one user. */
export interface UserReads {
  /**
   * Freezes the reads that a server may answer from a stale cache at one past revision, until the returned handle thaws them. Watches get no newer
   * events. A user never sees a state older than one it has already seen. Writes are not affected.
   */
  freeze(point?: FreezePoint, options?: FreezeOptions): Promise<FrozenReads>
}

/** The parts of a server that user weather needs. */
export interface WeatherParts {
  readonly faults: Faults
  readonly log: RequestLog
  readonly clock: Clock
  readonly storage: Pick<Storage, 'status'>
}

/** The faults, watches and reads of one user. */
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
