import { sleep, systemClock } from '@orch/platform'
import { findFault, type Observation, type TrueChange } from '../watch/checker.ts'
import { readEtcdLog } from './etcd-log.ts'
import { type Fault, runFaults } from './faults.ts'
import { findNonLinearizable } from './linearizable.ts'
import { type ChaosObject, configMaps, namespace, startLoad } from './load.ts'
import type { Operation } from './operation.ts'
import type { ServiceSet } from './service-set.ts'
import { openWatcher, textsOf, type Watcher } from './watcher.ts'
import { findWriteFault } from './writes.ts'

/** The bounds of a run: below the minimum a run proves nothing, and above the maximum it has a fault. */
interface ChaosBounds {
  readonly faults: number
  readonly operations: number
  readonly events: number
  /** The share of the operations whose outcome may stay unknown. */
  readonly unknownPartMax: number
  /** The longest time until a process is ready again. */
  readonly readyMsMax: number
}

export interface ChaosOptions {
  readonly set: ServiceSet
  readonly seed: number
  /** The shortest duration; the run continues until it has enough of everything. */
  readonly atLeastMs: number
  readonly atMostMs: number
  readonly bounds: ChaosBounds
}

/** The record of a run. */
export interface ChaosRun {
  readonly bounds: ChaosBounds
  readonly faults: readonly Fault[]
  /** For each repair, the time until every process was ready. */
  readonly wholeMs: readonly number[]
  readonly operations: readonly Operation[]
  readonly log: readonly TrueChange[]
  readonly observations: readonly Observation[]
  readonly watchers: readonly Pick<Watcher, 'failure' | 'reached' | 'resumed'>[]
  /** The revisions that each watcher must have reached. */
  readonly wanted: readonly number[]
  /** The objects of the final list, by gateway. */
  readonly listed: readonly ReadonlyMap<string, string>[]
  readonly tookMs: number
}

/** Prefix of the run's objects in etcd. */
export const keysOfRun = `/orch/keys/core/configmaps/${namespace}/`
const selections = Array.from({ length: 32 }, (_, index) => (index % 8 === 3 ? 'web' : index % 8 === 6 ? 'db' : undefined))
const settleMsMax = 60_000

/** Writes and watches through all gateways while the run causes faults; the test judges the results afterwards. */
export async function runChaos({ set, seed, atLeastMs, atMostMs, bounds }: ChaosOptions): Promise<ChaosRun> {
  const { clients } = set
  await first(set).request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } })
  const load = startLoad({ clients, seed: seed + 1, writers: 10, keys: 40, pauseMs: 10 })
  const watchers = await Promise.all(
    selections.map((app, index) =>
      openWatcher({ clients: index % 2 === 0 ? clients : clients.toReversed(), app, acknowledged: () => load.acknowledged }),
    ),
  )
  const begunMs = performance.now()
  const events = () => watchers.reduce((sum, watcher) => sum + watcher.events, 0)
  const goesOn = (done: number) => {
    const passedMs = performance.now() - begunMs
    const isEnough = done >= bounds.faults && load.operations.length >= 1.1 * bounds.operations && events() >= 1.1 * bounds.events
    return passedMs < atMostMs && !(passedMs >= atLeastMs && isEnough)
  }
  const { faults, wholeMs } = await runFaults({ set, seed, inFlight: () => load.inFlight, goesOn })
  await load.stop()
  const wanted = await settle(set, watchers)
  const { changes } = await readEtcdLog(set.etcd.address, keysOfRun)
  const lists = await Promise.all(clients.map((client) => client.resource<ChaosObject>(configMaps).list({ namespace })))
  for (const watcher of watchers) await watcher.stop()
  const isOurs = ({ key }: { key: string }) => key.startsWith('n')
  return {
    bounds,
    faults,
    wholeMs,
    operations: load.operations,
    log: changes.filter(isOurs),
    observations: watchers.map(({ observation }) => ({
      ...observation,
      listed: oursOf(observation.listed),
      steps: observation.steps.filter((step) => step.kind === 'position' || isOurs(step)),
    })),
    watchers,
    wanted,
    listed: lists.map((list) => oursOf(textsOf(list))),
    tookMs: performance.now() - begunMs,
  }
}

function first({ clients: [client] }: ServiceSet) {
  if (client === undefined) throw new Error('a set without gateways can’t be written to')
  return client
}

function oursOf(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...texts].filter(([key]) => key.startsWith('n')))
}

/** Writes a last object for each selector: a watcher that has seen it has seen all earlier objects. Returns the revisions that each watcher should see. */
async function settle(set: ServiceSet, watchers: readonly Watcher[]): Promise<number[]> {
  const last: Record<string, number> = {}
  for (const app of ['web', 'db']) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `last-${app}`, namespace, labels: { app } } }
    last[app] = Number((await first(set).resource(configMaps).create(object)).metadata.resourceVersion)
  }
  const wanted = watchers.map(({ observation: { app } }) => last[app ?? 'db'] ?? 0)
  const begunMs = performance.now()
  while (watchers.some(({ reached }, index) => reached < (wanted[index] ?? 0))) {
    if (performance.now() - begunMs > settleMsMax) break
    await sleep(systemClock, 20)
  }
  return wanted
}

/** The violations of a run; empty if there are none. */
export function judge({ bounds, faults, wholeMs, operations, log, observations, watchers, wanted, listed }: ChaosRun): string[] {
  const state = stateOf(log)
  const unknown = operations.filter(({ outcome }) => outcome.kind === 'unknown').length
  const events = countEvents(observations)
  const late = faults.filter(({ readyMs }) => readyMs !== undefined && readyMs > bounds.readyMsMax)
  return [
    findWriteFault(log, operations),
    findNonLinearizable(operations),
    ...observations.map((observation, index) => prefixed(`watcher ${index}`, findFault(log, observation))),
    ...watchers.map(({ failure, reached }, index) =>
      prefixed(`watcher ${index}`, failure ?? (reached < (wanted[index] ?? 0) ? `ended at ${reached} of ${wanted[index]}` : undefined)),
    ),
    ...listed.map((texts, index) =>
      printed(texts) === printed(state) ? undefined : `gateway ${index} lists ${printed(texts)} instead of ${printed(state)}`,
    ),
    ...late.map(({ kind, target, readyMs }) => `${kind} (${target}): ready after ${Math.round(readyMs ?? 0)} ms`),
    ...wholeMs
      .filter((tookMs) => tookMs > bounds.readyMsMax)
      .map((tookMs) => `all was mended, and ready only after ${Math.round(tookMs)} ms`),
    unknown > bounds.unknownPartMax * operations.length ? `${unknown} of ${operations.length} outcomes are unknown` : undefined,
    faults.length < bounds.faults ? `only ${faults.length} faults` : undefined,
    operations.length < bounds.operations ? `only ${operations.length} operations` : undefined,
    events < bounds.events ? `only ${events} events` : undefined,
  ].filter((fault) => fault !== undefined)
}

function countEvents(observations: readonly Observation[]): number {
  return observations.reduce((sum, { steps }) => sum + steps.filter(({ kind }) => kind === 'event').length, 0)
}

function prefixed(what: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${what}: ${fault}`
}

function stateOf(log: readonly TrueChange[]): ReadonlyMap<string, string> {
  const state = new Map<string, string>()
  for (const { key, after } of log) {
    if (after === undefined) state.delete(key)
    else state.set(key, after.text)
  }
  return state
}

function printed(texts: ReadonlyMap<string, string>): string {
  return JSON.stringify([...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The faults of a run, and the numbers of all checks. */
export function report({ faults, wholeMs, operations, log, observations, watchers, tookMs }: ChaosRun, seed: number): string {
  const kinds = Map.groupBy(faults, ({ kind }) => kind)
  const lines = [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, those]) => {
      const ready = those.flatMap(({ readyMs }) => (readyMs === undefined ? [] : [Math.round(readyMs)]))
      const flying = those.map(({ inFlight }) => inFlight).join(' ')
      return `  ${kind.padEnd(22)} ${String(those.length).padStart(3)}   in flight ${flying}${ready.length === 0 ? '' : `   ready after ${ready.join(' ')} ms`}`
    })
  const outcomes = Map.groupBy(operations, ({ outcome }) => outcome.kind)
  const counts = [...outcomes].map(([kind, those]) => `${those.length} ${kind}`).join(', ')
  const whys = Map.groupBy(
    operations.flatMap(({ outcome }) =>
      'why' in outcome ? [`${outcome.kind}: ${outcome.why.replace(/\d{4,}/g, 'N').slice(0, 110)}`] : [],
    ),
    (why) => why,
  )
  const events = countEvents(observations)
  const resumed = watchers.reduce((sum, watcher) => sum + watcher.resumed, 0)
  return [
    `seed ${seed}, ${(tookMs / 1_000).toFixed(1)} s, ${faults.length} faults:`,
    ...lines,
    `  all ready again after   ${wholeMs.map(Math.round).join(' ')} ms`,
    `${operations.length} operations: ${counts}`,
    ...[...whys]
      .toSorted(([, a], [, b]) => b.length - a.length)
      .slice(0, 12)
      .map(([why, those]) => `  ${those.length} ${why}`),
    `${log.length} changes in the store, ${events} events checked, streams taken up again ${resumed} times`,
  ].join('\n')
}
