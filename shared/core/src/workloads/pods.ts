import type { BuiltIn } from '../schema/built-in.ts'

/** A Pod as controllers see it. */
export type Pod = BuiltIn<'core/v1.Pod'>

/** A Node as controllers see it. */
export type Node = BuiltIn<'core/v1.Node'>

/** Neither finished nor being deleted. */
export function isActivePod(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp == null && !isFinishedPod(pod)
}

/** Being deleted and not finished. */
export function isTerminatingPod(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp != null && !isFinishedPod(pod)
}

/** Succeeded or failed. */
export function isFinishedPod({ status }: Pod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed'
}

export function isReadyPod(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True'
}

/** Time at which the Pod became ready, in milliseconds since 1970. Undefined: it is not ready, or its condition has no time. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = readyCondition(pod)
  const sinceMs = Date.parse(condition?.lastTransitionTime ?? '')
  return condition?.status === 'True' && !Number.isNaN(sinceMs) ? sinceMs : undefined
}

/**
 * The time at which the Pod counts as available, in milliseconds since 1970. Undefined: it is not ready, or its condition has no time.
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
