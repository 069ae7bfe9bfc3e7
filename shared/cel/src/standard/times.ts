import { type FunctionDeclaration, memberOverload } from '../library.ts'
import { types } from '../types.ts'

const { duration, int, string, timestamp } = types

/** Parts of timestamps, in UTC or the time zone given, and of durations. */
export const times: readonly FunctionDeclaration[] = [
  {
    name: 'getFullYear',
    overloads: [
      memberOverload('timestamp_to_year', [timestamp], int),
      memberOverload('timestamp_to_year_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getMonth',
    overloads: [
      memberOverload('timestamp_to_month', [timestamp], int),
      memberOverload('timestamp_to_month_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getDayOfYear',
    overloads: [
      memberOverload('timestamp_to_day_of_year', [timestamp], int),
      memberOverload('timestamp_to_day_of_year_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getDayOfMonth',
    overloads: [
      memberOverload('timestamp_to_day_of_month', [timestamp], int),
      memberOverload('timestamp_to_day_of_month_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getDate',
    overloads: [
      memberOverload('timestamp_to_day_of_month_1_based', [timestamp], int),
      memberOverload('timestamp_to_day_of_month_1_based_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getDayOfWeek',
    overloads: [
      memberOverload('timestamp_to_day_of_week', [timestamp], int),
      memberOverload('timestamp_to_day_of_week_with_tz', [timestamp, string], int),
    ],
  },
  {
    name: 'getHours',
    overloads: [
      memberOverload('timestamp_to_hours', [timestamp], int),
      memberOverload('timestamp_to_hours_with_tz', [timestamp, string], int),
      memberOverload('duration_to_hours', [duration], int),
    ],
  },
  {
    name: 'getMinutes',
    overloads: [
      memberOverload('timestamp_to_minutes', [timestamp], int),
      memberOverload('timestamp_to_minutes_with_tz', [timestamp, string], int),
      memberOverload('duration_to_minutes', [duration], int),
    ],
  },
  {
    name: 'getSeconds',
    overloads: [
      memberOverload('timestamp_to_seconds', [timestamp], int),
      memberOverload('timestamp_to_seconds_with_tz', [timestamp, string], int),
      memberOverload('duration_to_seconds', [duration], int),
    ],
  },
  {
    name: 'getMilliseconds',
    overloads: [
      memberOverload('timestamp_to_milliseconds', [timestamp], int),
      memberOverload('timestamp_to_milliseconds_with_tz', [timestamp, string], int),
      memberOverload('duration_to_milliseconds', [duration], int),
    ],
  },
]
