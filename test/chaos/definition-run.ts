import { sleep, systemClock } from '@orch/platform'
import { startLives } from './definition-lives.ts'
import { askEtcd } from './etcd-log.ts'
import { createRandom, shuffled } from './random.ts'
import type { ServiceSet } from './service-set.ts'
import { until } from './waiting.ts'

export interface DefinitionRunOptions {
  readonly set: ServiceSet
  readonly seed: number
  readonly workers: number
  /** The number of kills of each process. */
  readonly rounds: number
  /** The processes to kill; all by default. */
  readonly victims?: readonly string[]
}

const keys = '/orch/keys/'
const readyWaitMs = 60_000

/** Creates, changes and deletes definitions under load through all gateways while the run kills every process in turn. */
export async function runDefinitions({ set, seed, workers, rounds, victims }: DefinitionRunOptions) {
  const random = createRandom(seed)
  const keysBelow = (prefix: string) => keysIn(set.etcd.address, prefix)
  const lives = startLives({ clients: set.clients, seed: seed + 1, workers, keysBelow })
  let kills = 0
  for (let round = 0; round < rounds; round += 1) {
    const those = [...set.processes.values()].filter(({ name }) => victims === undefined || victims.includes(name))
    for (const one of shuffled(random, those)) {
      const done = lives.counts.definitions
      await one.kill()
      kills += 1
      await sleep(systemClock, random() * 1_000)
      one.start()
      await one.ready(readyWaitMs)
      // The load is working again when the run kills the next process.
      await until(() => lives.counts.definitions > done)
    }
  }
  await lives.stop()
  const faults = [...lives.faults, ...(await leftOver(keysBelow))]
  return { faults, counts: lives.counts, kills }
}

/** Names and rows of deleted definitions that are left in the store. */
async function leftOver(keysBelow: (prefix: string) => Promise<readonly string[]>): Promise<string[]> {
  let left: readonly string[] = []
  const isSwept = async () => {
    left = [...(await keysBelow('definitions/names/chaos')), ...(await keysBelow('definitions/serving/kinds'))]
    return left.length === 0
  }
  await until(isSwept).catch(() => {})
  return left.map((key) => `${key} is left over`)
}

async function keysIn(address: string, prefix: string): Promise<string[]> {
  const from = Buffer.from(`${keys}${prefix}`)
  const end = Buffer.from(from)
  end[end.length - 1] = (end.at(-1) ?? 0) + 1
  const request = { key: from.toString('base64'), range_end: end.toString('base64'), keys_only: true }
  const { kvs = [] } = await askEtcd<{ kvs?: readonly { readonly key: string }[] }>(address, '/v3/kv/range', request)
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString().slice(keys.length))
}
