import type { CronFields, CronSchedule } from './schedule.ts'
import { fromLocal, toLocal } from './zones.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** A schedule without a time within this many years is taken to have none. */
const yearsMax = 5

/**
 * The first time of a schedule after a moment, both in milliseconds since 1970. Undefined if there is none within five years. A schedule without
 * a time zone is in UTC. Fields are advanced in the order of the cron library of kube-controller-manager, because results
 * near clock changes depend on it: a local time that is skipped has no run on that day, and a repeated local time has two runs.
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

/** A moment that is advanced field by field. A step returns false if it has changed an earlier field, which must be checked again. */
class Walk {
  readonly #fields: CronFields
  readonly #zone: string
  timeMs: number
  /** True when smaller fields have been reset to their minimum. */
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

  /** Both day and weekday must match; if both are restricted, one of them is enough. */
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
