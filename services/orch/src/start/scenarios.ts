import type { Client } from '@orch/client'
import { printMicroTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { cut, type FaultHandle, loseReply, refuse, refuseConnection, type WatchFault } from '@orch/gateway'
import { type Clock, toMs } from '@orch/platform'
import type { UserFaults, UserWatches } from './user-weather.ts'

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
