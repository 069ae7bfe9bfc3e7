import type { CronFields, CronSchedule } from './schedule.ts'
import { fromLocal, toLocal } from './zones.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** A schedule that has no time for so long has none. */
const yearsMax = 5

/**
 * The first time of a schedule after a moment, both in milliseconds since 1970. Undefined: none within five years. Without a zone in its text
 * the schedule is read in UTC. The order in which fields are brought forward is that of the cron library of kube-controller-manager, as times
 * near clock changes follow from it: a local time that is skipped has no run on that day, and one that comes twice has two.
 *
 *   `30 2 * * *` in Europe/Berlin after 28 March 2026 12:00Z     30 March 00:30Z, as 02:30 is skipped on the 29th
 *   `@every 90s` after 08:34:35.4Z                               08:36:05Z
 */
export function nextTime(schedule: CronSchedule, afterMs: number): number | undefined {
  const wholeMs = Math.floor(afterMs / secondMs) * secondMs
  if (schedule.kind === 'every') return wholeMs + schedule.intervalMs
  const walk = new Walk(schedule, wholeMs + secondMs)
  const lastYear = walk.local.getUTCFullYear() + yearsMax
  while (walk.local.getUTCFullYear() <= lastYear) {
    if (walk.toMonth() && walk.toDay() && walk.toHour() && walk.toMinute() && walk.toFullMinute()) return walk.timeMs
  }
  return undefined
}

/** A moment that is brought forward, field by field. Each step is false when the field before it has changed and must be looked at again. */
class Walk {
  readonly #fields: CronFields
  readonly #zone: string
  timeMs: number
  /** True once the lesser fields have been set to their beginning. */
  #isTruncated = false

  constructor(fields: CronFields, timeMs: number) {
    this.#fields = fields
    this.#zone = fields.zone ?? ''
    this.timeMs = timeMs
  }

  get local(): Date {
    return toLocal(this.#zone, this.timeMs)
  }

  toMonth(): boolean {
    while (!this.#fields.month.values.has(this.local.getUTCMonth() + 1)) {
      this.#truncate((local) => Date.UTC(local.getUTCFullYear(), local.getUTCMonth()))
      this.#moveLocal((local) => local.setUTCMonth(local.getUTCMonth() + 1))
      if (this.local.getUTCMonth() === 0) return false
    }
    return true
  }

  toDay(): boolean {
    while (!this.#isDayDue()) {
      this.#truncate((local) => Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()))
      this.#moveLocal((local) => local.setUTCDate(local.getUTCDate() + 1))
      // A clock change may skip midnight.
      const hour = this.local.getUTCHours()
      if (hour !== 0) this.timeMs += (hour > 12 ? 24 - hour : -hour) * hourMs
      if (this.local.getUTCDate() === 1) return false
    }
    return true
  }

  toHour(): boolean {
    while (!this.#fields.hour.values.has(this.local.getUTCHours())) {
      this.#truncate((local) => Math.floor(local.getTime() / hourMs) * hourMs)
      this.timeMs += hourMs
      if (this.local.getUTCHours() === 0) return false
    }
    return true
  }

  toMinute(): boolean {
    while (!this.#fields.minute.values.has(this.local.getUTCMinutes())) {
      if (!this.#isTruncated) this.timeMs = Math.floor(this.timeMs / minuteMs) * minuteMs
      this.#isTruncated = true
      this.timeMs += minuteMs
      if (this.local.getUTCMinutes() === 0) return false
    }
    return true
  }

  toFullMinute(): boolean {
    const restMs = this.timeMs % minuteMs
    if (restMs === 0) return true
    this.#isTruncated = true
    this.timeMs += minuteMs - restMs
    return false
  }

  /** Day and weekday must both be due; if both are restricted, one is enough. */
  #isDayDue(): boolean {
    const { day, weekday } = this.#fields
    const { local } = this
    const [isDay, isWeekday] = [day.values.has(local.getUTCDate()), weekday.values.has(local.getUTCDay())]
    return day.isAny || weekday.isAny ? isDay && isWeekday : isDay || isWeekday
  }

  #truncate(toBeginning: (local: Date) => number): void {
    if (!this.#isTruncated) this.timeMs = fromLocal(this.#zone, toBeginning(this.local))
    this.#isTruncated = true
  }

  #moveLocal(move: (local: Date) => number): void {
    this.timeMs = fromLocal(this.#zone, move(this.local))
  }
}
