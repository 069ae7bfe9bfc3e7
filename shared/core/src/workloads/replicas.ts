import { type ObjectMeta, printTime, toInstant } from '../meta/index.ts'
import { matchesLabels } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'
import { claim, isControlled } from './claim.ts'
import { availableFromMs, isActivePod, isReadyPod, isTerminatingPod, type Pod } from './pods.ts'
import { inVictimOrder } from './victims.ts'

/** Maximum number of creations or deletions per pass. */
const burstMax = 500

/** A ReplicaSet or ReplicationController, and the related Pods. */
export interface ReplicasObserved {
  readonly owner: Pick<ObjectMeta, 'uid' | 'deletionTimestamp' | 'generation'>
  readonly selector: readonly LabelRequirement[]
  readonly replicas: number
  readonly minReadySeconds: number
  readonly templateLabels: Readonly<Record<string, string>>
  readonly conditions: readonly ReplicaCondition[]
  /** Pods that the owner controls, and Pods of the namespace without a controller. */
  readonly pods: readonly Pod[]
  /** Pods of all ReplicaSets with the same controller. If empty, nodes are ranked equally. */
  related(): readonly Pod[]
  /** The annotation with a Pod's deletion cost. */
  readonly costAnnotation: string
  /** True if creations or deletions of earlier passes are not visible yet. */
  readonly isPending: boolean
  /** True if the level has `status.terminatingReplicas`. */
  readonly hasTerminatingReplicas: boolean
}

/** A condition of the owner. */
export interface ReplicaCondition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | null | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** The next step of the owner. */
export type ReplicasPlan = ReturnType<typeof decideReplicas>

/** The status. Zero counts are absent, as in the API. */
interface ReplicasStatus {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly ReplicaCondition[]
}

const failureType = 'ReplicaFailure'

/**
 * The step towards the desired number of Pods: matching Pods without a controller are adopted, Pods that no longer
 * match are released, and then missing Pods are created or surplus Pods deleted, at most 500. For an owner that is
 * being deleted, only the status is updated.
 *
 *   replicas 3, Pods a (ready), b (failed), c (being deleted)   create 2     status: replicas 1, ready 1, terminating 1
 *   replicas 1, Pods a (ready), b (pending), c (no controller)  adopt c, delete 2: first the pending one
 */
export function decideReplicas(observed: ReplicasObserved, nowMs: number) {
  const { owner, pods, replicas, isPending } = observed
  const isDeleted = owner.deletionTimestamp != null
  const active = pods.filter(isActivePod)
  const { owned, adopted, released } = claim(active, observed)
  const counted = [...owned, ...adopted]
  const difference = counted.length - replicas
  const mayChange = !isPending && !isDeleted
  const surplus = mayChange ? Math.min(burstMax, Math.max(0, difference)) : 0
  const victims =
    surplus > 0 && surplus < counted.length ? inVictimOrder(counted, { ...observed, related: observed.related(), nowMs }) : counted
  return {
    adopted,
    released,
    createCount: mayChange ? Math.min(burstMax, Math.max(0, -difference)) : 0,
    deleted: victims.slice(0, surplus),
    /** Computes the status after the step; the argument is the error message that ended the step. */
    statusAfter: (failure: string | undefined) => statusOf(observed, { counted, nowMs, failure }),
    /** Time until the next Pod becomes available; undefined if none is pending. */
    waitMs: waitMs(counted, observed.minReadySeconds, nowMs),
  }
}

interface Outcome {
  readonly counted: readonly Pod[]
  readonly nowMs: number
  readonly failure: string | undefined
}

function statusOf(observed: ReplicasObserved, outcome: Outcome): ReplicasStatus {
  const { owner, selector, pods } = observed
  const { counted } = outcome
  const isTerminating = (pod: Pod) => isTerminatingPod(pod) && isControlled(pod, owner.uid) && matchesLabels(selector, pod.metadata.labels)
  const conditions = conditionsAfter(observed, outcome)
  const { fullyLabeledReplicas, readyReplicas, availableReplicas } = countReplicas(observed, outcome)
  const observedGeneration = owner.generation ?? 0
  return {
    replicas: counted.length,
    ...(fullyLabeledReplicas > 0 && { fullyLabeledReplicas }),
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(availableReplicas > 0 && { availableReplicas }),
    ...(observed.hasTerminatingReplicas && { terminatingReplicas: pods.filter(isTerminating).length }),
    ...(observedGeneration > 0 && { observedGeneration }),
    ...(conditions.length > 0 && { conditions }),
  }
}

/** One loop: thousands of Pods are not in the processor's cache. */
function countReplicas({ templateLabels, minReadySeconds }: ReplicasObserved, { counted, nowMs }: Outcome) {
  const labels = Object.entries(templateLabels)
  const counts = { fullyLabeledReplicas: 0, readyReplicas: 0, availableReplicas: 0 }
  for (const pod of counted) {
    if (labels.every(([name, value]) => pod.metadata.labels?.[name] === value)) counts.fullyLabeledReplicas++
    if (!isReadyPod(pod)) continue
    counts.readyReplicas++
    if ((availableFromMs(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= nowMs) counts.availableReplicas++
  }
  return counts
}

/** The first failure is kept until a step succeeds. */
function conditionsAfter({ conditions, replicas }: ReplicasObserved, { counted, nowMs, failure }: Outcome): readonly ReplicaCondition[] {
  if (failure === undefined) return conditions.filter(({ type }) => type !== failureType)
  if (conditions.some(({ type }) => type === failureType)) return conditions
  const reason = counted.length < replicas ? 'FailedCreate' : 'FailedDelete'
  const lastTransitionTime = printTime(toInstant(nowMs))
  return [...conditions, { type: failureType, status: 'True', lastTransitionTime, reason, message: failure }]
}

function waitMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  const times = pods.flatMap((pod) => availableFromMs(pod, minReadySeconds) ?? []).filter((fromMs) => fromMs > nowMs)
  return times.length === 0 ? undefined : Math.min(...times) - nowMs
}
