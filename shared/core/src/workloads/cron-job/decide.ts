import { parseSchedule } from '../../cron/schedule.ts'
import { findZoneProblem, offsetMs } from '../../cron/zones.ts'
import { goQuote } from '../../json/go-quote.ts'
import { printTime, toInstant } from '../../meta/time.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { finishedType, isFinishedJob, type Job } from '../job/pods.ts'
import type { WorkloadEvent } from '../pods.ts'
import { findMissedTimes, nextLookMs } from './missed.ts'

export type CronJob = BuiltIn<'batch/v1.CronJob'>
type ActiveJob = BuiltIn<'core/v1.ObjectReference'>

/** A CronJob and the Jobs that it controls. */
export interface CronJobObserved {
  readonly cronJob: CronJob
  readonly jobs: readonly Job[]
  /** Uids of active Jobs in the status that no longer exist. */
  readonly missing: ReadonlySet<string>
  /** The domain of the product's site. */
  readonly domain: string
  readonly level: number
}

/** The status after a pass; zero values are absent. */
export interface CronJobStatus {
  readonly active: readonly ActiveJob[]
  readonly lastScheduleTime: string | null | undefined
  readonly lastSuccessfulTime: string | null | undefined
}

export interface CronJobPlan {
  /** Jobs beyond the history limits. */
  readonly cleaned: readonly Job[]
  readonly events: readonly WorkloadEvent[]
  readonly status: CronJobStatus
  readonly hasNews: boolean
  /** The scheduled time of a Job to create now, in milliseconds since 1970. */
  readonly startMs?: number
  /** Active Jobs that the new one replaces. */
  readonly replaced: readonly ActiveJob[]
  /** Milliseconds until the next pass; undefined if only a change causes one. */
  readonly waitMs: number | undefined
}

/**
 * The next step of a CronJob: the results of its Jobs, and the Job to create now. The most recent scheduled time is run, and earlier ones are
 * skipped.
 *
 *   every minute, last run at 08:01, now 08:03:00.1    Job of 08:03, and a look at 08:04:00.1
 *   the same with Forbid and a Job that runs           no Job, and the look
 */
export function decideCronJob(observed: CronJobObserved, nowMs: number): CronJobPlan {
  const { cronJob, jobs } = observed
  const cleaned = beyondHistory(cronJob, jobs)
  const seen = observeJobs(observed, cleaned)
  const rest = { cleaned, status: seen.status, hasNews: seen.hasNews || cleaned.length > 0 }
  if (cronJob.metadata.deletionTimestamp != null) return { ...rest, events: seen.events, replaced: [], waitMs: undefined }
  const run = decideRun(observed, seen.status, nowMs)
  return { ...rest, ...run, events: [...seen.events, ...run.events] }
}

/** Jobs beyond the history limits are no longer active, so that their end has no event. */
function observeJobs({ cronJob, jobs, missing, level }: CronJobObserved, cleaned: readonly Job[]) {
  const { status } = cronJob
  const events: WorkloadEvent[] = []
  const ended = new Set<string>()
  const stored = (status.active ?? []).filter(({ uid }) => !cleaned.some(({ metadata }) => metadata.uid === uid))
  let { lastSuccessfulTime } = status
  for (const job of jobs) {
    const { name, uid = '' } = job.metadata
    const isActive = stored.some((reference) => reference.uid === uid)
    const type = finishedType(job)
    if (type === undefined && !isActive) {
      events.push(warning('UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`))
    }
    if (type !== undefined && isActive) {
      ended.add(uid)
      events.push(normal('SawCompletedJob', `Saw completed job: ${name}, ${level < 31 ? 'status' : 'condition'}: ${type}`))
    }
    const { completionTime } = job.status
    if (type === 'Complete' && completionTime != null && !(Date.parse(lastSuccessfulTime ?? '') >= Date.parse(completionTime))) {
      lastSuccessfulTime = completionTime
    }
  }
  for (const { name, uid = '' } of stored) if (missing.has(uid)) events.push(normal('MissingJob', `Active job went missing: ${name}`))
  const active = stored.filter(({ uid = '' }) => !ended.has(uid) && !missing.has(uid))
  const hasNews = active.length < (status.active?.length ?? 0) || lastSuccessfulTime !== status.lastSuccessfulTime
  return { events, hasNews, status: { active, lastSuccessfulTime, lastScheduleTime: status.lastScheduleTime } }
}

/** The oldest finished Jobs beyond the limits. */
function beyondHistory({ spec: { successfulJobsHistoryLimit, failedJobsHistoryLimit } }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: 'Complete' | 'Failed', limit: number | null | undefined) => {
    const ofType = jobs.filter((job) => finishedType(job) === type).toSorted(byStart)
    return limit == null ? [] : ofType.slice(0, Math.max(0, ofType.length - limit))
  }
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)]
}

function byStart(left: Job, right: Job): number {
  const startMs = ({ status: { startTime } }: Job) => (startTime == null ? Number.POSITIVE_INFINITY : Date.parse(startTime))
  const [leftMs, rightMs] = [startMs(left), startMs(right)]
  if (leftMs !== rightMs) return leftMs - rightMs
  return (left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1
}

type Run = Pick<CronJobPlan, 'events' | 'startMs' | 'replaced' | 'waitMs'>

function decideRun({ cronJob, level, domain }: CronJobObserved, status: CronJobStatus, nowMs: number): Run {
  const { timeZone, suspend } = cronJob.spec
  const none = (events: readonly WorkloadEvent[] = [], waitMs?: number): Run => ({ events, replaced: [], waitMs })
  const zoneProblem = timeZone == null ? undefined : findZoneProblem(timeZone)
  if (zoneProblem !== undefined) return none([warning('UnknownTimeZone', `invalid timeZone: ${goQuote(timeZone ?? '')}: ${zoneProblem}`)])
  if (suspend === true) return none()
  const { text, events } = scheduleOf(cronJob, domain)
  const schedule = parseSchedule(text)
  if (typeof schedule === 'string') {
    const message = `unparseable schedule: ${goQuote(cronJob.spec.schedule)} : ${schedule}`
    return none([...events, warning('UnparseableSchedule', message)])
  }
  const state = {
    createdMs: Date.parse(cronJob.metadata.creationTimestamp ?? ''),
    lastScheduleMs: cronJob.status.lastScheduleTime == null ? undefined : Date.parse(cronJob.status.lastScheduleTime),
    startingDeadlineSeconds: cronJob.spec.startingDeadlineSeconds ?? undefined,
  }
  const times = findMissedTimes(schedule, state, { nowMs, isDeadlineUsed: true })
  if (times === undefined) {
    const message = `invalid schedule: ${cronJob.spec.schedule} : time difference between two schedules is less than 1 second`
    return none([...events, warning('InvalidSchedule', message)])
  }
  const waitMs = nextLookMs(schedule, state, nowMs)
  const { mostRecentMs, missed } = times
  if (mostRecentMs === undefined || mostRecentMs > nowMs) return none(events, waitMs)
  if (missed === 'many') events.push(warning('TooManyMissedTimes', tooManyMissed))
  if (missed === 'many' && level < 28) return none(events, waitMs)
  const refusal = refusalOf(cronJob, status, { startMs: mostRecentMs, nowMs })
  if (refusal !== undefined) return none([...events, ...refusal], waitMs)
  const replaced = cronJob.spec.concurrencyPolicy === 'Replace' ? status.active : []
  return { events, startMs: mostRecentMs, replaced, waitMs }
}

const tooManyMissed = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'

/** Events for a due time that is not run; undefined if it is run. */
function refusalOf(cronJob: CronJob, status: CronJobStatus, { startMs, nowMs }: { startMs: number; nowMs: number }) {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec
  if (startingDeadlineSeconds != null && startMs + startingDeadlineSeconds * 1000 < nowMs) {
    const time = new Date(startMs).toUTCString().replace('GMT', '+0000')
    return [warning('MissSchedule', `Missed scheduled time to start a job: ${time}`)]
  }
  const isActive = status.active.some(({ name }) => name === jobNameOf(cronJob, startMs))
  if (isActive || Date.parse(status.lastScheduleTime ?? '') === startMs) return []
  if (concurrencyPolicy !== 'Forbid' || status.active.length === 0) return undefined
  const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
  return [normal('JobAlreadyActive', message)]
}

/** Parses the schedule. Before 1.29 a schedule could contain a zone. */
function scheduleOf(
  { spec: { schedule, timeZone } }: CronJob,
  domain: string,
): { readonly text: string; readonly events: WorkloadEvent[] } {
  if (!schedule.includes('TZ')) return { text: timeZone == null ? schedule : `TZ=${timeZone} ${schedule}`, events: [] }
  const where = `see https://${domain}/docs/concepts/workloads/controllers/cron-jobs/ for more details`
  const message = `CRON_TZ or TZ used in schedule ${goQuote(schedule)} is not officially supported, ${where}`
  return { text: schedule, events: [warning('UnsupportedSchedule', message)] }
}

/** The name of the Job for a time: the CronJob's name and the minutes since 1970. */
function jobNameOf({ metadata }: Pick<CronJob, 'metadata'>, startMs: number): string {
  return `${metadata.name}-${Math.floor(startMs / 60_000)}`
}

/** The metadata and spec of the Job for a time, without its owner. `annotation` contains the time, from 1.28 on. */
export function jobOf(cronJob: CronJob, startMs: number, { annotation, level }: { readonly annotation: string; readonly level: number }) {
  const { metadata, spec } = cronJob.spec.jobTemplate
  const time = printZoned(cronJob.spec.timeZone ?? '', startMs)
  const annotations = { ...metadata?.annotations, ...(level >= 28 && { [annotation]: time }) }
  const name = jobNameOf(cronJob, startMs)
  return { metadata: { name, namespace: cronJob.metadata.namespace, labels: metadata?.labels, annotations }, spec }
}

/** A time in a zone in RFC 3339: `2026-07-01T02:30:00+02:00`. */
function printZoned(zone: string, timeMs: number): string {
  const offset = offsetMs(zone, timeMs)
  const utc = printTime(toInstant(timeMs + offset))
  if (offset === 0) return utc
  const minutes = Math.abs(offset) / 60_000
  const digits = (value: number) => `${Math.floor(value)}`.padStart(2, '0')
  return utc.replace('Z', `${offset < 0 ? '-' : '+'}${digits(minutes / 60)}:${digits(minutes % 60)}`)
}

/** True if an active Job is not in the status, because the cached CronJob may be stale. */
export function hasUnknownJob({ status }: CronJob, jobs: readonly Job[]): boolean {
  return jobs.some((job) => !isFinishedJob(job) && status.active?.some(({ uid }) => uid === job.metadata.uid) !== true)
}

function normal(reason: string, message: string): WorkloadEvent {
  return { type: 'Normal', reason, message }
}

function warning(reason: string, message: string): WorkloadEvent {
  return { type: 'Warning', reason, message }
}
