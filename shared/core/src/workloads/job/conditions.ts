import { printTime, toInstant } from '../../meta/time.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Pod } from '../pods.ts'
import { countIndexes, type Indexes } from './indexes.ts'
import { isFailedPod, type Job } from './pods.ts'
import { matchFailurePolicy, matchSuccessPolicy } from './policies.ts'

export type JobCondition = BuiltIn<'batch/v1.JobCondition'>

/** Counts that determine the end of a Job. */
export interface Progress {
  readonly job: Job
  readonly pods: readonly Pod[]
  readonly failedCount: number
  /** Milliseconds since 1970; undefined before the Job has started. */
  readonly startMs: number | undefined
  /** Undefined for a Job that is not indexed. */
  readonly succeeded: Indexes | undefined
  /** Undefined if failures are not counted by index. */
  readonly failed: Indexes | undefined
  readonly level: number
  readonly nowMs: number
}

/** The first level at which another condition precedes the end of a Job. */
const targetsSince = 31

export function aCondition(type: string, cause: { readonly reason: string; readonly message: string }, nowMs: number): JobCondition {
  const now = printTime(toInstant(nowMs))
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, ...cause }
}

export function trueCondition(conditions: readonly JobCondition[] | undefined, type: string): JobCondition | undefined {
  return conditions?.find((condition) => condition.type === type && condition.status === 'True')
}

/** The condition of a Job with all completions. */
export function completedCondition({ level, nowMs }: Pick<Progress, 'level' | 'nowMs'>): JobCondition {
  if (level < targetsSince) return aCondition('Complete', { reason: '', message: '' }, nowMs)
  return aCondition('SuccessCriteriaMet', { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }, nowMs)
}

/**
 * The condition that ends a Job before its completions: the decision of an earlier pass, otherwise a failure by policy, limit or deadline, by
 * indexes, or a success by policy. From 1.31 on, FailureTarget and SuccessCriteriaMet precede Failed and Complete. Undefined if the Job continues.
 */
export function endingCondition(progress: Progress): JobCondition | undefined {
  const { job, pods, nowMs } = progress
  const decided = trueCondition(job.status.conditions, 'SuccessCriteriaMet')
  if (decided !== undefined) return decided
  const target = trueCondition(job.status.conditions, 'FailureTarget')
  if (target !== undefined) return failedAfter(target, nowMs)
  const message = failJobMessage(job, pods)
  if (message !== undefined) return aCondition('FailureTarget', { reason: 'PodFailurePolicy', message }, nowMs)
  const failure = findFailure(progress)
  if (failure !== undefined) return aCondition(progress.level < targetsSince ? 'Failed' : 'FailureTarget', failure, nowMs)
  const { succeeded } = progress
  const rule = succeeded && matchSuccessPolicy(job.spec.successPolicy, { completions: job.spec.completions ?? 0, succeeded })
  return rule === undefined ? undefined : aCondition('SuccessCriteriaMet', { reason: 'SuccessPolicy', message: rule }, nowMs)
}

/** The final condition of a Job, which follows FailureTarget. */
export function failedAfter({ reason = '', message = '' }: JobCondition, nowMs: number): JobCondition {
  return aCondition('Failed', { reason, message }, nowMs)
}

function failJobMessage(job: Job, pods: readonly Pod[]): string | undefined {
  const policy = job.spec.podFailurePolicy
  if (policy == null) return undefined
  for (const pod of pods) {
    const message = isFailedPod(pod, job) ? matchFailurePolicy(policy, pod).message : undefined
    if (message !== undefined) return message
  }
  return undefined
}

function findFailure({ job, pods, failedCount, startMs, succeeded, failed, nowMs }: Progress) {
  const { backoffLimit = 6, activeDeadlineSeconds, suspend, maxFailedIndexes, completions = 0 } = job.spec
  if (failedCount > backoffLimit || isOverRestarted(job, pods)) {
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  }
  if (activeDeadlineSeconds != null && suspend !== true && startMs !== undefined && nowMs - startMs >= activeDeadlineSeconds * 1000) {
    return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
  }
  if (failed === undefined || succeeded === undefined) return undefined
  const failedTotal = countIndexes(failed)
  if (maxFailedIndexes != null && failedTotal > maxFailedIndexes) {
    return { reason: 'MaxFailedIndexesExceeded', message: 'Job has exceeded the specified maximal number of failed indexes' }
  }
  const isOver = failedTotal > 0 && failedTotal + countIndexes(succeeded) >= completions
  return isOver ? { reason: 'FailedIndexes', message: 'Job has failed indexes' } : undefined
}

/** Restarts of containers in running Pods count as failures if the restart policy is OnFailure. */
function isOverRestarted({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec.template?.spec?.restartPolicy !== 'OnFailure') return false
  const { backoffLimit = 6 } = spec
  const statuses = pods
    .filter(({ status }) => status.phase === 'Running' || status.phase === 'Pending')
    .flatMap(({ status }) => [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
  const restarts = statuses.reduce((count, { restartCount }) => count + (restartCount ?? 0), 0)
  return restarts >= Math.max(1, backoffLimit)
}
