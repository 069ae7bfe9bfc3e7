import type { BuiltIn } from '../schema/built-in.ts'

/** A Pod as controllers see it. */
export type Pod = BuiltIn<'core/v1.Pod'>

/** A Node as controllers see it. */
export type Node = BuiltIn<'core/v1.Node'>

/** True if the Pod is neither finished nor being deleted. */
export function isActivePod(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp == null && !isFinishedPod(pod)
}

/** True if the Pod is being deleted and has not finished. */
export function isTerminatingPod(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp != null && !isFinishedPod(pod)
}

/** True if the Pod has succeeded or failed. */
export function isFinishedPod({ status }: Pod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed'
}

export function isReadyPod(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True'
}

/** The time since which the Pod is ready, in milliseconds since 1970; undefined if it is not ready or its condition has no time. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = readyCondition(pod)
  const sinceMs = Date.parse(condition?.lastTransitionTime ?? '')
  return condition?.status === 'True' && !Number.isNaN(sinceMs) ? sinceMs : undefined
}

/**
 * The time from which the Pod is available, in milliseconds since 1970. Undefined if it is not ready or its condition has no time.
 *
 *   ready since 10:00:00, minReadySeconds 30    10:00:30
 *   ready since 10:00:00, minReadySeconds 0     at once: −Infinity
 */
export function availableFromMs(pod: Pod, minReadySeconds: number): number | undefined {
  if (minReadySeconds === 0) return isReadyPod(pod) ? Number.NEGATIVE_INFINITY : undefined
  const sinceMs = readySinceMs(pod)
  return sinceMs === undefined ? undefined : sinceMs + minReadySeconds * 1000
}

function readyCondition({ status }: Pod) {
  return status.conditions?.find(({ type }) => type === 'Ready')
}

/** An Event about a workload. */
export interface WorkloadEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}
