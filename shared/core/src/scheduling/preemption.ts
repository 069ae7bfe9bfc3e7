import type { BuiltIn } from '../schema/built-in.ts'
import { matchesLabels, toLabelRequirements } from '../selectors/labels.ts'
import type { Refused } from './choose.ts'
import type { Cluster } from './cluster.ts'
import { filterWithNominated, moveOnTrial } from './filters.ts'
import { countedMessage } from './message.ts'
import type { NodeInfo } from './node-info.ts'
import type { FilterRun } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** A PodDisruptionBudget as the scheduler sees it. */
export type Budget = BuiltIn<'policy/v1.PodDisruptionBudget'>

/** The outcome of preemption. */
export type Preemption =
  /** The victims on the node, most important first; the Pod is scheduled after they are gone. `message` is empty before 1.37. */
  | { readonly kind: 'victims'; readonly node: string; readonly victims: readonly PodInfo[]; readonly message: string }
  /** Preemption cannot help. `clears` removes the Pod's nomination. */
  | { readonly kind: 'none'; readonly message: string; readonly clears: boolean }

export interface PreemptOptions {
  readonly rules: SchedulingRules
  /** A number in [0, 1). */
  readonly random: () => number
  readonly budgets: readonly Budget[]
}

const noVictims = 'No preemption victims found for incoming pod'
const notHelpful = 'Preemption is not helpful for scheduling'
/** Minimum percentage and minimum number of nodes that are checked. */
const candidatesShare = 10
const candidatesMin = 100

interface Candidate {
  readonly node: string
  readonly victims: readonly PodInfo[]
  /** Number of victims that violate a disruption budget. */
  readonly violations: number
}

/**
 * Finds Pods of lower priority to preempt for a Pod that fits nowhere: on each node as few as possible, and then the node
 * with the cheapest victims (SCHED-59 to SCHED-62).
 *
 *   node a: Pods of priority 1, 5 in the way; node b: Pods of priority 1, 3 in the way       the victims are those of b
 */
export function preempt(pod: PodInfo, cluster: Cluster, refused: Refused, options: PreemptOptions): Preemption {
  const { rules } = options
  const { preemptionBeforeNodes } = rules
  const { ofAll } = refused
  if (ofAll?.isResolvable === false && ofAll.plugin !== 'DynamicResources' && preemptionBeforeNodes !== undefined) {
    return { kind: 'none', message: preemptionBeforeNodes, clears: false }
  }
  const unable = ineligibility(pod, cluster, refused, rules)
  if (unable !== undefined) return { kind: 'none', message: `preemption: ${unable}`, clears: false }
  const runs = refused.filters?.runs
  const helpful = runs === undefined ? [] : helpfulNodes(cluster, refused, rules)
  const counts = new Map<string, number>()
  const add = (reason: string, count = 1) => counts.set(reason, (counts.get(reason) ?? 0) + count)
  const candidates = runs === undefined ? [] : findCandidates(pod, cluster, { ...options, runs, nodes: helpful, add })
  const best = pickCandidate(candidates)
  if (best !== undefined) {
    const { node, victims } = best
    const found = `preemption: found a potential placement for pod on node ${node}, preempting ${victims.length} victims`
    return { kind: 'victims', node, victims, message: rules.reportsPlacement ? found : '' }
  }
  const { nodesCount } = refused
  if (nodesCount > helpful.length) add(notHelpful, nodesCount - helpful.length)
  return { kind: 'none', message: `preemption: ${countedMessage(nodesCount, counts)}`, clears: true }
}

/** The reason why the Pod may not preempt now; undefined if it may. */
function ineligibility({ pod, priority }: PodInfo, cluster: Cluster, { refusals }: Refused, rules: SchedulingRules): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const { nominatedNodeName = '' } = pod.status
  if (nominatedNodeName === '' || refusals.get(nominatedNodeName)?.isResolvable === false) return undefined
  for (const other of cluster.node(nominatedNodeName)?.pods.values() ?? []) {
    if (other.priority < priority && isLeaving(other, rules)) return 'not eligible due to a terminating pod on the nominated node.'
  }
  return undefined
}

/** Since 1.27 only Pods that are being preempted count. */
function isLeaving({ pod, isTerminating }: PodInfo, { waitsForVictimsAlone }: SchedulingRules): boolean {
  if (!isTerminating || !waitsForVictimsAlone) return isTerminating
  return pod.status.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler') === true
}

/** Nodes whose refusal preemption may resolve. Before 1.28, excluded nodes also count. */
function helpfulNodes(cluster: Cluster, { refusals }: Refused, { message }: SchedulingRules): readonly NodeInfo[] {
  return cluster.nodes.filter(({ name }) => refusals.get(name)?.isResolvable ?? message.leftOut === undefined)
}

interface Search extends PreemptOptions {
  readonly runs: readonly FilterRun[]
  readonly nodes: readonly NodeInfo[]
  /** Called with each reason why a node is not a candidate. */
  readonly add: (reason: string) => void
}

function findCandidates(pod: PodInfo, cluster: Cluster, search: Search): readonly Candidate[] {
  const { nodes, random, add } = search
  const wanted = Math.min(nodes.length, Math.max(candidatesMin, Math.trunc((nodes.length * candidatesShare) / 100)))
  const start = Math.floor(random() * nodes.length)
  const [harmless, violating]: [Candidate[], Candidate[]] = [[], []]
  for (let step = 0; step < nodes.length; step++) {
    const node = nodes[(start + step) % nodes.length]
    if (node === undefined) continue
    const found = selectVictims(pod, cluster, node, search)
    if ('reasons' in found) for (const reason of found.reasons) add(reason)
    else if (found.violations === 0) harmless.push(found)
    else violating.push(found)
    if (harmless.length > 0 && harmless.length + violating.length >= wanted) break
  }
  return [...harmless, ...violating]
}

/** The victims on one node: all Pods of lower priority are removed on trial, and restored one by one while the Pod still fits (SCHED-61). */
function selectVictims(
  pod: PodInfo,
  cluster: Cluster,
  node: NodeInfo,
  { runs, budgets, rules }: Search,
): Candidate | { readonly reasons: readonly string[] } {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < pod.priority)
  if (lower.length === 0) return { reasons: [noVictims] }
  const away = new Set<PodInfo>()
  const leave = (one: PodInfo) => {
    moveOnTrial(runs, one, node, -1)
    away.add(one)
  }
  const comeBack = (one: PodInfo) => {
    moveOnTrial(runs, one, node, 1)
    away.delete(one)
  }
  try {
    for (const one of lower) leave(one)
    const refusal = filterWithNominated(runs, pod, node, cluster)
    if (refusal !== undefined) return refusal
    const victims: PodInfo[] = []
    let violations = 0
    const { violating, harmless } = splitByBudgets(lower.sort(byImportance), budgets)
    for (const [group, cost] of [
      [violating, 1],
      [harmless, 0],
    ] as const) {
      for (const one of group) {
        comeBack(one)
        if (filterWithNominated(runs, pod, node, cluster) === undefined) continue
        leave(one)
        victims.push(one)
        violations += cost
      }
    }
    return { node: node.name, victims: rules.sortsVictims ? victims.sort(byImportance) : victims, violations }
  } finally {
    for (const one of [...away]) comeBack(one)
  }
}

/** Sorts by priority, highest first, then by running time, longest first. */
function byImportance(left: PodInfo, right: PodInfo): number {
  return right.priority - left.priority || startMsOf(left) - startMsOf(right)
}

/** The start time of a Pod; now if it has not started. */
function startMsOf({ pod }: PodInfo): number {
  const ms = Date.parse(pod.status.startTime ?? '')
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms
}

/** Splits Pods into those that violate a budget, assuming that all before them are also removed, and the rest. */
function splitByBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]) {
  const left = budgets.map(({ metadata: { namespace }, spec, status }) => {
    const reading = toLabelRequirements(spec.selector ?? {})
    const terms = reading.kind === 'selector' ? reading.requirements : []
    return { namespace, terms, disrupted: status.disruptedPods ?? {}, allowed: status.disruptionsAllowed ?? 0 }
  })
  const [violating, harmless]: [PodInfo[], PodInfo[]] = [[], []]
  for (const pod of pods) {
    let isViolating = false
    for (const budget of left) {
      const isOf = budget.namespace === pod.namespace && budget.terms.length > 0 && matchesLabels(budget.terms, pod.labels)
      if (!isOf || Object.keys(pod.labels ?? {}).length === 0 || Object.hasOwn(budget.disrupted, pod.name)) continue
      budget.allowed--
      if (budget.allowed < 0) isViolating = true
    }
    if (isViolating) violating.push(pod)
    else harmless.push(pod)
  }
  return { violating, harmless }
}

/** Costs to compare in this order; lower is better (SCHED-62). */
const costs: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? 0,
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStartMs(victims),
]

/** The earliest start among victims of the highest priority. */
function earliestStartMs(victims: readonly PodInfo[]): number {
  const highest = Math.max(...victims.map(({ priority }) => priority))
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startMsOf))
}

function pickCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates
  for (const costOf of costs) {
    if (left.length <= 1) break
    const least = Math.min(...left.map(costOf))
    left = left.filter((candidate) => costOf(candidate) === least)
  }
  return left[0]
}
