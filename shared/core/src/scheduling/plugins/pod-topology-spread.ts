import { requiredNodeAffinity } from '../../placement/node-selector.ts'
import { firstUntolerated } from '../../placement/taints.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { matchesLabels } from '../../selectors/labels.ts'
import type { LabelRequirement } from '../../selectors/selection.ts'
import { readSelector } from '../affinity-terms.ts'
import type { Cluster } from '../cluster.ts'
import type { NodeInfo } from '../node-info.ts'
import { type FilterPlugin, type FilterRun, type Refusal, type ScorePlugin, scoreMax, skip } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import type { SchedulingRules } from '../rules.ts'

type Constraint = BuiltIn<'core/v1.TopologySpreadConstraint'>

const plugin = 'PodTopologySpread'
const skewed: Refusal = { plugin, isResolvable: true, reasons: ["node(s) didn't match pod topology spread constraints"] }
const unlabeled: Refusal = {
  plugin,
  isResolvable: false,
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
}

/** A compiled constraint, for comparison with many nodes. */
interface Spread {
  readonly maxSkew: number
  readonly key: string
  /** Undefined if no Pod is counted. */
  readonly selector: readonly LabelRequirement[] | undefined
  /** Counts matching Pods of the namespace on a node that are not being deleted. A selector without terms matches none. */
  readonly countPods: (node: NodeInfo) => number
  readonly minDomains: number
  /** True for nodes that are counted. */
  readonly isCounted: (node: NodeInfo) => boolean
}

/** Refuses nodes on which the Pod would violate the maximum skew of a constraint (SCHED-44, SCHED-45). */
export const spreadFilter: FilterPlugin = {
  name: plugin,
  start(pod, cluster, rules) {
    const spreads = spreadsOf(pod, 'DoNotSchedule', rules)
    return spreads.length === 0 ? skip : { kind: 'run', run: new SpreadRun(pod, spreads, cluster) }
  },
}

class SpreadRun implements FilterRun {
  readonly #pod: PodInfo
  readonly #spreads: readonly Spread[]
  /** Matching Pods by topology value, per constraint. */
  readonly #counts: readonly Map<string, number>[]
  readonly #matchesItself: readonly number[]
  /** The minimum count per constraint; undefined if it must be computed. */
  readonly #least: (number | undefined)[]

  constructor(pod: PodInfo, spreads: readonly Spread[], cluster: Cluster) {
    this.#pod = pod
    this.#spreads = spreads
    this.#counts = spreads.map(() => new Map<string, number>())
    this.#matchesItself = spreads.map(({ selector }) => (selector !== undefined && matchesLabels(selector, pod.labels) ? 1 : 0))
    this.#least = spreads.map(() => undefined)
    for (const node of cluster.nodes) {
      if (!hasKeys(node, spreads)) continue
      for (const [at, spread] of spreads.entries()) {
        if (spread.isCounted(node)) this.#add(at, node, spread.countPods(node))
      }
    }
  }

  count(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (other.namespace !== this.#pod.namespace || !hasKeys(node, this.#spreads)) return
    for (const [at, { selector, isCounted }] of this.#spreads.entries()) {
      if (selector !== undefined && isCounted(node) && matchesLabels(selector, other.labels)) this.#add(at, node, by)
    }
  }

  filter({ labels }: NodeInfo): Refusal | undefined {
    for (const [at, { key, maxSkew }] of this.#spreads.entries()) {
      const value = labels?.[key]
      if (value === undefined) return unlabeled
      const count = this.#counts[at]?.get(value) ?? 0
      if (count + (this.#matchesItself[at] ?? 0) - this.#leastOf(at) > maxSkew) return skewed
    }
    return undefined
  }

  #add(at: number, { labels }: NodeInfo, by: number): void {
    const value = labels?.[this.#spreads[at]?.key ?? '']
    const counts = this.#counts[at]
    if (value === undefined || counts === undefined) return
    counts.set(value, (counts.get(value) ?? 0) + by)
    this.#least[at] = undefined
  }

  /** The minimum count. Without counted domains it is infinite; with fewer than the minimum number of domains it is 0. */
  #leastOf(at: number): number {
    const known = this.#least[at]
    if (known !== undefined) return known
    const counts = this.#counts[at] ?? new Map<string, number>()
    let least = Number.MAX_SAFE_INTEGER
    for (const count of counts.values()) least = Math.min(least, count)
    if (counts.size < (this.#spreads[at]?.minDomains ?? 0)) least = 0
    this.#least[at] = least
    return least
  }
}

/** Prefers nodes in topology domains with fewer matching Pods (SCHED-57). */
export const spreadScore: ScorePlugin = {
  name: plugin,
  weight: 2,
  score({ pod, nodes, cluster, rules }) {
    const hasOwn = (pod.pod.spec.topologySpreadConstraints ?? []).length > 0
    const spreads = hasOwn ? spreadsOf(pod, 'ScheduleAnyway', rules) : usualSpreads(pod, cluster, rules)
    if (spreads.length === 0) return rules.skipsMissingSpreads ? undefined : nodes.map(() => scoreMax)
    const isSpread = (node: NodeInfo) => !hasOwn || hasKeys(node, spreads)
    const isIgnored = nodes.map((node) => !isSpread(node))
    const sums = new Array<number>(nodes.length).fill(0)
    for (const spread of spreads) addPart(sums, spread, { nodes, cluster, isSpread, isIgnored, hostname: rules.hostnameLabel })
    return invert(sums, isIgnored)
  },
}

interface PartInput {
  readonly nodes: readonly NodeInfo[]
  readonly cluster: Cluster
  /** False for a node without a key of an own constraint: its Pods count for none, and it is ignored. */
  readonly isSpread: (node: NodeInfo) => boolean
  readonly isIgnored: readonly boolean[]
  readonly hostname: string
}

/** Adds the contribution of one constraint to the nodes' sums: matching Pods of the domain, weighted by the number of domains. */
function addPart(sums: number[], { key, countPods, maxSkew, isCounted }: Spread, input: PartInput): void {
  const { nodes, isIgnored, hostname } = input
  const isPerNode = key === hostname
  const counts = new Map<string, number>()
  let [considered, hasDomains] = [0, false]
  for (let at = 0; at < nodes.length; at++) {
    if (isIgnored[at]) continue
    const value = nodes[at]?.labels?.[key]
    considered++
    hasDomains ||= value !== undefined
    if (!isPerNode) counts.set(value ?? '', 0)
  }
  if (!hasDomains) return
  const weight = Math.log((isPerNode ? considered : counts.size) + 2)
  if (!isPerNode) countDomains(counts, { key, countPods, isCounted }, input)
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]
    const value = node?.labels?.[key]
    if (node === undefined || value === undefined || isIgnored[at]) continue
    sums[at] = (sums[at] ?? 0) + ((isPerNode ? countPods(node) : (counts.get(value) ?? 0)) * weight + maxSkew - 1)
  }
}

/** Counts the matching Pods of each domain in the whole cluster. */
function countDomains(
  counts: Map<string, number>,
  { key, countPods, isCounted }: Pick<Spread, 'key' | 'countPods' | 'isCounted'>,
  { cluster, isSpread }: PartInput,
): void {
  for (const node of cluster.nodes) {
    const value = node.labels?.[key]
    const before = counts.get(value ?? '')
    if (before === undefined || !isSpread(node) || !isCounted(node)) continue
    counts.set(value ?? '', before + countPods(node))
  }
}

/** Rounds sums and scales them, in place, so that the lowest becomes 100; ignored nodes get 0. */
function invert(sums: number[], isIgnored: readonly boolean[]): readonly number[] {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
  for (let at = 0; at < sums.length; at++) {
    const sum = Math.round(sums[at] ?? 0)
    sums[at] = sum
    if (isIgnored[at]) continue
    lowest = Math.min(lowest, sum)
    highest = Math.max(highest, sum)
  }
  for (let at = 0; at < sums.length; at++) {
    if (isIgnored[at]) sums[at] = 0
    else sums[at] = highest === 0 ? scoreMax : Math.trunc((scoreMax * (highest + lowest - (sums[at] ?? 0))) / highest)
  }
  return sums
}

function spreadsOf(pod: PodInfo, action: string, rules: SchedulingRules): readonly Spread[] {
  return (pod.pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map((constraint) => ({
      maxSkew: constraint.maxSkew,
      key: constraint.topologyKey,
      ...counting(selectorOf(constraint, pod, rules), pod),
      minDomains: rules.hasMinDomains ? (constraint.minDomains ?? 1) : 1,
      isCounted: countedNodes(constraint, pod, rules),
    }))
}

/** The selector, and since 1.27 also the Pod's values of `matchLabelKeys`. An invalid selector selects nothing. */
function selectorOf({ labelSelector, matchLabelKeys }: Constraint, { labels }: PodInfo, { hasMatchLabelKeys }: SchedulingRules) {
  const selector = readSelector(labelSelector)
  if (typeof selector !== 'object') return undefined
  const added = (hasMatchLabelKeys ? (matchLabelKeys ?? []) : []).flatMap((key): LabelRequirement[] => {
    const value = labels?.[key]
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }]
  })
  return [...selector, ...added]
}

/** The counted nodes. By default the policies exclude nodes that the Pod's selector or affinity excludes, and include nodes with taints. */
function countedNodes(
  { nodeAffinityPolicy, nodeTaintsPolicy }: Pick<Constraint, 'nodeAffinityPolicy' | 'nodeTaintsPolicy'>,
  { pod, tolerations }: PodInfo,
  { hasInclusionPolicies, hasComparisons }: SchedulingRules,
): Spread['isCounted'] {
  const ignoresAffinity = hasInclusionPolicies && nodeAffinityPolicy === 'Ignore'
  const matches = ignoresAffinity ? undefined : requiredNodeAffinity(pod)
  const honorsTaints = hasInclusionPolicies && nodeTaintsPolicy === 'Honor'
  return (node) => matches?.(node) !== false && !(honorsTaints && firstUntolerated(node.taints, tolerations, hasComparisons) !== undefined)
}

/** Default constraints: Pods without constraints are spread over nodes and zones together with Pods of the same Services and owner. */
function usualSpreads(pod: PodInfo, cluster: Cluster, rules: SchedulingRules): readonly Spread[] {
  const selector = cluster.objects.fellowsOf(pod.pod)
  if (selector.length === 0) return []
  const common = { ...counting(selector, pod), minDomains: 1, isCounted: countedNodes({}, pod, rules) }
  return [
    { ...common, key: rules.hostnameLabel, maxSkew: 3 },
    { ...common, key: rules.zoneLabel, maxSkew: 5 },
  ]
}

function hasKeys({ labels }: NodeInfo, spreads: readonly Spread[]): boolean {
  return spreads.every(({ key }) => labels?.[key] !== undefined)
}

/** A selector, with a function that counts matching Pods. */
function counting(selector: readonly LabelRequirement[] | undefined, { namespace }: PodInfo): Pick<Spread, 'selector' | 'countPods'> {
  if (selector === undefined || selector.length === 0) return { selector, countPods: () => 0 }
  const what = JSON.stringify([namespace, selector])
  const matches = (pod: PodInfo) => !pod.isTerminating && pod.namespace === namespace && matchesLabels(selector, pod.labels)
  return { selector, countPods: (node) => node.countPods(what, matches) }
}
