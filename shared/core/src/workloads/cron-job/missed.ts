import { nextTime } from '../../cron/next-time.ts'
import type { CronSchedule } from '../../cron/schedule.ts'

/** More missed times than this are reported. */
const missedMax = 100
/** Clocks of machines differ: a run is looked for a little after its time. */
const clockSkewMs = 100

/** The part of a CronJob that its times follow from. Times are milliseconds since 1970. */
export interface ScheduleState {
  readonly createdMs: number
  readonly lastScheduleMs: number | undefined
  readonly startingDeadlineSeconds: number | undefined
}

/** Times since the last run. */
export interface MissedTimes {
  /** The beginning of the search. */
  readonly earliestMs: number
  /** The last time that is not after now. */
  readonly mostRecentMs: number | undefined
  readonly missed: 'none' | 'few' | 'many'
}

/**
 * The times of a schedule between the last run, or the creation, and now. Undefined: the schedule has no times, such as the 31st of February.
 * `isDeadlineUsed` leaves out times before now minus the starting deadline. Their number is estimated from the distance of the first two, as
 * upstream does; the first one alone is not called missed.
 *
 *   every five minutes, created at 08:00, now 08:16:10    most recent 08:15, few
 */
export function findMissedTimes(
  schedule: CronSchedule,
  { createdMs, lastScheduleMs = createdMs, startingDeadlineSeconds }: ScheduleState,
  { nowMs, isDeadlineUsed }: { readonly nowMs: number; readonly isDeadlineUsed: boolean },
): MissedTimes | undefined {
  const deadlineMs = isDeadlineUsed && startingDeadlineSeconds !== undefined ? nowMs - startingDeadlineSeconds * 1000 : lastScheduleMs
  const earliestMs = Math.max(lastScheduleMs, deadlineMs)
  const firstMs = nextTime(schedule, earliestMs)
  if (firstMs === undefined) return undefined
  if (nowMs < firstMs) return { earliestMs, mostRecentMs: undefined, missed: 'none' }
  const secondMs = nextTime(schedule, firstMs)
  if (secondMs !== undefined && nowMs < secondMs) return { earliestMs, mostRecentMs: firstMs, missed: 'none' }
  if (secondMs === undefined) return undefined
  const distanceSeconds = Math.round((secondMs - firstMs) / 1000)
  const missedCount = Math.trunc((nowMs - firstMs) / 1000 / distanceSeconds) + 1
  const fromMs = firstMs + (missedCount - 2) * distanceSeconds * 1000
  return { earliestMs, mostRecentMs: findLastTime(schedule, fromMs, nowMs), missed: missedCount > missedMax ? 'many' : 'few' }
}

/** Milliseconds until the next look at a schedule; undefined if it has no times. */
export function nextLookMs(schedule: CronSchedule, state: ScheduleState, nowMs: number): number | undefined {
  const times = findMissedTimes(schedule, state, { nowMs, isDeadlineUsed: false })
  const fromMs = times?.mostRecentMs ?? (times?.missed === 'none' ? times.earliestMs : nowMs)
  const dueMs = nextTime(schedule, fromMs)
  return dueMs === undefined ? undefined : dueMs + clockSkewMs - nowMs
}

/**
 * The last time in (fromMs, toMs]. The interval is halved, as an irregular schedule may have many times in it: one minute-wise in January has
 * 44,640, and a year of nothing before.
 */
function findLastTime(schedule: CronSchedule, fromMs: number, toMs: number): number | undefined {
  let found = nextTime(schedule, fromMs)
  if (found === undefined || found > toMs) return undefined
  if (schedule.kind === 'every') return found + Math.floor((toMs - found) / schedule.intervalMs) * schedule.intervalMs
  let endMs = toMs
  while (endMs - found > 60_000) {
    const middleMs: number = found + Math.floor((endMs - found) / 2)
    const later = nextTime(schedule, middleMs)
    if (later === undefined || later > toMs) endMs = middleMs
    else found = later
  }
  const last = nextTime(schedule, found)
  return last === undefined || last > toMs ? found : last
}
