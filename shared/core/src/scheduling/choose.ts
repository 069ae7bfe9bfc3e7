import type { Cluster } from './cluster.ts'
import { filterWithNominated, type PreparedFilters, prepareFilters } from './filters.ts'
import type { NodeInfo } from './node-info.ts'
import type { Refusal } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'
import { bestNode, type NodeScores, scoreNodes } from './scores.ts'

/** The nodes on which a Pod fits. */
type Fitting =
  /** The refusals are those of other checked nodes. */
  | { readonly kind: 'fitting'; readonly nodes: readonly NodeInfo[]; readonly refusals: ReadonlyMap<string, Refusal> }
  | ({ readonly kind: 'refused' } & Refused)
  | { readonly kind: 'noNodes' }
  /** The Pod names a missing node, or an object that it needs is faulty: the attempt ends. */
  | { readonly kind: 'failed'; readonly message: string }

/** The reasons why no node fits. */
export interface Refused {
  readonly nodesCount: number
  /** The refusal of each checked node, by name. */
  readonly refusals: ReadonlyMap<string, Refusal>
  /** A refusal of all nodes, before any was checked. */
  readonly ofAll?: Refusal
  /** Plugins that excluded nodes before they were checked. */
  readonly namedBy: readonly string[]
  /** The filters that refused, for preemption; undefined if none were prepared. */
  readonly filters?: PreparedFilters
}

export interface ChooseOptions {
  readonly rules: SchedulingRules
  /** A number in [0, 1). */
  readonly random: () => number
  /** The index of the node at which the search of a large cluster begins. */
  readonly startAt: number
}

/** The decision for one Pod. */
export type Decision =
  | { readonly kind: 'placed'; readonly node: string; readonly lookedAt: number; readonly scores?: NodeScores }
  | ({ readonly kind: 'refused' } & Refused)
  | { readonly kind: 'noNodes' }
  | { readonly kind: 'failed'; readonly message: string }

/** Chooses the node of a Pod by filters and then scores, randomly among equal nodes (SCHED-13). A single fitting node is not scored (SCHED-50). */
export function choose(pod: PodInfo, cluster: Cluster, options: ChooseOptions): Decision {
  const fitting = fittingNodes(pod, cluster, options)
  if (fitting.kind !== 'fitting') return fitting
  const { nodes, refusals } = fitting
  const lookedAt = nodes.length + refusals.size
  const [first] = nodes
  if (nodes.length === 1 && first !== undefined) return { kind: 'placed', node: first.name, lookedAt }
  const scores = scoreNodes({ pod, nodes, cluster, rules: options.rules })
  return { kind: 'placed', node: bestNode(nodes, scores.totals, options.random).name, lookedAt, scores }
}

/** Minimum number and minimum percentage of nodes to find in a large cluster. */
const findMin = 100
const shareMin = 5

/** The number of fitting nodes at which the search ends (SCHED-51). */
function nodesToFind(nodesCount: number): number {
  if (nodesCount < findMin) return nodesCount
  const percent = Math.max(shareMin, 50 - Math.trunc(nodesCount / 125))
  return Math.max(findMin, Math.trunc((nodesCount * percent) / 100))
}

/** The nodes on which the Pod fits: only its nominated node if it fits there, else as many as needed. */
export function fittingNodes(pod: PodInfo, cluster: Cluster, { rules, startAt }: Pick<ChooseOptions, 'rules' | 'startAt'>): Fitting {
  const all = cluster.nodes
  if (all.length === 0) return { kind: 'noNodes' }
  const prepared = prepareFilters(pod, cluster, rules)
  const nodesCount = all.length
  if (prepared.kind === 'refused') return { kind: 'refused', nodesCount, refusals: new Map(), ofAll: prepared.refusal, namedBy: [] }
  const { runs, nodeNames, namedBy } = prepared
  const nominated = cluster.node(pod.pod.status?.nominatedNodeName ?? '')
  if (nominated !== undefined && filterWithNominated(runs, pod, nominated, cluster) === undefined) {
    return { kind: 'fitting', nodes: [nominated], refusals: new Map() }
  }
  const missing = rules.failsOnMissingNodes ? [...(nodeNames ?? [])].find((name) => cluster.node(name) === undefined) : undefined
  if (missing !== undefined) return { kind: 'failed', message: `nodeinfo not found for node name ${JSON.stringify(missing)}` }
  const candidates = nodeNames === undefined ? all : [...nodeNames].flatMap((name) => cluster.node(name) ?? [])
  const wanted = nodesToFind(candidates.length)
  const nodes: NodeInfo[] = []
  const refusals = new Map<string, Refusal>()
  for (let step = 0; step < candidates.length && nodes.length < wanted; step++) {
    const node = candidates[(startAt + step) % candidates.length]
    if (node === undefined) continue
    const refusal = filterWithNominated(runs, pod, node, cluster)
    if (refusal?.isFault) return { kind: 'failed', message: refusal.reasons.join(', ') }
    if (refusal === undefined) nodes.push(node)
    else refusals.set(node.name, refusal)
  }
  if (nodes.length > 0) return { kind: 'fitting', nodes, refusals }
  return { kind: 'refused', nodesCount, refusals, namedBy, filters: prepared }
}
