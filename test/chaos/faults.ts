import { sleep, systemClock } from '@orch/platform'
import { createRandom, pick, shuffled } from './random.ts'
import type { Service, ServiceSet } from './service-set.ts'

/** The kinds of faults of a set. */
type FaultKind =
  | `kill ${Service}`
  | 'pause a process'
  | 'stop etcd'
  | 'stop NATS'
  | 'cut a connection'
  | 'cut a process off'
  | 'silence a connection'
  | 'shift a clock'

/** One fault that the run has caused. */
export interface Fault {
  readonly kind: FaultKind
  readonly target: string
  /** The number of requests in flight at that moment. */
  readonly inFlight: number
  /** The time from the start of a process, or from the return of its backend, until the process was ready; absent if the run started no process. */
  readonly readyMs: number | undefined
}

/** The next fault. The seed alone determines it, whatever happens in the run. */
export interface PlannedFault {
  readonly kind: FaultKind
  /** True if the run first ends the earlier faults. */
  readonly isAlone: boolean
  readonly pauseMs: number
  /** The target of the fault, and its duration. */
  readonly random: () => number
}

export interface FaultsOptions {
  readonly set: ServiceSet
  readonly seed: number
  readonly inFlight: () => number
  /** True while more faults may follow. */
  readonly goesOn: (done: number) => boolean
}

/** The longest time until a process is ready again. */
export const readyMsMax = 10_000
/** The longest wait for a ready process; the run reports a longer time with its duration. */
const readyWaitMs = 60_000

/** Every kind of fault comes once before any kind repeats. */
const kinds: readonly FaultKind[] = [
  'kill gateway',
  'kill storage',
  'kill watch',
  'kill admission',
  'kill controllers',
  'kill storage',
  'kill watch',
  'pause a process',
  'pause a process',
  'stop etcd',
  'stop NATS',
  'cut a connection',
  'cut a connection',
  'cut a process off',
  'silence a connection',
  'silence a connection',
  'shift a clock',
  'shift a clock',
]

/** An endless sequence of faults, determined by the seed. */
export function* planFaults(seed: number): Generator<PlannedFault, never, undefined> {
  const random = createRandom(seed)
  for (;;) {
    for (const kind of shuffled(random, kinds)) {
      // Every third fault begins before the previous fault has ended.
      yield { kind, isAlone: random() < 0.67, pauseMs: 100 + random() * 500, random: createRandom(random() * 2 ** 32) }
    }
  }
}

/** Causes faults, sometimes two at once, until there were enough. Ends all faults at the end. */
export async function runFaults({ set, seed, inFlight, goesOn }: FaultsOptions) {
  const faults: Fault[] = []
  const wholeMs: number[] = []
  const underWay = new Set<Promise<void>>()
  const taken = new Set<string>()
  const plan = planFaults(seed)
  const mend = async () => {
    await Promise.all(underWay)
    wholeMs.push(await readiness(set, [...set.processes.keys()]))
  }
  for (let begun = 0; goesOn(begun); begun += 1) {
    const { kind, isAlone, pauseMs, random } = plan.next().value
    const flying = inFlight()
    const harm = new Harm(set, random, taken)
    const one = harm.run(kind).then(({ target, readyMs }) => void faults.push({ kind, target, inFlight: flying, readyMs }))
    underWay.add(one)
    void one.finally(() => underWay.delete(one)).catch(() => {})
    if (isAlone || underWay.size > 1) await mend()
    await sleep(systemClock, pauseMs)
  }
  await mend()
  for (const one of set.processes.values()) one.shiftClock(0)
  return { faults, wholeMs }
}

/** Milliseconds until each process reports that it is ready. */
async function readiness(set: ServiceSet, names: readonly string[]): Promise<number> {
  const times = await Promise.all(names.map((name) => set.processes.get(name)?.ready(readyWaitMs) ?? 0))
  return Math.max(...times)
}

class Harm {
  readonly #set: ServiceSet
  readonly #random: () => number
  /** The parts with an active fault; the run causes no second fault in such a part. */
  readonly #taken: Set<string>

  constructor(set: ServiceSet, random: () => number, taken: Set<string>) {
    this.#set = set
    this.#random = random
    this.#taken = taken
  }

  async run(kind: FaultKind): Promise<{ target: string; readyMs: number | undefined }> {
    const { processes, links } = this.#set
    switch (kind) {
      case 'stop etcd':
        return this.#taking('etcd', async () => this.#stopEtcd())
      case 'stop NATS':
        return this.#taking('nats', async () => this.#stopNats())
      case 'pause a process':
        return this.#taking(this.#free([...processes.keys()]), (name) => this.#pause(name))
      case 'shift a clock':
        return this.#taking(this.#free([...processes.keys()]), async (name) => this.#shift(name))
      case 'cut a connection':
        return this.#taking(this.#free([...links.keys()]), async (name) => void links.get(name)?.cut())
      case 'silence a connection':
        return this.#taking(this.#free([...links.keys()]), (name) => this.#silence(name))
      case 'cut a process off':
        return this.#taking(this.#free([...processes.keys()]), (name) => this.#cutOff(name))
      default: {
        const service = kind.slice('kill '.length) as Service
        return this.#taking(this.#free(this.#set.of(service).map(({ name }) => name)), (name) => this.#kill(name))
      }
    }
  }

  #free(names: readonly string[]): string {
    const free = names.filter((name) => !this.#taken.has(name))
    return pick(this.#random, free.length === 0 ? names : free)
  }

  async #taking(target: string, act: (target: string) => Promise<unknown>): Promise<{ target: string; readyMs: number | undefined }> {
    this.#taken.add(target)
    try {
      const readyMs = await act(target)
      return { target, readyMs: typeof readyMs === 'number' ? readyMs : undefined }
    } finally {
      this.#taken.delete(target)
    }
  }

  async #kill(name: string): Promise<number> {
    const one = this.#set.processes.get(name)
    if (one === undefined) throw new Error(`there is no process ${name}`)
    await one.kill()
    await this.#pass(0, 1_000)
    one.start()
    return this.#readiness([name])
  }

  /** All processes that use etcd must be ready soon after etcd is ready. */
  async #stopEtcd(): Promise<number> {
    const { etcd } = this.#set
    await etcd.kill()
    await this.#pass(300, 1_500)
    await etcd.start()
    return this.#readiness(this.#set.of('storage').map(({ name }) => name))
  }

  async #stopNats(): Promise<void> {
    const { nats } = this.#set
    await nats.kill()
    await this.#pass(300, 2_500)
    await nats.start()
  }

  async #pause(name: string): Promise<number> {
    const one = this.#set.processes.get(name)
    one?.pause()
    await this.#pass(300, 2_500)
    one?.resume()
    return this.#readiness([name])
  }

  async #shift(name: string): Promise<void> {
    const sign = this.#random() < 0.5 ? -1 : 1
    this.#set.processes.get(name)?.shiftClock(sign * Math.floor(1_000 + this.#random() * 600_000))
    await this.#pass(500, 2_000)
  }

  async #silence(name: string): Promise<void> {
    const link = this.#set.links.get(name)
    link?.mute(this.#random() < 0.5 ? 'caller' : 'callee')
    await this.#pass(200, 1_200)
    link?.hear()
    // A byte stream with missing bytes is useless to both sides.
    link?.cut()
  }

  async #cutOff(name: string): Promise<void> {
    const own = [...this.#set.links].filter(([link]) => link.split('>').includes(name)).map(([, link]) => link)
    for (let round = 0; round < 5; round += 1) {
      for (const link of own) link.cut()
      await this.#pass(50, 200)
    }
  }

  #readiness(names: readonly string[]): Promise<number> {
    return readiness(this.#set, names)
  }

  #pass(fromMs: number, toMs: number): Promise<void> {
    return sleep(systemClock, fromMs + this.#random() * (toMs - fromMs))
  }
}
