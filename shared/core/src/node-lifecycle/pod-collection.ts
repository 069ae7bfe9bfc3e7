import { isFinishedPod, type Node, type Pod } from '../workloads/pods.ts'
import { type DisruptionOptions, disruptedConditions } from './disruption.ts'

/** The first level that deletes evicted Pods before other finished Pods. */
const evictedFirstSince = 27

/** Time for which a node must be missing before its Pods are deleted. */
const quarantineMs = 40_000

export interface CollectionOptions {
  /** Maximum number of finished Pods; 0 for no limit. */
  readonly terminatedMax: number
  readonly level: number
  /** The key of the taint of nodes that are out of service. Undefined to ignore such nodes. */
  readonly outOfServiceTaint: string | undefined
}

/**
 * Finds Pods that no kubelet will terminate (WL-NODE-07 to WL-NODE-09): finished ones beyond the threshold, deleted ones on a node that is
 * out of service, and deleted ones that were never bound.
 *
 *   finished p1 (older), p2, at most 1 kept     p1 is terminated
 *   p3 under deletion, not bound                p3 is unscheduled
 */
export function collectPods(
  pods: Iterable<Pod>,
  nodeOf: (name: string) => Node | undefined,
  { terminatedMax, level, outOfServiceTaint }: CollectionOptions,
) {
  const [finished, outOfService, unscheduled]: [Pod[], Pod[], Pod[]] = [[], [], []]
  for (const pod of pods) {
    if (isFinishedPod(pod)) finished.push(pod)
    if (pod.metadata.deletionTimestamp == null) continue
    const node = nodeOf(pod.spec.nodeName ?? '')
    if ((pod.spec.nodeName ?? '') === '') unscheduled.push(pod)
    else if (outOfServiceTaint !== undefined && node !== undefined && isOutOfService(node, outOfServiceTaint)) outOfService.push(pod)
  }
  const surplus = terminatedMax > 0 ? Math.max(0, finished.length - terminatedMax) : 0
  const terminated = surplus === 0 ? [] : inDeletionOrder(finished, level).slice(0, surplus)
  return { terminated, outOfService: inDeletionOrder(outOfService, level), unscheduled }
}

/** True if the node has the taint and is not ready. */
export function isOutOfService({ spec: { taints = [] }, status: { conditions = [] } }: Node, taint: string): boolean {
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  return !isReady && taints.some(({ key }) => key === taint)
}

/** Sorts evicted Pods first, then by age, then by name. */
function inDeletionOrder(pods: readonly Pod[], level: number): readonly Pod[] {
  const isEvicted = ({ status }: Pod) => level >= evictedFirstSince && status.phase === 'Failed' && status.reason === 'Evicted'
  const keyOf = ({ metadata: { creationTimestamp, name = '' } }: Pod) => `${creationTimestamp ?? ''} ${name}`
  return pods.toSorted((left, right) => {
    if (isEvicted(left) !== isEvicted(right)) return isEvicted(left) ? -1 : 1
    return keyOf(left) < keyOf(right) ? -1 : 1
  })
}

/** Missing nodes, with the end of their quarantine in milliseconds. */
export type Quarantine = ReadonlyMap<string, number>

/** Adds missing nodes. A node stays in quarantine until its time is over, even if it returns earlier. */
export function stepQuarantine(before: Quarantine, missing: Iterable<string>, nowMs: number) {
  const all = new Map(before)
  for (const name of missing) if (!all.has(name)) all.set(name, nowMs + quarantineMs)
  const ended = [...all].filter(([, untilMs]) => untilMs <= nowMs).map(([name]) => name)
  for (const name of ended) all.delete(name)
  return {
    quarantine: all,
    /** Nodes whose quarantine has ended, even if they have returned. */
    ended,
  }
}

/** The status patch (strategic merge) that fails an unfinished Pod before its deletion. Undefined if it has finished. */
export function failedStatus(pod: Pod, isOrphan: boolean, options: DisruptionOptions): object | undefined {
  if (isFinishedPod(pod)) return undefined
  const { uid, generation } = pod.metadata
  const disruption = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }
  const conditions = isOrphan ? disruptedConditions(pod, disruption, options) : undefined
  return {
    metadata: { uid },
    status: {
      phase: 'Failed',
      ...(options.tracksGenerations && generation !== undefined && { observedGeneration: generation }),
      ...conditions,
    },
  }
}
