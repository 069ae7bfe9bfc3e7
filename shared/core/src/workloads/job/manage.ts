import { isTerminatingPod, type Pod } from '../pods.ts'
import { inVictimOrder } from '../victims.ts'
import { type BackoffRecord, finishedMs, remainingBackoffMs } from './backoff.ts'
import type { Progress } from './conditions.ts'
import { addIndexes, hasIndex, type Indexes, mergeIndexes, missingIndexes } from './indexes.ts'
import { failuresAfter, failuresBefore, hasFinalizer, indexOf, isFailedPod, isIndexed, type JobCreation, type JobNames } from './pods.ts'

/** Maximum number of creations or deletions per pass. */
const burstMax = 500

/** An active Job with its Pods. */
export interface Running extends Pick<Progress, 'job' | 'pods' | 'succeeded' | 'failed' | 'level' | 'nowMs'> {
  readonly active: readonly Pod[]
  readonly succeededCount: number
  /** The last failed Pods of indexes without a successor; undefined if failures are not counted by index. */
  readonly replaced: ReadonlyMap<number, Pod> | undefined
  readonly backoff: BackoffRecord
  readonly names: JobNames
}

/** Either creations or deletions. */
export interface JobStep {
  readonly creations: readonly JobCreation[]
  readonly deletions: readonly Pod[]
  /** Time until Pods may replace failed ones. */
  readonly waitMs?: number
}

const noStep: JobStep = { creations: [], deletions: [] }

/** The Pods that an active Job creates or deletes next. A suspended Job deletes all. */
export function decideStep(running: Running): JobStep {
  const { job, active } = running
  if (job.spec.suspend === true) return { ...noStep, deletions: podsToDelete(running, active.length) }
  const wanted = wantedCount(running)
  const deletions = podsToDelete(running, Math.max(0, active.length - wanted)).slice(0, burstMax)
  if (deletions.length > 0) return { ...noStep, deletions }
  const terminatingCount = job.spec.podReplacementPolicy === 'Failed' ? running.pods.filter(isTerminatingPod).length : 0
  const missing = wanted - terminatingCount - active.length
  return missing > 0 ? creationStep(running, Math.min(burstMax, missing)) : noStep
}

/** Without `completions`, no Pod is replaced after the first success. */
function wantedCount({ job: { spec }, active, succeededCount }: Running): number {
  const { parallelism = 1, completions } = spec
  if (completions == null) return succeededCount > 0 ? active.length : parallelism
  return Math.max(0, Math.min(parallelism, completions - succeededCount))
}

/** Pods with duplicate indexes, or with indexes beyond the completions, are deleted first. */
function podsToDelete(running: Running, countMin: number): Pod[] {
  const { job, active, nowMs } = running
  const inOrder = (pods: readonly Pod[]) => inVictimOrder(pods, { related: [], isExact: true, nowMs })
  const { surplus, rest } = isIndexed(job) ? splitByIndex(running, inOrder) : { surplus: [], rest: active }
  return surplus.length < countMin ? [...surplus, ...inOrder(rest).slice(0, countMin - surplus.length)] : surplus
}

function splitByIndex({ job, active, names }: Running, inOrder: (pods: readonly Pod[]) => Pod[]) {
  const { completions = 0 } = job.spec
  const byIndex = new Map<number, Pod[]>()
  const surplus: Pod[] = []
  for (const pod of active) {
    const index = indexOf(pod, names)
    if (index === undefined || index >= (completions ?? 0)) surplus.push(pod)
    else byIndex.set(index, [...(byIndex.get(index) ?? []), pod])
  }
  const rest: Pod[] = []
  for (const pods of byIndex.values()) {
    const ordered = inOrder(pods)
    surplus.push(...ordered.slice(0, -1))
    rest.push(...ordered.slice(-1))
  }
  return { surplus, rest }
}

function creationStep(running: Running, count: number): JobStep {
  const { job, replaced, backoff, level, nowMs } = running
  const pauseMs = replaced === undefined ? remainingBackoffMs(backoff, nowMs, level) : 0
  if (pauseMs > 0) return { ...noStep, waitMs: pauseMs }
  if (!isIndexed(job)) return { ...noStep, creations: Array.from({ length: count }, () => ({})) }
  const indexes = missingIndexes(takenIndexes(running), job.spec.completions ?? 0, count)
  return replaced === undefined ? { ...noStep, creations: indexes.map((index) => ({ index })) } : indexedStep(running, replaced, indexes)
}

/** Each index has its own backoff. */
function indexedStep({ job, names, level, nowMs }: Running, replaced: ReadonlyMap<number, Pod>, indexes: readonly number[]): JobStep {
  const waits = indexes.map((index) => ({ index, pauseMs: indexPauseMs(replaced.get(index), { names, level, nowMs }) }))
  const due = waits.filter(({ pauseMs }) => pauseMs === 0)
  if (due.length === 0 && waits.length > 0) return { ...noStep, waitMs: Math.min(...waits.map(({ pauseMs }) => pauseMs)) }
  return { ...noStep, creations: due.map(({ index }) => ({ index, failures: failuresAfter(replaced.get(index), job, names) })) }
}

function indexPauseMs(last: Pod | undefined, { names, level, nowMs }: Pick<Running, 'names' | 'level' | 'nowMs'>): number {
  if (last === undefined) return 0
  return remainingBackoffMs({ failureCount: allFailures(last, names) + 1, lastFailureMs: finishedMs(last) }, nowMs, level)
}

function allFailures(pod: Pod, names: JobNames): number {
  const { counted, ignored } = failuresBefore(pod, names)
  return counted + ignored
}

/** Indexes that need no Pod. */
function takenIndexes({ job, pods, active, succeeded = [], failed = [], names }: Running): Indexes {
  const holders = job.spec.podReplacementPolicy === 'Failed' ? [...active, ...pods.filter(isTerminatingPod)] : active
  return mergeIndexes(addIndexes(succeeded, indexesOf(holders, names)), failed)
}

function indexesOf(pods: readonly Pod[], names: JobNames): number[] {
  return pods.flatMap((pod) => indexOf(pod, names) ?? [])
}

/** The last failed Pod of each unfinished index without a running Pod. Its successor continues the count of failures. */
export function replacedPods(
  { job, active, pods, succeeded = [], failed = [], names }: Omit<Running, 'replaced' | 'backoff'>,
  isTracked: (pod: Pod) => boolean,
): Map<number, Pod> {
  const running = new Set(indexesOf(active, names))
  const found = new Map<number, Pod>()
  for (const pod of pods) {
    const index = indexOf(pod, names)
    if (index === undefined || index >= (job.spec.completions ?? 0) || !isTracked(pod) || !hasFinalizer(pod, names)) continue
    if (!isFailedPod(pod, job) || running.has(index) || hasIndex(succeeded, index) || hasIndex(failed, index)) continue
    const before = found.get(index)
    if (before === undefined || (allFailures(before, names) <= allFailures(pod, names) && finishedMs(pod) >= finishedMs(before))) {
      found.set(index, pod)
    }
  }
  return found
}
