import type { Client } from '@orch/client'
import { parseRevision, printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import {
  cut,
  type Fault,
  type FaultHandle,
  type FaultMatch,
  type Faults,
  type FreezeStrength,
  type FrozenReads,
  loseReply,
  type RequestLog,
  refuse,
  refuseConnection,
  type WatchFault,
  type WatchMatch,
} from '@orch/gateway'
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

/** A lease of a leader election. */
interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/**
 * Weather of several faults, as seen in production. Each scenario lasts until a call of `end`, for a given time, or until the end of a `using` block.
 */
export interface UserScenarios {
  /** Breaks all watches and refuses connections for this time of the server's clock. Without a time, it refuses only the next request. */
  apiServerRestart(down?: string | number): Scenario
  /** Refuses the next `times` updates and patches that contain a resourceVersion with 409. */
  conflictStorm(times: number): Scenario
  /** Watches stay open and receive nothing for this time of the server's clock. Then they receive all missed events. */
  quietWatch(time: string | number): Scenario
  /** Transfers a lease to another holder and refuses the user's writes to it with 409. Resolves after the transfer. */
  losesLease(lease: LeaseName, holder?: string): Promise<Scenario>
  /** Number of requests allowed in each second of the server's clock; the server refuses others with 429. */
  throttled(perSecond: number): Scenario
  /** Refuses some requests, cuts others off before or after the server handles them, and breaks watches. A separate seed decides. */
  flakyNetwork(seed: number | string): Scenario
}

/** A running scenario. */
interface Scenario extends Disposable {
  /** The number of requests that the scenario has hit. */
  readonly hits: number
  end(): void
}

/** The parts of a server that scenarios need. */
export interface ScenarioParts {
  readonly clock: Clock
  readonly names: Names
  /** The client of the test itself. */
  readonly harness: () => Client
}

/** The scenarios of one user. */
export function scenariosOf(
  { faults, watches }: { readonly faults: UserFaults; readonly watches: UserWatches },
  parts: ScenarioParts,
): UserScenarios {
  const { clock } = parts
  return {
    apiServerRestart(down) {
      const lasts = down === undefined ? { times: 1 } : {}
      const fault = faults.add({ name: 'restart', ...lasts, effect: refuseConnection() })
      watches.cut()
      return lasting(clock, down, [fault])
    },
    conflictStorm: (times) =>
      lasting(clock, undefined, [faults.add({ name: 'conflict-storm', on: { verb: ['update', 'patch'] }, times, effect: refuse(409) })]),
    quietWatch: (time) => lasting(clock, time, [], [watches.hold()]),
    async losesLease(lease, holder = 'another-holder') {
      const on = { verb: ['update', 'patch'], resource: 'leases', ...lease }
      const fault = faults.add({ name: 'lost-lease', on, effect: refuse(409, { always: true }) })
      await takeLease(lease, holder, parts)
      return lasting(clock, undefined, [fault])
    },
    throttled: (perSecond) => lasting(clock, undefined, [faults.add({ name: 'throttled', perSecond, effect: refuse(429) })]),
    flakyNetwork(seed) {
      const some = (name: string, probability: number) => ({ name: `flaky-${name}`, probability, seed: `${seed} ${name}` })
      return lasting(clock, undefined, [
        faults.add({ ...some('refused', 0.05), effect: refuse(503) }),
        faults.add({ ...some('cut', 0.05), on: { verb: writesAndReads }, effect: cut() }),
        faults.add({ ...some('lost-reply', 0.1), effect: loseReply() }),
        faults.add({ ...some('watch', 0.2), on: { verb: 'watch' }, effect: cut({ when: 'after' }) }),
      ])
    },
  }
}

const writesAndReads = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** A scenario of these faults, until its end or for this time. */
function lasting(
  clock: Clock,
  time: string | number | undefined,
  faults: readonly FaultHandle[],
  holds: readonly WatchFault[] = [],
): Scenario {
  const timer = time === undefined ? undefined : clock.after(toMs('scenario', time), () => end())
  const end = () => {
    timer?.cancel()
    for (const fault of faults) fault.remove()
    for (const hold of holds) hold.release()
  }
  return {
    get hits() {
      return faults.reduce((sum, { hits }) => sum + hits, 0)
    },
    end,
    [Symbol.dispose]: end,
  }
}

/** Gives the lease to another holder. */
async function takeLease({ namespace, name }: LeaseName, holderIdentity: string, { clock, names, harness }: ScenarioParts): Promise<void> {
  const leases = harness().resource({ group: domainGroup(names, 'coordination'), version: 'v1', plural: 'leases', namespaced: true })
  const now = printMicroTime(toInstant(clock.now()))
  const patch = { spec: { holderIdentity, acquireTime: now, renewTime: now } }
  await leases.patch(name, patch, { namespace, type: 'merge', fieldManager: 'scenario' })
}
