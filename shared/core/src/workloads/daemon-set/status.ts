import type { BuiltIn } from '../../schema/built-in.ts'
import { isReadyPod } from '../pods.ts'
import { isUpdated } from './names.ts'
import { type DaemonSetObserved, isAvailable, type NodePods } from './node-pods.ts'

/** Counts of nodes. Counts of available, unavailable and updated nodes are absent if zero. */
export type DaemonSetStatus = BuiltIn<'apps/v1.DaemonSetStatus'>

interface StatusOptions {
  /** The generation that the pass observed. */
  readonly observedGeneration: number | undefined
  readonly nowMs: number
}

/** Computes the status. If a node has several Pods, the first counts: a bound one, the oldest (WL-DS-27 to WL-DS-29). */
export function statusOf(
  { set, hash }: Pick<DaemonSetObserved, 'set' | 'hash'>,
  nodes: readonly NodePods[],
  { observedGeneration, nowMs }: StatusOptions,
): DaemonSetStatus {
  const desired = nodes.filter(({ shouldRun }) => shouldRun)
  const first = desired.flatMap(({ pods }) => pods.slice(0, 1))
  const numberAvailable = first.filter((pod) => isReadyPod(pod) && isAvailable(pod, set, nowMs)).length
  const numberUnavailable = desired.length - numberAvailable
  const updatedNumberScheduled = first.filter(({ metadata }) => isUpdated(metadata.labels, set, hash)).length
  const { collisionCount, conditions } = set.status
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: nodes.filter(({ exists, shouldRun, pods }) => exists && !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: desired.length,
    numberReady: first.filter(isReadyPod).length,
    ...(observedGeneration && { observedGeneration }),
    ...(updatedNumberScheduled > 0 && { updatedNumberScheduled }),
    ...(numberAvailable > 0 && { numberAvailable }),
    ...(numberUnavailable > 0 && { numberUnavailable }),
    ...(collisionCount != null && { collisionCount }),
    ...(conditions && { conditions }),
  }
}
