import { printTime, toInstant, withCondition } from '../../meta/index.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { isReadyPod, type Pod } from '../pods.ts'
import { printSelector } from '../print-selector.ts'

export type Budget = BuiltIn<'policy/v1.PodDisruptionBudget'>
type Condition = BuiltIn<'meta/v1.Condition'>

/** Time after which an evicted Pod that was not deleted counts again. */
const deletionMs = 120_000

/** The expected replicas of the controllers of a budget's Pods. */
export interface ExpectedScale {
  readonly replicas: number
  /** True if some Pods have no controller. */
  readonly hasUnmanaged: boolean
}

export interface BudgetObserved {
  readonly budget: Budget
  /** Matching Pods, including finished and terminating ones. */
  readonly pods: readonly Pod[]
  readonly scale: ExpectedScale
}

/** True if the expected number of Pods is the sum of their controllers' replicas, instead of the number of Pods. */
export function needsScale({ spec: { minAvailable, maxUnavailable } }: Budget): boolean {
  return maxUnavailable != null || typeof minAvailable === 'string'
}

/**
 * The number of Pods that must stay healthy. Percentages are rounded up.
 *
 *   minAvailable 50% of 5 → 3        maxUnavailable 50% of 5 → 5 − 3 = 2
 */
export function desiredHealthy({ minAvailable, maxUnavailable }: Budget['spec'], expectedPods: number): number {
  if (maxUnavailable != null) return Math.max(0, expectedPods - partOf(maxUnavailable, expectedPods))
  return minAvailable == null ? 0 : partOf(minAvailable, expectedPods)
}

function partOf(value: number | string, total: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100)
}

/**
 * The status of a budget. The allowed disruptions are the healthy Pods above the desired number, or none if no Pods are expected.
 *
 *   minAvailable 2, three Pods ready                      1 disruption allowed
 *   the same, one of them evicted and not deleted yet     0, since it does not count as healthy
 */
export function decideBudget({ budget, pods, scale }: BudgetObserved, nowMs: number) {
  const { status, metadata } = budget
  const isSummed = needsScale(budget)
  const expectedPods = isSummed ? scale.replicas : budget.spec.minAvailable == null ? 0 : pods.length
  const desired = desiredHealthy(budget.spec, expectedPods)
  const { kept, notDeleted, waitMs } = disruptedPods(budget, pods, nowMs)
  const isHealthy = (pod: Pod) => pod.metadata.deletionTimestamp == null && !isDisrupted(kept, pod, nowMs) && isReadyPod(pod)
  const currentHealthy = pods.filter(isHealthy).length
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desired) : 0
  const observedGeneration = metadata.generation ?? 0
  const numbers = { currentHealthy, desiredHealthy: desired, expectedPods, disruptionsAllowed, observedGeneration }
  const cause = disruptionsAllowed > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' }
  const conditions = withCause(status, { ...cause, message: '', observedGeneration }, nowMs)
  const stored = status.conditions?.find(({ type }) => type === conditionType)
  const isStored =
    Object.entries(numbers).every(([name, value]) => (Object.entries(status).find(([field]) => field === name)?.[1] ?? 0) === value) &&
    Object.keys(kept).join() === Object.keys(status.disruptedPods ?? {}).join() &&
    stored?.status === cause.status &&
    stored.observedGeneration === observedGeneration
  return {
    status: { ...numbers, ...(Object.keys(kept).length > 0 && { disruptedPods: kept }), conditions },
    /** False if the stored status is equal. */
    isDue: !isStored,
    hasUnmanaged: isSummed && scale.hasUnmanaged,
    /** Evicted Pods that were not deleted in time. */
    notDeleted,
    /** Milliseconds until an evicted Pod counts again; undefined if none is pending. */
    waitMs,
  }
}

/** The status after a failed pass, which allows no disruptions. */
export function failedStatus({ status }: Budget, message: string, nowMs: number): object {
  const { observedGeneration = 0 } = status
  const cause = { status: 'False', reason: 'SyncFailed', message, observedGeneration }
  return { ...status, disruptionsAllowed: 0, conditions: withCause(status, cause, nowMs) }
}

const conditionType = 'DisruptionAllowed'

type Cause = Pick<Condition, 'status' | 'reason' | 'message' | 'observedGeneration'>

function withCause({ conditions }: Budget['status'], cause: Cause, nowMs: number): readonly Condition[] {
  return withCondition(conditions, { type: conditionType, ...cause, lastTransitionTime: printTime(toInstant(nowMs)) })
}

/** Evicted Pods whose deletion is pending. */
function disruptedPods({ status }: Budget, pods: readonly Pod[], nowMs: number) {
  const kept: Record<string, string | null> = {}
  const notDeleted: Pod[] = []
  const waits: number[] = []
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const time = status.disruptedPods?.[name]
    if (time === undefined || deletionTimestamp != null) continue
    const leftMs = Date.parse(time ?? '') + deletionMs - nowMs
    if (leftMs < 0) notDeleted.push(pod)
    else {
      kept[name] = time
      waits.push(leftMs)
    }
  }
  return { kept, notDeleted, waitMs: waits.length === 0 ? undefined : Math.min(...waits) }
}

function isDisrupted(kept: Readonly<Record<string, string | null>>, { metadata: { name = '' } }: Pod, nowMs: number): boolean {
  return Date.parse(kept[name] ?? '') + deletionMs > nowMs
}

/** The message about Pods without a controller. */
export function unmanagedMessage(selector: Budget['spec']['selector']): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${printSelector(selector)}) were found to be unmanaged. As a result, the status of ` +
    'the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" ' +
    'field of the PDB to an integer value.'
  )
}

/** Milliseconds until the DisruptionTarget condition of a Pod that was not deleted is reset; undefined if it has no such condition. */
export function staleDisruptionMs({ metadata, status }: Pod, nowMs: number): number | undefined {
  if (metadata.deletionTimestamp != null || status.phase === 'Succeeded' || status.phase === 'Failed') return undefined
  const condition = status.conditions?.find(({ type }) => type === 'DisruptionTarget')
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined
  return Math.max(0, Date.parse(condition.lastTransitionTime ?? '') + deletionMs - nowMs)
}
