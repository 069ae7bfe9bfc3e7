import { getOrMake } from '@orch/cel/memo'
import { availableFromMs, isFinishedPod, type Pod } from '../pods.ts'
import type { FailureBackoff } from './backoff.ts'
import { type DaemonSet, isUpdated } from './names.ts'
import { type Fit, type FitOptions, fitOf, type NodeView, nodeOf } from './placement.ts'

/** Below this level, a finished Pod that is being deleted keeps its place. */
const finishedIgnoredSince = 26

/** A DaemonSet and its related objects. */
export interface DaemonSetObserved {
  readonly set: DaemonSet
  readonly nodes: Iterable<NodeView>
  /** Pods of the set, including finished and terminating ones. */
  readonly pods: readonly Pod[]
  /** The hash of the current revision. */
  readonly hash: string
  readonly fit: FitOptions
  readonly backoff: FailureBackoff
  /** The minor version of the emulated release, such as 37. */
  readonly level: number
}

/** A node with the set's Pods on it or for it. */
export interface NodePods extends Fit {
  readonly name: string
  /** False for a missing node that still has Pods. */
  readonly exists: boolean
  /** Bound Pods first, then by age, oldest first. */
  readonly pods: readonly Pod[]
}

/** All nodes, and missing nodes that still have Pods. Finished Pods that are being deleted are ignored. */
export function nodePodsOf({ set, nodes, pods, fit, level }: DaemonSetObserved): readonly NodePods[] {
  const byNode = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    const isIgnored = level >= finishedIgnoredSince && isFinishedPod(pod) && pod.metadata.deletionTimestamp != null
    if (node === undefined || isIgnored) continue
    getOrMake(byNode, node, () => []).push(pod)
  }
  const all: NodePods[] = []
  for (const node of nodes) {
    const { name = '' } = node.metadata
    all.push({ name, exists: true, pods: (byNode.get(name) ?? []).sort(byAge), ...fitOf(set.spec.template, node, fit) })
    byNode.delete(name)
  }
  for (const [name, left] of byNode) all.push({ name, exists: false, pods: left.sort(byAge), shouldRun: false, shouldContinue: false })
  return all
}

function byAge(left: Pod, right: Pod): number {
  const rank = ({ spec: { nodeName = '' }, metadata: { creationTimestamp, name } }: Pod) =>
    `${nodeName === '' ? 1 : 0} ${creationTimestamp ?? ''} ${name}`
  return rank(left) < rank(right) ? -1 : 1
}

/** Pods of a node that are not being deleted: at most one of the template and one of an older template. Undefined if there are more. */
export interface Pair {
  readonly fresh: Pod | undefined
  readonly old: Pod | undefined
}

export function pairOf(pods: readonly Pod[], { set, hash }: Pick<DaemonSetObserved, 'set' | 'hash'>): Pair | undefined {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp == null)
  const fresh = staying.filter(({ metadata }) => isUpdated(metadata.labels, set, hash))
  const old = staying.filter((pod) => !fresh.includes(pod))
  return fresh.length > 1 || old.length > 1 ? undefined : { fresh: fresh[0], old: old[0] }
}

export function isAvailable(pod: Pod, { spec }: DaemonSet, nowMs: number): boolean {
  return (availableFromMs(pod, spec.minReadySeconds ?? 0) ?? Number.POSITIVE_INFINITY) <= nowMs
}
