import { nextTime } from '../../cron/next-time.ts'
import type { CronSchedule } from '../../cron/schedule.ts'

/** Number of missed times above which they are reported. */
const missedMax = 100
/** The next pass is slightly after the scheduled time, since clocks of machines differ. */
const clockSkewMs = 100

/** The state that determines a CronJob's times, in milliseconds since 1970. */
interface ScheduleState {
  readonly createdMs: number
  readonly lastScheduleMs: number | undefined
  readonly startingDeadlineSeconds: number | undefined
}

/** The scheduled times since the last run. */
export interface MissedTimes {
  /** The start of the search. */
  readonly earliestMs: number
  /** The most recent scheduled time up to now. */
  readonly mostRecentMs: number | undefined
  readonly missed: 'none' | 'few' | 'many'
}

/**
 * The scheduled times between the last run (or creation) and now. Undefined if the schedule has no times, such as 31 February.
 * `isDeadlineUsed` excludes times before now minus the starting deadline. As upstream, their number is estimated from the interval of the first two;
 * the first time alone does not count as missed.
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

/** Milliseconds until the next pass; undefined if the schedule has no times. */
export function nextLookMs(schedule: CronSchedule, state: ScheduleState, nowMs: number): number | undefined {
  const times = findMissedTimes(schedule, state, { nowMs, isDeadlineUsed: false })
  const fromMs = times?.mostRecentMs ?? (times?.missed === 'none' ? times.earliestMs : nowMs)
  const dueMs = nextTime(schedule, fromMs)
  return dueMs === undefined ? undefined : dueMs + clockSkewMs - nowMs
}

/**
 * The last scheduled time in (fromMs, toMs], by bisection, because an irregular schedule may have many times: every minute in January is
 * 44,640 times, after eleven months without any.
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
