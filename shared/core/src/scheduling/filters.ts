import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { FilterName, FilterPlugin, FilterRun, FilterStart, Refusal } from './plugin.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import { podAffinityFilter } from './plugins/inter-pod-affinity.ts'
import { affinityFilter } from './plugins/node-affinity.ts'
import { nodeName } from './plugins/node-name.ts'
import { nodePorts } from './plugins/node-ports.ts'
import { fitFilter } from './plugins/node-resources.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { spreadFilter } from './plugins/pod-topology-spread.ts'
import { taintFilter } from './plugins/taint-toleration.ts'
import { volumeBinding } from './plugins/volume-binding.ts'
import { volumeLimits } from './plugins/volume-limits.ts'
import { volumeRestrictions } from './plugins/volume-restrictions.ts'
import { volumeZone } from './plugins/volume-zone.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** Filters in order; the first refusal of a node decides. */
const filterPlugins: readonly FilterPlugin[] = [
  nodeUnschedulable,
  nodeName,
  taintFilter,
  affinityFilter,
  nodePorts,
  fitFilter,
  volumeRestrictions,
  volumeLimits,
  volumeBinding,
  volumeZone,
  spreadFilter,
  podAffinityFilter,
  dynamicResources,
]

/** The names of the filters in order. */
export const filterNames: readonly FilterName[] = filterPlugins.map(({ name }) => name)

/** The filters, prepared for one Pod. */
export interface PreparedFilters {
  readonly kind: 'prepared'
  readonly runs: readonly FilterRun[]
  /** The only nodes to check; undefined for all. */
  readonly nodeNames?: ReadonlySet<string>
  /** Plugins that restricted the nodes. */
  readonly namedBy: readonly FilterName[]
}

/** Prepares all filters for a Pod, or returns a refusal of all nodes (SCHED-21). */
export function prepareFilters(
  pod: PodInfo,
  cluster: Cluster,
  rules: SchedulingRules,
): PreparedFilters | { readonly kind: 'refused'; readonly refusal: Refusal } {
  const runs: FilterRun[] = []
  const namedBy: FilterName[] = []
  let nodeNames: ReadonlySet<string> | undefined
  for (const plugin of filterPlugins) {
    const start = plugin.start(pod, cluster, rules)
    if (start.kind === 'skip') continue
    if (start.kind === 'refused') return start
    runs.push(start.run)
    if (start.nodeNames === undefined) continue
    namedBy.push(plugin.name)
    nodeNames = commonNames(nodeNames, start.nodeNames)
  }
  return { kind: 'prepared', runs, namedBy, ...(nodeNames && { nodeNames }) }
}

/** The intersection of two sets; an undefined set contains all nodes. */
function commonNames(one: ReadonlySet<string> | undefined, other: ReadonlySet<string>): ReadonlySet<string> {
  return one === undefined ? other : new Set([...one].filter((name) => other.has(name)))
}

/** The first refusal of a node; undefined if the Pod fits. */
function filterNode(runs: readonly FilterRun[], node: NodeInfo): Refusal | undefined {
  for (const run of runs) {
    const refusal = run.filter(node)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/**
 * Like `filterNode`, taking into account Pods nominated for the node that are at least as important: the Pod must fit with them
 * and without them (SCHED-65).
 */
export function filterWithNominated(runs: readonly FilterRun[], pod: PodInfo, node: NodeInfo, cluster: Cluster): Refusal | undefined {
  if (!cluster.hasNominations) return filterNode(runs, node)
  const added: PodInfo[] = []
  for (const nominated of cluster.nominatedTo(node.name)) {
    if (nominated.priority < pod.priority || nominated.uid === pod.uid || node.pods.has(nominated.key)) continue
    moveOnTrial(runs, nominated, node, 1)
    added.push(nominated)
  }
  if (added.length === 0) return filterNode(runs, node)
  const refusal = filterNode(runs, node)
  for (const nominated of added) moveOnTrial(runs, nominated, node, -1)
  return refusal ?? filterNode(runs, node)
}

/** Adds a Pod to a node (1) or removes it (-1) on trial; the caller reverts the change. */
export function moveOnTrial(runs: readonly FilterRun[], pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
  if (by === 1) node.addPod(pod)
  else node.removePod(pod)
  for (const run of runs) run.count?.(pod, node, by)
}

/** Prepares a filter for a Pod. */
export function startFilter(name: FilterName, pod: PodInfo, cluster: Cluster, rules: SchedulingRules): FilterStart | undefined {
  return filterPlugins.find((plugin) => plugin.name === name)?.start(pod, cluster, rules)
}
