import type { BuiltIn } from '../../schema/built-in.ts'
import { boundsOf, type RollWish } from './bounds.ts'
import { type Conditions, type DeploymentCondition, progress, progressing, unlimited } from './conditions.ts'

export type ReplicaSet = BuiltIn<'apps/v1.ReplicaSet'>
export type Deployment = BuiltIn<'apps/v1.Deployment'>

/** The status of a Deployment. Zero counts are absent, as in the API. */
export interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly unavailableReplicas?: number
  readonly terminatingReplicas?: number
  readonly collisionCount?: number
  readonly conditions?: readonly DeploymentCondition[]
}

/** The Deployment and ReplicaSets from which a status is computed. */
export interface StatusSources {
  readonly deployment: Deployment
  readonly wish: RollWish
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
  /** True if the level has `terminatingReplicas`. */
  readonly hasTerminatingReplicas: boolean
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas'
type Counts = Omit<DeploymentStatus, 'conditions'>

/** The counts, and the condition Available (WL-DEP-41 to WL-DEP-43). */
export function countsOf(sources: StatusSources, conditions: Conditions): Counts {
  const { deployment, wish, newSet, oldSets, hasTerminatingReplicas } = sources
  const all = newSet === undefined ? oldSets : [...oldSets, newSet]
  const sum = (count: Count) => all.reduce((total, { status }) => total + (status[count] ?? 0), 0)
  const availableReplicas = sum('availableReplicas')
  const wanted = all.reduce((total, { spec }) => total + (spec.replicas ?? 1), 0)
  const isAvailable = availableReplicas >= boundsOf(wish).minAvailable
  conditions.set({
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
  })
  const { collisionCount } = deployment.status
  return {
    ...nonZero('observedGeneration', deployment.metadata.generation ?? 0),
    ...nonZero('replicas', sum('replicas')),
    ...nonZero('updatedReplicas', newSet?.status.replicas ?? 0),
    ...nonZero('readyReplicas', sum('readyReplicas')),
    ...nonZero('availableReplicas', availableReplicas),
    ...nonZero('unavailableReplicas', Math.max(0, wanted - availableReplicas)),
    ...(hasTerminatingReplicas && terminating(all)),
    ...(collisionCount != null && { collisionCount }),
  }
}

function nonZero(name: keyof Counts, value: number): Counts {
  return value === 0 ? {} : { [name]: value }
}

/** Undefined if a ReplicaSet that its controller has observed does not report its terminating Pods. */
function terminating(sets: readonly ReplicaSet[]): Counts {
  const seen = sets.filter(({ status }) => (status.observedGeneration ?? 0) > 0 || status.terminatingReplicas != null)
  if (seen.some(({ status }) => status.terminatingReplicas == null)) return {}
  return { terminatingReplicas: seen.reduce((total, { status }) => total + (status.terminatingReplicas ?? 0), 0) }
}

/** True if all desired Pods exist and are new and available, and there are no others. */
export function isComplete({ metadata, spec }: Deployment, status: Counts): boolean {
  const replicas = spec.replicas ?? 1
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas]
  return counts.every((count = 0) => count === replicas) && (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
}

/** True if more Pods are new, ready or available than before, or fewer are old. */
export function isProgressing(before: Counts, now: Counts): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: Counts) => replicas - updatedReplicas
  const grew = (count: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') => (now[count] ?? 0) > (before[count] ?? 0)
  return old(now) < old(before) || grew('updatedReplicas') || grew('readyReplicas') || grew('availableReplicas')
}

/** True if the deadline since the last progress has passed, now or earlier. */
export function isTimedOut(condition: DeploymentCondition | undefined, deadlineSeconds: number, nowMs: number): boolean {
  if (condition === undefined || condition.reason === progress.complete('').reason) return false
  return condition.reason === progress.timedOut('').reason || deadlineMs(condition, deadlineSeconds) < nowMs
}

function deadlineMs({ lastUpdateTime }: DeploymentCondition, deadlineSeconds: number): number {
  return Date.parse(lastUpdateTime ?? '') + deadlineSeconds * 1000
}

/** The progress deadline in seconds; undefined for no deadline. */
export function deadlineOf({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds } = spec
  return progressDeadlineSeconds == null || progressDeadlineSeconds === unlimited ? undefined : progressDeadlineSeconds
}

/** The conditions Progressing and ReplicaFailure of a rollout (WL-DEP-44 to WL-DEP-50). `before` is the stored condition Progressing. */
export function judgeProgress(sources: StatusSources, counts: Counts, conditions: Conditions, nowMs: number): void {
  const { deployment, newSet, oldSets } = sources
  const deadline = deadlineOf(deployment)
  const before = conditions.find(progressing)
  const isOver = before?.reason === progress.complete('').reason && (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0)
  const subject = newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`
  if (deadline === undefined) conditions.remove(progressing)
  else if (!isOver) {
    if (isComplete(deployment, counts)) conditions.set(progress.complete(subject))
    else if (isProgressing(deployment.status, counts)) conditions.renew(progress.going(subject))
    else if (isTimedOut(before, deadline, nowMs)) conditions.set(progress.timedOut(subject))
  }
  const failures = [...(newSet === undefined ? [] : [newSet]), ...oldSets].flatMap(({ status }) => status.conditions ?? [])
  const failure = failures.find(({ type }) => type === 'ReplicaFailure')
  if (failure === undefined) conditions.remove('ReplicaFailure')
  else conditions.take(failure)
}

/** Time until a rollout without progress is checked again; undefined if it is complete or timed out. */
export function waitOf(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const deadline = deadlineOf(deployment)
  const condition = status.conditions?.find(({ type }) => type === progressing)
  if (deadline === undefined || condition === undefined) return undefined
  if (isComplete(deployment, status) || condition.reason === progress.timedOut('').reason) return undefined
  return Math.max(0, deadlineMs(condition, deadline) - nowMs) + 1000
}
