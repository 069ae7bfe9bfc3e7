import { existsSync, writeFileSync } from 'node:fs'
import { cut, type Effect, type Faults, loseReply, refuse, truncate } from '@orch/gateway'
import { type Activity, SettingsError, seededChance, sleep, systemClock } from '@orch/platform'
import { weatherWork } from '../requests.ts'
import type { StartOptions } from '../start-settings.ts'
import type { ServerUser } from '../user.ts'

/** The seed of a run of `orch explore`, and its active faults. */
export interface Exploration {
  readonly seed: number
  /** Indexes of the active faults; undefined if all are active. */
  readonly only?: readonly number[]
}

/** The environment variable in which `orch explore` describes the run to a test. */
export const explorationVariable = 'ORCH_EXPLORE'
/** The environment variable with a file of `orch explore`, which is empty until a user has met weather. */
export const metVariable = 'ORCH_EXPLORE_MET'

/** Reads `7`, or `7:0,2` with the active faults. Undefined outside of `orch explore`. */
export function readExploration(text: string | undefined): Exploration | undefined {
  if (text === undefined || text === '') return undefined
  const match = /^(\d{1,9})(?::((?:\d{1,2}(?:,\d{1,2})*)?))?$/.exec(text)
  if (match === null)
    throw new SettingsError(`${explorationVariable}=${text}: must be a seed, such as 7, or 7:0,2 with the indexes of faults`)
  const [, seed = '', only] = match
  return { seed: Number(seed), ...(only === undefined ? {} : { only: only === '' ? [] : only.split(',').map(Number) }) }
}

/** The options of a server in a run of `orch explore`. */
export function explored(given: StartOptions): StartOptions {
  const { exploration = process.env[explorationVariable] } = given
  const run = readExploration(exploration)
  return exploration === undefined || run === undefined ? given : { ...given, exploration, seed: run.seed, order: 'seeded' }
}

/** Begins the weather of an explored test for each of its users. */
export function weatherOfExploration(
  { faults, activity }: WeatherParts,
  { exploration: text = process.env[explorationVariable] }: StartOptions,
): (user: ServerUser) => void {
  const exploration = readExploration(text)
  if (exploration === undefined) return () => {}
  const { seed, only } = exploration
  const weather = drawWeather(seed).filter((_, index) => only === undefined || only.includes(index))
  const met = process.env[metVariable] ?? ''
  return (user) => {
    for (const fault of weather) fault.begin(user, { faults, activity })
    if (existsSync(met)) writeFileSync(met, user.name)
  }
}

/** The parts of a server that drawn weather needs. */
interface WeatherParts {
  readonly faults: Faults
  /** A server with old caches or held watches has not settled. */
  readonly activity: Pick<Activity, 'follow'>
}

/** A fault of random weather. */
export interface DrawnFault {
  /** A line for people. */
  readonly text: string
  begin(user: ServerUser, parts: WeatherParts): void
}

/** The most faults of one weather. */
const faultsMax = 4
/** The most requests of a kind before a fault. */
const afterMax = 6

const effects: readonly { readonly name: string; readonly verb: readonly string[]; readonly effect: Effect }[] = [
  { name: 'a lost reply', verb: ['create', 'update', 'patch', 'delete'], effect: loseReply() },
  { name: 'a conflict', verb: ['update', 'patch'], effect: refuse(409) },
  { name: 'a refusal with 500', verb: ['get', 'list', 'create', 'update', 'patch', 'delete'], effect: refuse(500) },
  { name: 'a request that is cut off', verb: ['create', 'update', 'patch', 'delete'], effect: cut() },
  { name: 'a list that breaks off', verb: ['list'], effect: truncate(20) },
  { name: 'a watch that breaks off', verb: ['watch'], effect: cut({ when: 'after' }) },
]

/** The number of requests for which reads are frozen and watches held. */
const frozenFor = 6
/** A user without a request in so many rests waits for the end of such weather. On a busy machine each rest is longer. */
const quietRests = 25
const restMs = 10

/** The faults that a seed gives to the requests of one user. Deterministic. */
export function drawWeather(seed: number): readonly DrawnFault[] {
  const draw = seededChance(seed).stream('weather').fraction
  const whole = (below: number) => Math.floor(draw() * below)
  const count = 1 + whole(faultsMax)
  return Array.from({ length: count }, (): DrawnFault => {
    const kind = whole(effects.length + 3)
    const after = whole(afterMax)
    const drawn = effects[kind]
    if (drawn !== undefined) {
      const { name, verb, effect } = drawn
      const begin = (user: ServerUser) => void user.faults.add({ name, on: { verb }, after, times: 1, effect })
      return { text: `${name}, at request ${after + 1} of ${verb.join(', ')}`, begin }
    }
    if (kind === effects.length) {
      const begin = (user: ServerUser) =>
        void user.faults.add({
          name: 'a lost lease',
          on: { resource: 'leases', verb: ['update', 'patch'] },
          after,
          effect: refuse(409, { always: true }),
        })
      return { text: `a lease that is lost at write ${after + 1}`, begin }
    }
    return kind === effects.length + 1 ? oldCache(after) : quietWatches(after)
  })
}

/** From one request on, reads return a past state. Some requests later they return the present state again. */
function oldCache(after: number): DrawnFault {
  return {
    text: `a cache that is old from request ${after + 1} to ${after + frozenFor}`,
    begin: (user, parts) =>
      duringRequests(user, parts, after, () => {
        const frozen = user.reads.freeze({}, { strength: 'all' })
        return () => void frozen.then(({ thaw }) => thaw())
      }),
  }
}

/** From one request on, watches receive nothing; some requests later they end with 410. */
function quietWatches(after: number): DrawnFault {
  return {
    text: `watches that get nothing from request ${after + 1} to ${after + frozenFor}, and expire`,
    begin: (user, parts) =>
      duringRequests(user, parts, after, () => {
        const held = user.watches.hold()
        return () => {
          user.watches.expire()
          held.release()
        }
      }),
  }
}

function duringRequests(user: ServerUser, { faults, activity }: WeatherParts, after: number, begin: () => () => void): void {
  const noEffect: Effect = { kind: 'delay', ms: 0 }
  let end = () => {}
  faults.add({ name: 'weather begins', on: { user: user.name }, after, times: 1, effect: noEffect }, () => {
    const settle = activity.follow(weatherWork, () => true)
    const stop = begin()
    end = () => {
      end = () => {}
      stop()
      // The user's clients read again what they have missed.
      void untilQuiet(user).then(settle)
    }
    void untilQuiet(user).then(() => end())
  })
  faults.add({ name: 'weather ends', on: { user: user.name }, after: after + frozenFor, times: 1, effect: noEffect }, () => end())
}

/** Resolves when a user sends no requests: a controller whose watches get nothing would wait for ever. */
async function untilQuiet({ requests }: ServerUser): Promise<void> {
  for (let [rests, seen] = [0, -1]; rests < quietRests; rests += 1) {
    if (seen !== requests.count()) [rests, seen] = [0, requests.count()]
    await sleep(systemClock, restMs, undefined, { background: true })
  }
}
