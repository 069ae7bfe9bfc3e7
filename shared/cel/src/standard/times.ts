import { type Functions, memberOverload, type Overload } from '../library.ts'
import { types } from '../types.ts'

const { duration, int, string, timestamp } = types

/** The overloads of a part of timestamps, in UTC or the time zone given. */
function partOfTime(word: string): readonly Overload[] {
  return [
    memberOverload(`timestamp_to_${word}`, [timestamp], int),
    memberOverload(`timestamp_to_${word}_with_tz`, [timestamp, string], int),
  ]
}

/** The overloads of a part that durations have, too. */
function partOfBoth(word: string): readonly Overload[] {
  return [...partOfTime(word), memberOverload(`duration_to_${word}`, [duration], int)]
}

/** Parts of timestamps and durations. */
export const times: Functions = {
  getFullYear: partOfTime('year'),
  getMonth: partOfTime('month'),
  getDayOfYear: partOfTime('day_of_year'),
  getDayOfMonth: partOfTime('day_of_month'),
  getDate: partOfTime('day_of_month_1_based'),
  getDayOfWeek: partOfTime('day_of_week'),
  getHours: partOfBoth('hours'),
  getMinutes: partOfBoth('minutes'),
  getSeconds: partOfBoth('seconds'),
  getMilliseconds: partOfBoth('milliseconds'),
}
