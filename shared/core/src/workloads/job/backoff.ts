import type { Pod } from '../pods.ts'

const firstPauseMs = 10_000
/** Maximum pause, and the maximum at levels below 28. */
const pauseMsMax = 600_000
const olderPauseMsMax = 360_000
/** Below this level, the pause follows passes that see a failure: the first failed Pod is replaced at once, and each later one after the pause. */
const podPauseSince = 27

/** Failures since the last success. */
export interface BackoffRecord {
  readonly failureCount: number
  /** Milliseconds since 1970; undefined without a failure. */
  readonly lastFailureMs: number | undefined
}

export const noFailures: BackoffRecord = { failureCount: 0, lastFailureMs: undefined }

/** Pods that finished since the last pass. */
interface NewlyFinished {
  readonly succeeded: readonly Pod[]
  readonly failed: readonly Pod[]
  readonly level: number
}

/** The record updated with newly finished Pods. Failures before the last success are dropped. */
export function backoffAfter(before: BackoffRecord, { succeeded, failed, level }: NewlyFinished): BackoffRecord {
  const failedMs = failed.map(finishedMs)
  if (level < podPauseSince && failed.length > 0) return { failureCount: before.failureCount + 1, lastFailureMs: Math.max(...failedMs) }
  if (succeeded.length === 0) {
    return failed.length === 0 ? before : { failureCount: before.failureCount + failed.length, lastFailureMs: Math.max(...failedMs) }
  }
  const lastSuccessMs = Math.max(...succeeded.map(finishedMs))
  const since = failedMs.filter((endMs) => endMs > lastSuccessMs)
  return since.length === 0 ? noFailures : { failureCount: since.length, lastFailureMs: Math.max(...since) }
}

/**
 * Milliseconds until Pods may replace failed ones: 10 s after the last failure, doubled for each further failure, at most 10 minutes.
 *
 *   three failures, the last one 15 s ago → 25 s
 */
export function remainingBackoffMs(record: BackoffRecord, nowMs: number, level: number): number {
  const { failureCount, lastFailureMs = 0 } = record
  if (failureCount === 0 || level < podPauseSince) return 0
  return Math.max(0, pauseMs(failureCount, level) - (nowMs - lastFailureMs))
}

function pauseMs(failureCount: number, level: number): number {
  return Math.min(level < 28 ? olderPauseMsMax : pauseMsMax, firstPauseMs * 2 ** (failureCount - 1))
}

/** Milliseconds between the failure of a Pod and the pass that sees it. */
export function failureDelayMs({ failureCount }: BackoffRecord, level: number): number {
  return failureCount === 0 || level >= podPauseSince ? 0 : pauseMs(failureCount, level)
}

/**
 * The time at which a Pod finished, in milliseconds since 1970: from its containers, or else the time since which it is unready, or of its
 * deletion or creation.
 */
export function finishedMs(pod: Pod): number {
  const { metadata, status } = pod
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const unreadyMs = ready?.status === 'False' ? timeMs(ready.lastTransitionTime) : undefined
  const deletionMs = timeMs(metadata.deletionTimestamp)
  const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000
  return (
    containersEndMs(pod) ??
    unreadyMs ??
    (deletionMs === undefined ? undefined : deletionMs - graceMs) ??
    timeMs(metadata.creationTimestamp) ??
    0
  )
}

/** The end of the main containers; sidecars end later. Undefined if a container has not ended. */
function containersEndMs({ spec, status }: Pod): number | undefined {
  const sidecars = new Set(spec.initContainers?.flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name] : [])))
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))]
  const ends = statuses.map(({ state }) => timeMs(state?.terminated?.finishedAt))
  return ends.length === 0
    ? undefined
    : ends.reduce((last, end) => (last === undefined || end === undefined ? undefined : Math.max(last, end)))
}

function timeMs(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
