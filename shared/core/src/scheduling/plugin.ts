import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** Names of filter plugins. */
export type FilterName =
  | 'NodeUnschedulable'
  | 'NodeName'
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodePorts'
  | 'NodeResourcesFit'
  | 'VolumeRestrictions'
  | 'NodeVolumeLimits'
  | 'VolumeBinding'
  | 'VolumeZone'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'DynamicResources'

/** The refusal of a node. */
export interface Refusal {
  readonly plugin: FilterName
  /** True if preempting Pods of lower priority may help. */
  readonly isResolvable: boolean
  readonly reasons: readonly string[]
  /** True for an error of an object that the Pod needs; it ends the attempt, whatever other nodes say. */
  readonly isFault?: boolean
  /** True if the Pod is not tried until an object that it needs exists: neither an event nor a condition says so, as in kube-scheduler. */
  readonly isSilent?: boolean
}

/** A filter, prepared for one Pod. */
export interface FilterRun {
  /** Undefined if the Pod fits. */
  filter(node: NodeInfo): Refusal | undefined
  /** Accounts for a Pod that is added to a node (1) or removed from it (-1) during a trial. Default: the node's sums suffice. */
  count?(pod: PodInfo, node: NodeInfo, by: 1 | -1): void
}

/** The result of preparing a filter. */
export type FilterStart =
  /** The filter refuses no node. */
  | { readonly kind: 'skip' }
  /** `nodeNames` are the only nodes to check; undefined for all. */
  | { readonly kind: 'run'; readonly run: FilterRun; readonly nodeNames?: ReadonlySet<string> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** A plugin that refuses nodes. */
export interface FilterPlugin {
  readonly name: FilterName
  start(pod: PodInfo, cluster: Cluster, rules: SchedulingRules): FilterStart
}

export const skip: FilterStart = { kind: 'skip' }

/** Names of score plugins. */
export type ScoreName =
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodeResourcesFit'
  | 'PodTopologySpread'
  | 'InterPodAffinity'
  | 'NodeResourcesBalancedAllocation'
  | 'ImageLocality'
  | 'DynamicResources'

/** The input of scores. */
export interface ScoreInput {
  readonly pod: PodInfo
  /** The nodes on which the Pod fits. */
  readonly nodes: readonly NodeInfo[]
  readonly cluster: Cluster
  readonly rules: SchedulingRules
}

/** A plugin that scores nodes from 0 to 100, in the order of the nodes; undefined if it has no preference. */
export interface ScorePlugin {
  readonly name: ScoreName
  readonly weight: number
  score(input: ScoreInput): readonly number[] | undefined
}

export const scoreMax = 100

/** Scales scores in place so that the largest becomes 100, or 0 if reversed. */
export function normalize(scores: number[], { isReversed = false } = {}): number[] {
  let largest = 0
  for (const score of scores) largest = Math.max(largest, score)
  for (let at = 0; at < scores.length; at++) {
    const share = largest === 0 ? 0 : Math.trunc((scoreMax * (scores[at] ?? 0)) / largest)
    scores[at] = isReversed ? scoreMax - share : share
  }
  return scores
}
