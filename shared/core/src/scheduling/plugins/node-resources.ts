import { isNothing } from '../amounts.ts'
import { extendedClasses } from '../extended-resources.ts'
import type { NodeInfo } from '../node-info.ts'
import { type FilterPlugin, type Refusal, type ScorePlugin, scoreMax } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import type { SchedulingRules } from '../rules.ts'

const plugin = 'NodeResourcesFit'

/** Refuses nodes with insufficient resources; the refusal names all of them (SCHED-34). */
export const fitFilter: FilterPlugin = {
  name: plugin,
  start(pod, { objects }, rules) {
    const byDevices = extendedClasses(pod, objects, rules.devices)
    return { kind: 'run', run: { filter: (node) => fit(pod, node, rules, byDevices) } }
  },
}

const onlyPods: Refusal = { plugin, isResolvable: true, reasons: ['Too many pods'] }

/** The refusal of a node because of its resources; undefined if the Pod fits. The devices of a node provide some of the resources that it lacks. */
export function fit(
  { requested }: PodInfo,
  node: NodeInfo,
  rules: Pick<SchedulingRules, 'knowsLargePods' | 'skipsUnrequested'>,
  byDevices: ReadonlyMap<string, unknown> = new Map(),
): Refusal | undefined {
  const isFull = node.podCount + 1 > node.podsMax
  if (isNothing(requested)) return isFull ? onlyPods : undefined
  const { allocatable, requested: used } = node
  let reasons: string[] | undefined
  let isTooLarge = false
  const compare = (name: string, wanted: number, taken: number, all: number) => {
    if (wanted <= all - taken || (wanted === 0 && rules.skipsUnrequested)) return
    reasons ??= isFull ? [...onlyPods.reasons] : []
    reasons.push(`Insufficient ${name}`)
    isTooLarge ||= wanted > all
  }
  compare('cpu', requested.cpu, used.cpu, allocatable.cpu)
  compare('memory', requested.memory, used.memory, allocatable.memory)
  compare('ephemeral-storage', requested.ephemeral, used.ephemeral, allocatable.ephemeral)
  if (requested.scalars !== undefined) {
    for (const [name, wanted] of requested.scalars) {
      if (byDevices.has(name) && !allocatable.scalars?.get(name)) continue
      compare(name, wanted, used.scalars?.get(name) ?? 0, allocatable.scalars?.get(name) ?? 0)
    }
  }
  if (reasons === undefined) return isFull ? onlyPods : undefined
  return { plugin, isResolvable: !(rules.knowsLargePods && isTooLarge), reasons }
}

/** Prefers nodes with more free CPU and memory, weighted equally (SCHED-52). A bug of kube-scheduler leaves out requests of the Pod itself. */
export const leastAllocated: ScorePlugin = {
  name: plugin,
  weight: 1,
  score: ({ pod: { ofContainers: wanted }, nodes }) =>
    nodes.map(({ allocatable: { cpu, memory }, nonZero: used }) => {
      const weights = (cpu === 0 ? 0 : 1) + (memory === 0 ? 0 : 1)
      if (weights === 0) return 0
      return Math.trunc((freeShare(used.cpu + wanted.cpu, cpu) + freeShare(used.memory + wanted.memory, memory)) / weights)
    }),
}

function freeShare(taken: number, all: number): number {
  return all === 0 || taken > all ? 0 : Math.trunc(((all - taken) * scoreMax) / all)
}

/** Prefers nodes with balanced usage of CPU and memory (SCHED-53). Since 1.36 the change made by the Pod counts. */
export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  score({ pod: { requested }, nodes, rules: { scoresChangeOfBalance, skipsBalanceOfNothing } }) {
    if (skipsBalanceOfNothing && requested.cpu === 0 && requested.memory === 0) return undefined
    return nodes.map(({ allocatable, requested: used }) => {
      const after = balance(used.cpu + requested.cpu, used.memory + requested.memory, allocatable)
      if (!scoresChangeOfBalance) return after
      const before = balance(used.cpu, used.memory, allocatable)
      return scoreMax / 2 + Math.trunc((scoreMax / 2 + after - before) / 2)
    })
  },
}

function balance(cpu: number, memory: number, allocatable: { readonly cpu: number; readonly memory: number }): number {
  const deviation =
    allocatable.cpu === 0 || allocatable.memory === 0
      ? 0
      : Math.abs((Math.min(1, cpu / allocatable.cpu) - Math.min(1, memory / allocatable.memory)) / 2)
  return Math.trunc((1 - deviation) * scoreMax)
}
