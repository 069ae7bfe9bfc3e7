import { printTime, toInstant, withCondition } from '../../meta/index.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { availableFromMs, isReadyPod, type Pod } from '../pods.ts'
import { revisionLabel, type StatefulSet } from './names.ts'

/** The status. Zero counts are absent, except `replicas` and `availableReplicas`. */
export type StatefulSetStatus = BuiltIn<'apps/v1.StatefulSetStatus'>

export interface StatusSources {
  readonly set: StatefulSet
  readonly pods: readonly Pod[]
  readonly current: { readonly name: string }
  readonly update: { readonly name: string }
  readonly collisionCount: number
  readonly level: number
  /** Pods that the pass has deleted for the update, which no longer count for the current revision. */
  readonly outdatedCount: number
}

/** The status of a StatefulSet. When all Pods are ready and have the update revision, it becomes the current one (WL-STS-27). */
export function statusOf(sources: StatusSources, nowMs: number): StatefulSetStatus {
  const { set, pods, current, update, collisionCount, level, outdatedCount } = sources
  const { replicas: wanted = 1, minReadySeconds, updateStrategy } = set.spec
  const counts = countMembers(pods, { minReadySeconds: minReadySeconds ?? 0, current: current.name, update: update.name, nowMs })
  const mayComplete = level >= 37 || updateStrategy?.type === 'RollingUpdate'
  const isComplete = mayComplete && [counts.replicas, counts.readyReplicas, counts.updatedReplicas].every((count) => count === wanted)
  const { readyReplicas, updatedReplicas } = counts
  const currentReplicas = isComplete ? updatedReplicas : Math.max(0, counts.currentReplicas - outdatedCount)
  const { generation = 0 } = set.metadata
  const conditions = conditionsAfter(sources, isComplete, nowMs)
  return {
    ...(generation > 0 && { observedGeneration: generation }),
    replicas: counts.replicas,
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(currentReplicas > 0 && { currentReplicas }),
    ...(updatedReplicas > 0 && { updatedReplicas }),
    currentRevision: isComplete ? update.name : current.name,
    updateRevision: update.name,
    collisionCount,
    ...(conditions && { conditions }),
    availableReplicas: counts.availableReplicas,
  }
}

/** The Pods that Recreate deletes, terminating ones included. */
export function recreatedPods({ set, pods, update }: Pick<StatusSources, 'set' | 'pods' | 'update'>): readonly Pod[] {
  return set.spec.updateStrategy?.type === 'Recreate' ? pods.filter(({ metadata }) => metadata.labels?.[revisionLabel] !== update.name) : []
}

/** With Recreate, the condition Progressing reports the update. */
function conditionsAfter(sources: StatusSources, isComplete: boolean, nowMs: number): StatefulSetStatus['conditions'] {
  const { set, current, update } = sources
  const { conditions } = set.status
  if (set.spec.updateStrategy?.type !== 'Recreate' || set.metadata.deletionTimestamp != null) return conditions
  const isKnown = conditions?.some(({ type }) => type === 'Progressing') === true
  const isDeleting = recreatedPods(sources).length > 0
  if (!isDeleting && current.name === update.name && !(isComplete && isKnown)) return conditions
  const running = isDeleting ? 'Deleting old revision pods' : 'Waiting for new-revision pods to be created'
  const message = isComplete ? 'All pods recreated successfully' : running
  const reason = isComplete ? 'RecreateCompleted' : 'RecreateInProgress'
  const lastTransitionTime = printTime(toInstant(nowMs))
  return withCondition(conditions, { type: 'Progressing', status: isComplete ? 'False' : 'True', reason, message, lastTransitionTime })
}

interface CountOptions {
  readonly minReadySeconds: number
  /** Name of the current revision. */
  readonly current: string
  /** Name of the update revision. */
  readonly update: string
  readonly nowMs: number
}

/** Terminating Pods count as replicas, but not for a revision (WL-STS-46). */
export function countMembers(pods: readonly Pod[], { minReadySeconds, current, update, nowMs }: CountOptions) {
  const ready = pods.filter((pod) => pod.status.phase === 'Running' && isReadyPod(pod))
  const revisions = pods
    .filter(({ metadata }) => metadata.deletionTimestamp == null)
    .map(({ metadata }) => metadata.labels?.[revisionLabel])
  const countOf = (name: string) => revisions.filter((revision) => revision === name).length
  return {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => (availableFromMs(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= nowMs).length,
    currentReplicas: countOf(current),
    updatedReplicas: countOf(update),
  }
}
