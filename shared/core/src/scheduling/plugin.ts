import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { SchedulingRules } from './rules.ts'

/** Names of the plugins that refuse nodes. */
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

/** A node is refused. */
export interface Refusal {
  readonly plugin: FilterName
  /** True if it would help that Pods of lower priority leave. */
  readonly isResolvable: boolean
  readonly reasons: readonly string[]
  /** True for a fault of an object that the Pod needs: it ends the attempt, whatever other nodes say. */
  readonly isFault?: boolean
}

/** A filter, prepared for one Pod. */
export interface FilterRun {
  /** Undefined: the Pod fits. */
  filter(node: NodeInfo): Refusal | undefined
  /** Counts a Pod that is put on a node (1) or taken from it (-1) for the length of a trial. Absent: the sums of the node say all. */
  count?(pod: PodInfo, node: NodeInfo, by: 1 | -1): void
}

/** The preparation of a filter. */
export type FilterStart =
  /** It has nothing to refuse. */
  | { readonly kind: 'skip' }
  /** `nodeNames` are the only nodes to look at. Absent: all. */
  | { readonly kind: 'run'; readonly run: FilterRun; readonly nodeNames?: ReadonlySet<string> }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** A plugin that refuses nodes. */
export interface FilterPlugin {
  readonly name: FilterName
  start(pod: PodInfo, cluster: Cluster, rules: SchedulingRules): FilterStart
}

export const skip: FilterStart = { kind: 'skip' }

/** Names of the plugins that prefer nodes. */
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

/** A plugin that prefers nodes: 0 to 100 for each, in the order of the nodes. Undefined: it prefers none. */
export interface ScorePlugin {
  readonly name: ScoreName
  readonly weight: number
  score(input: ScoreInput): readonly number[] | undefined
}

export const scoreMax = 100

/** Stretches counts so that the largest is 100; reversed, the largest becomes 0. In place. */
export function normalize(scores: number[], { isReversed = false } = {}): number[] {
  let largest = 0
  for (const score of scores) largest = Math.max(largest, score)
  for (let at = 0; at < scores.length; at++) {
    const share = largest === 0 ? 0 : Math.trunc((scoreMax * (scores[at] ?? 0)) / largest)
    scores[at] = isReversed ? scoreMax - share : share
  }
  return scores
}
