import { type Chance, seededChance, systemChance, type VirtualClock, virtualClock } from '@orch/platform'
import { afterAll } from 'vitest'
import { type RunningServer, startWith } from '../../services/orch/src/start/start.ts'
import type { StartOptions } from '../../services/orch/src/start/start-settings.ts'

/** A server whose future a seed decides, and its time. */
export interface SeededServer {
  readonly server: RunningServer
  readonly clock: VirtualClock
}

type Dumping = (seed: number, server: SeededServer) => Promise<string>

/** Seeds of one test: a test that passes is printed. */
const seedsPerTest = 50
/** Longest that two servers of one seed may take. */
export const seedMsMax = 10_000

/** The number of seeds of each test, and its first one. */
export function blocksOf(firstSeed: number, count: number): [number, number][] {
  const blocks: [number, number][] = []
  for (let done = 0; done < count; done += seedsPerTest) blocks.push([Math.min(seedsPerTest, count - done), firstSeed + done])
  return blocks
}

/** The chance of a seed, but for one purpose that draws from the system. */
function unseeded(chance: Chance, purpose: string): Chance {
  return { ...chance, stream: (name) => (name === purpose ? systemChance : unseeded(chance.stream(name), purpose)) }
}

/** Servers of one test file, which stop at its end, each with the requests before those of its seed. */
export class SeededServers {
  readonly #options: StartOptions
  readonly #prepare: (server: RunningServer) => Promise<void>
  #base: Promise<SeededServer> | undefined

  constructor(options: StartOptions, prepare: (server: RunningServer) => Promise<void>) {
    this.#options = options
    this.#prepare = prepare
    afterAll(async () => {
      await (await this.#base)?.server.stop()
    })
  }

  /** The dump of a new server. With a `purpose`, the time of its start or the random stream of that purpose comes from the system. */
  async started(seed: number, dump: Dumping, purpose?: string): Promise<string> {
    const chance = seededChance(seed)
    const { server, clock } = await this.#start(purpose === undefined ? chance : unseeded(chance, purpose), purpose === 'time')
    await using _ = server
    return await dump(seed, { server, clock })
  }

  /** The dump of a fork of one server, which takes less time than a start. */
  async forked(seed: number, dump: Dumping): Promise<string> {
    this.#base ??= this.#start(seededChance(0))
    const base = await this.#base
    const clock = virtualClock({ start: new Date(base.clock.now()) })
    await using server = await base.server.fork({ clock, seed })
    return await dump(seed, { server, clock })
  }

  async #start(chance: Chance, isNow = false): Promise<SeededServer> {
    const clock = virtualClock({ start: isNow ? new Date() : new Date('2030-01-01T00:00:00Z') })
    const server = await startWith({ ...this.#options, clock }, chance)
    await this.#prepare(server)
    return { server, clock }
  }
}
