import { printTime, toInstant } from '../../meta/time.ts'
import { isActivePod, isReadyPod, isTerminatingPod, type Pod } from '../pods.ts'
import { type BackoffRecord, backoffAfter, failureDelayMs } from './backoff.ts'
import { aCondition, completedCondition, endingCondition, failedAfter, type JobCondition, trueCondition } from './conditions.ts'
import { addIndexes, countIndexes, hasIndex, type Indexes, parseIndexes, printIndexes } from './indexes.ts'
import { decideStep, type JobStep, replacedPods } from './manage.ts'
import { failuresBefore, hasFinalizer, indexOf, isFailedPod, isIndexed, type Job, type JobNames } from './pods.ts'
import { matchFailurePolicy } from './policies.ts'

/** Minimum pause before a replacement. */
const pauseMsMin = 1000
/** Maximum number of uncounted uids in the status. */
const uncountedMax = 500

type StoredStatus = Job['status']

/** The status of a Job without zero fields. */
export type JobStatus = { -readonly [Field in keyof StoredStatus]?: StoredStatus[Field] | undefined }

/** A Job and its Pods. */
export interface JobObserved {
  readonly job: Job
  /** Pods that the Job controls. */
  readonly pods: readonly Pod[]
  /** True if creations or deletions of earlier passes are not visible yet. */
  readonly isPending: boolean
  /** Uids of Pods whose finalizer was removed by earlier passes. */
  readonly untracked: ReadonlySet<string>
  readonly backoff: BackoffRecord
  readonly names: JobNames
  readonly level: number
}

/** The next step of a Job, and the writes that count its Pods. */
export interface JobPlan {
  readonly step: JobStep
  /** True if the Job ends; the deleted Pods keep their finalizer until they are counted. */
  readonly isEnding: boolean
  /** The backoff record to keep after the status is written. */
  readonly backoff: BackoffRecord
  /** Milliseconds until a deadline, or until Pods may replace failed ones. */
  readonly waitMs: number | undefined
  /** Computes the writes after the step. */
  trackAfter(outcome: StepOutcome): Tracking
}

/** The successful requests of a step. */
interface StepOutcome {
  readonly createdCount: number
  readonly deleted: readonly Pod[]
}

/** The three writes: a status with the uids of finished Pods, then Pods without their finalizer, then a status with their count. */
export interface Tracking {
  readonly status: JobStatus
  /** False if the stored status is equal. */
  readonly isDue: boolean
  /** Pods whose finalizer is removed next. */
  readonly untracked: readonly Pod[]
  /** Set if the Job was suspended or resumed in this pass. */
  readonly turned: 'Suspended' | 'Resumed' | undefined
  /** Computes the status after the finalizers of some Pods were removed. */
  countAfter(removed: ReadonlySet<string>): Count
}

interface Count {
  readonly status: JobStatus
  readonly isDue: boolean
  /** The condition that ended the Job; undefined while it is active. */
  readonly ended: JobCondition | undefined
}

/**
 * The next step of a Job. Each Pod is counted once: its uid is added to the status, then its finalizer is removed, and then the count
 * is increased and the uid removed, so that a controller that crashes in between neither misses a Pod nor counts it twice.
 *
 *   completions 5, parallelism 2, one Pod succeeded, one runs     create 1     status: uncounted [uid], then succeeded 1
 *   backoffLimit 0, three Pods run, one has failed                delete 2     status: FailureTarget, Failed when they have ended
 */
export function decideJob(observed: JobObserved, nowMs: number): JobPlan {
  const { job, pods, isPending, level, names } = observed
  const counted = countPods(observed)
  const { activeDeadlineSeconds, suspend } = job.spec
  const startMs = job.status.startTime == null ? (suspend === true ? undefined : nowMs) : Date.parse(job.status.startTime)
  const progress = { job, pods, names, level, nowMs, startMs, ...counted }
  const ending = endingCondition(progress)
  const replaced = counted.failed && replacedPods(progress, (pod) => counted.isTracked(pod))
  const pass: Pass = { ...observed, ...counted, replaced, startMs, nowMs }
  if (ending !== undefined) {
    const trackAfter = ({ deleted }: StepOutcome) => {
      const isOver = deleted.length === counted.active.length && !isPending
      return track(pass, {
        activeCount: counted.active.length - deleted.length,
        deleted,
        finished: isOver ? ending : undefined,
        turned: undefined,
      })
    }
    return { step: { creations: [], deletions: counted.active }, isEnding: true, backoff: counted.backoff, waitMs: undefined, trackAfter }
  }
  const isManaged = !isPending && job.metadata.deletionTimestamp == null
  const step: JobStep = isManaged ? decideStep({ ...progress, replaced }) : { creations: [], deletions: [] }
  const deadlineMs =
    activeDeadlineSeconds == null || startMs === undefined || suspend === true ? undefined : startMs + activeDeadlineSeconds * 1000 - nowMs
  const retryMs = counted.backoff === observed.backoff ? 0 : failureDelayMs(counted.backoff, level)
  const pauseMs = step.waitMs === undefined ? undefined : Math.max(pauseMsMin, step.waitMs)
  const waits = [pauseMs, deadlineMs, retryMs || undefined].filter((wait) => wait !== undefined)
  const trackAfter = ({ createdCount, deleted }: StepOutcome) => {
    const activeCount = counted.active.length + createdCount - deleted.length
    const finished = isComplete(job, counted.succeededCount, activeCount) ? completedCondition({ level, nowMs }) : undefined
    return track(pass, { activeCount, deleted, finished, turned: finished === undefined && isManaged ? turnOf(job) : undefined })
  }
  return { step, isEnding: false, backoff: counted.backoff, waitMs: waits.length === 0 ? undefined : Math.min(...waits), trackAfter }
}

function isComplete({ spec: { completions } }: Job, succeededCount: number, activeCount: number): boolean {
  return activeCount === 0 && (completions == null ? succeededCount > 0 : succeededCount >= completions)
}

/** A Job that was never suspended has no condition Suspended. */
function turnOf({ spec, status }: Job): Tracking['turned'] {
  const condition = status.conditions?.find(({ type }) => type === 'Suspended')
  if (spec.suspend === true) return condition?.status === 'True' ? undefined : 'Suspended'
  return condition === undefined || condition.status === 'False' ? undefined : 'Resumed'
}

interface Counted {
  readonly active: readonly Pod[]
  readonly succeededCount: number
  readonly failedCount: number
  readonly backoff: BackoffRecord
  readonly stored: Indexes
  readonly succeeded: Indexes | undefined
  readonly failed: Indexes | undefined
  isTracked(pod: Pod): boolean
}

/** Pods with the finalizer are not counted yet, unless their uid is in the status. */
function countPods(observed: JobObserved): Counted {
  const { job, pods, names } = observed
  const { status, spec } = job
  const uncounted = { succeeded: status.uncountedTerminatedPods?.succeeded ?? [], failed: status.uncountedTerminatedPods?.failed ?? [] }
  const completions = spec.completions ?? 0
  const isTracked = (pod: Pod) => hasFinalizer(pod, names) && !observed.untracked.has(uidOf(pod))
  const isWithin = (pod: Pod) => !isIndexed(job) || (indexOf(pod, names) ?? completions) < completions
  const fresh = (uids: readonly string[]) => pods.filter((pod) => isTracked(pod) && !uids.includes(uidOf(pod)) && isWithin(pod))
  const newlySucceeded = fresh(uncounted.succeeded).filter((pod) => pod.status.phase === 'Succeeded')
  const newlyFailed = fresh(uncounted.failed).filter((pod) => isFailedPod(pod, job))
  const countedFailures = newlyFailed.filter((pod) => matchFailurePolicy(spec.podFailurePolicy, pod).isCounted)
  const stored = parseIndexes(status.completedIndexes ?? '', completions)
  const ofTracked = (isEnded: (pod: Pod) => boolean) =>
    pods.filter((pod) => hasFinalizer(pod, names) && isWithin(pod) && isEnded(pod)).flatMap((pod) => indexOf(pod, names) ?? [])
  const succeeded = isIndexed(job)
    ? addIndexes(
        stored,
        ofTracked((pod) => pod.status.phase === 'Succeeded'),
      )
    : undefined
  const isPerIndex = isIndexed(job) && spec.backoffLimitPerIndex != null
  const failedBefore = parseIndexes(status.failedIndexes ?? '', completions)
  return {
    active: pods.filter(isActivePod),
    succeededCount: succeeded ? countIndexes(succeeded) : (status.succeeded ?? 0) + newlySucceeded.length + uncounted.succeeded.length,
    failedCount: (status.failed ?? 0) + countedFailures.length + uncounted.failed.length,
    backoff: backoffAfter(observed.backoff, { succeeded: newlySucceeded, failed: newlyFailed, level: observed.level }),
    stored,
    succeeded,
    failed: isPerIndex
      ? addIndexes(
          failedBefore,
          ofTracked((pod) => isIndexFailed(job, pod, names)),
        )
      : undefined,
    isTracked,
  }
}

function isIndexFailed(job: Job, pod: Pod, names: JobNames): boolean {
  if (!isFailedPod(pod, job)) return false
  const { action, isCounted } = matchFailurePolicy(job.spec.podFailurePolicy, pod)
  return action === 'FailIndex' || (isCounted && failuresBefore(pod, names).counted >= (job.spec.backoffLimitPerIndex ?? 0))
}

interface Pass extends JobObserved, Counted {
  readonly replaced: ReadonlyMap<number, Pod> | undefined
  readonly startMs: number | undefined
  readonly nowMs: number
}

interface Turn {
  readonly activeCount: number
  readonly deleted: readonly Pod[]
  readonly finished: JobCondition | undefined
  readonly turned: Tracking['turned']
}

function track(pass: Pass, turn: Turn): Tracking {
  const { job, level, nowMs } = pass
  const { finished, turned } = turn
  const before = withCounts(job.status, pass, (pod) => pass.isTracked(pod))
  const ended = endedPods(pass, finished)
  const conditions = [...turnedConditions(job, turned, nowMs)]
  const isTarget =
    finished?.type === 'FailureTarget' ||
    (finished?.type === 'SuccessCriteriaMet' && trueCondition(conditions, 'SuccessCriteriaMet') === undefined)
  if (isTarget && finished !== undefined) conditions.push(finished)
  const terminatingCount = pass.pods.filter(isTerminatingPod).length + (level < 31 ? 0 : turn.deleted.length)
  const succeeded = pass.succeeded && addIndexes(pass.succeeded, ended.succeededIndexes)
  const status: JobStatus = {
    ...before.status,
    ...(succeeded && { succeeded: countIndexes(succeeded), completedIndexes: printIndexes(succeeded) }),
    ...(succeeded && { failedIndexes: pass.failed && printIndexes(pass.failed) }),
    conditions,
    startTime: startTimeAfter(pass, turned),
    active: turn.activeCount,
    ready: readyCount(pass, turn.deleted),
    ...(level >= 29 && { terminating: terminatingCount }),
    uncountedTerminatedPods: {
      succeeded: [...(before.status.uncountedTerminatedPods?.succeeded ?? []), ...ended.succeeded],
      failed: [...(before.status.uncountedTerminatedPods?.failed ?? []), ...ended.failed],
    },
  }
  const isDue = before.isChanged || isTarget || turned !== undefined || ended.isNews || differs(status, job.status)
  const last = finished && lastCondition(finished, nowMs)
  const countAfter = (removed: ReadonlySet<string>) => {
    const counted = withCounts(status, pass, (pod) => pass.isTracked(pod) && !removed.has(uidOf(pod)))
    const uncounted = counted.status.uncountedTerminatedPods
    const isWaiting = (uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0) > 0 || (level >= 31 && terminatingCount > 0)
    if (last === undefined || isWaiting || ended.isFull)
      return { status: printed(counted.status), isDue: counted.isChanged, ended: undefined }
    const completionTime = last.type === 'Complete' ? { completionTime: last.lastTransitionTime ?? undefined } : {}
    return { status: printed({ ...counted.status, conditions: [...conditions, last], ...completionTime }), isDue: true, ended: last }
  }
  return { status: printed(status), isDue, untracked: ended.pods, turned, countAfter }
}

function lastCondition(finished: JobCondition, nowMs: number): JobCondition {
  if (finished.type === 'FailureTarget') return failedAfter(finished, nowMs)
  const { reason = '', message = '' } = finished
  return finished.type === 'SuccessCriteriaMet' ? aCondition('Complete', { reason, message }, nowMs) : finished
}

function readyCount({ active, level }: Pass, deleted: readonly Pod[]): number {
  const readyDeleted = level < 31 ? 0 : deleted.filter(isReadyPod).length
  return active.filter(isReadyPod).length - readyDeleted
}

function startTimeAfter({ job, startMs, level, nowMs }: Pass, turned: Tracking['turned']) {
  if (turned === 'Resumed') return printTime(toInstant(nowMs))
  if (turned === 'Suspended' && level >= 36) return undefined
  return job.status.startTime ?? (startMs === undefined ? undefined : printTime(toInstant(startMs)))
}

function turnedConditions({ status: { conditions = [] } }: Job, turned: Tracking['turned'], nowMs: number): readonly JobCondition[] {
  if (turned === undefined) return conditions ?? []
  const cause = { reason: `Job${turned}`, message: `Job ${turned.toLowerCase()}` }
  const next = { ...aCondition('Suspended', cause, nowMs), status: turned === 'Suspended' ? 'True' : 'False' }
  const isKnown = conditions?.some(({ type }) => type === 'Suspended')
  return isKnown ? conditions.map((one) => (one.type === 'Suspended' ? next : one)) : [...conditions, next]
}

/** True if numbers that change without an event differ. */
function differs(status: JobStatus, stored: StoredStatus): boolean {
  return (
    (status.active ?? 0) !== (stored.active ?? 0) ||
    status.ready !== stored.ready ||
    status.terminating !== stored.terminating ||
    (status.completedIndexes ?? '') !== (stored.completedIndexes ?? '') ||
    status.failedIndexes !== stored.failedIndexes
  )
}

interface Ended {
  /** Pods whose finalizer is removed. */
  readonly pods: readonly Pod[]
  readonly succeeded: readonly string[]
  readonly failed: readonly string[]
  readonly succeededIndexes: readonly number[]
  readonly isNews: boolean
  /** True if more Pods have finished than one pass counts. */
  readonly isFull: boolean
}

/** Finished Pods that are not counted yet. If the Job has failed, running Pods count as failed. */
function endedPods(pass: Pass, finished: JobCondition | undefined): Ended {
  const { job, names } = pass
  const uncounted = job.status.uncountedTerminatedPods
  const pods: Pod[] = []
  const succeeded: string[] = []
  const failed: string[] = []
  const succeededIndexes: number[] = []
  const countStored = (uncounted?.succeeded?.length ?? 0) + (uncounted?.failed?.length ?? 0)
  const isFailure = finished !== undefined && finished.type !== 'SuccessCriteriaMet'
  let isFull = false
  for (const pod of inIndexOrder(pass)) {
    if (!pass.isTracked(pod)) continue
    const hasFailed = isFailedPod(pod, job)
    if (!mayLoseFinalizer(pass, pod, { hasFailed, isFinished: finished !== undefined })) continue
    pods.push(pod)
    const [uid, index] = [uidOf(pod), indexOf(pod, names)]
    const isWithin = !isIndexed(job) || (index !== undefined && index < (job.spec.completions ?? 0))
    const isCountedFailure = uncounted?.failed?.includes(uid) === true
    if (pod.status.phase === 'Succeeded' && !isCountedFailure) {
      if (!isIndexed(job) && uncounted?.succeeded?.includes(uid) !== true) succeeded.push(uid)
      if (isIndexed(job) && isWithin && index !== undefined && !hasIndex(pass.stored, index)) succeededIndexes.push(index)
    } else if ((hasFailed || isFailure) && isWithin && !isCountedFailure && matchFailurePolicy(job.spec.podFailurePolicy, pod).isCounted) {
      failed.push(uid)
    }
    isFull = succeededIndexes.length + succeeded.length + failed.length + countStored >= uncountedMax
    if (isFull) break
  }
  const isNews = succeeded.length + failed.length + succeededIndexes.length > 0
  return { pods, succeeded, failed, succeededIndexes, isNews, isFull }
}

function inIndexOrder({ job, pods, names }: Pass): readonly Pod[] {
  return isIndexed(job) ? pods.toSorted((left, right) => (indexOf(left, names) ?? -1) - (indexOf(right, names) ?? -1)) : pods
}

interface PodEnd {
  readonly hasFailed: boolean
  readonly isFinished: boolean
}

/** The last failed Pod of an index keeps its finalizer until its successor exists, because it stores the number of failures. */
function mayLoseFinalizer({ job, replaced, names }: Pass, pod: Pod, { hasFailed, isFinished }: PodEnd): boolean {
  if (job.metadata.deletionTimestamp != null || isFinished || pod.status.phase === 'Succeeded') return true
  return hasFailed && replaced?.get(indexOf(pod, names) ?? -1) !== pod
}

/** The status with the uids counted whose Pods no longer have the finalizer. */
function withCounts(status: JobStatus, { pods }: Pass, isTracked: (pod: Pod) => boolean) {
  const tracked = new Set(pods.filter(isTracked).map(uidOf))
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const rest = { succeeded: succeeded.filter((uid) => tracked.has(uid)), failed: failed.filter((uid) => tracked.has(uid)) }
  const [succeededCount, failedCount] = [succeeded.length - rest.succeeded.length, failed.length - rest.failed.length]
  return {
    status: {
      ...status,
      succeeded: (status.succeeded ?? 0) + succeededCount,
      failed: (status.failed ?? 0) + failedCount,
      uncountedTerminatedPods: rest,
    },
    isChanged: succeededCount + failedCount > 0,
  }
}

/** Omits zero values, as in the API. */
function printed(status: JobStatus): JobStatus {
  const { uncountedTerminatedPods: { succeeded = [], failed = [] } = {} } = status
  return {
    ...status,
    active: status.active || undefined,
    succeeded: status.succeeded || undefined,
    failed: status.failed || undefined,
    completedIndexes: status.completedIndexes || undefined,
    uncountedTerminatedPods: { ...(succeeded.length > 0 && { succeeded }), ...(failed.length > 0 && { failed }) },
  }
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? ''
}
