import { expect, test } from 'vitest'
import type { Job } from '../job/pods.ts'
import { type CronJob, decideCronJob } from './decide.ts'

const lastScheduleTime = '2026-03-01T08:00:00Z'
const minute = '* * * * *'

interface Words {
  readonly spec?: object
  readonly status?: object
  readonly jobs?: readonly string[]
}

/** The events, and the time of the Job to create, of a CronJob that ran at 08:00 and has these active Jobs. */
function decide({ spec, status, jobs = [] }: Words, time: string) {
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { schedule: minute, ...spec },
    status: { lastScheduleTime, ...status },
  } as unknown as CronJob
  const observed = jobs.map((name) => ({ metadata: { name, uid: name }, spec: {}, status: {} }) as unknown as Job)
  const nowMs = Date.parse(`2026-03-01T${time}Z`)
  const plan = decideCronJob({ cronJob, jobs: observed, missing: new Set(), domain: 'kubernetes.io', level: 37 }, nowMs)
  const started = plan.startMs === undefined ? 'none' : new Date(plan.startMs).toISOString().slice(11, 19)
  return [started, ...plan.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`)]
}

const active = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' }]

test.each<[id: string, what: string, words: Words, time: string, expected: readonly string[]]>([
  [
    'WL-CJ-03',
    'an unknown time zone',
    { spec: { timeZone: 'Mars/Base' } },
    '08:01:00',
    ['none', 'Warning UnknownTimeZone invalid timeZone: "Mars/Base": unknown time zone Mars/Base'],
  ],
  [
    'WL-CJ-04',
    'a zone in the stored schedule',
    { spec: { schedule: `TZ=UTC ${minute}` } },
    '08:01:00',
    [
      '08:01:00',
      `Warning UnsupportedSchedule CRON_TZ or TZ used in schedule "TZ=UTC ${minute}" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    ],
  ],
  [
    'WL-CJ-06',
    'an unreadable schedule',
    { spec: { schedule: 'soon' } },
    '08:01:00',
    ['none', 'Warning UnparseableSchedule unparseable schedule: "soon" : expected exactly 5 fields, found 1: [soon]'],
  ],
  [
    'WL-CJ-09',
    'a run that is later than its deadline',
    { spec: { schedule: '0 9 * * *', startingDeadlineSeconds: 60 } },
    '09:01:01',
    ['none'],
  ],
  [
    'WL-CJ-15',
    'Allow and an active Job',
    { spec: { concurrencyPolicy: 'Allow' }, status: { active }, jobs: ['a'] },
    '08:01:00',
    ['08:01:00'],
  ],
  [
    'WL-CJ-21',
    'a running Job that the status lacks',
    { spec: { suspend: true }, jobs: ['b'] },
    '08:01:00',
    ['none', 'Warning UnexpectedJob Saw a job that the controller did not create or forgot: b'],
  ],
  ['WL-CJ-23', 'a new schedule with a time since the last run', { spec: { schedule: '*/5 * * * *' } }, '08:07:00', ['08:05:00']],
  ['WL-CJ-27', 'an hour of missed runs', {}, '09:00:01', ['09:00:00']],
])('%s: with %s the Job and the events are as expected', (_id, _what, words, time, expected) => {
  expect(decide(words, time)).toEqual(expected)
})

test('WL-CJ-22: a failed Job beyond the limit is deleted and no longer active, without an event about its end', () => {
  const cronJob = {
    metadata: { name: 'c', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { schedule: minute, failedJobsHistoryLimit: 0 },
    status: { active, lastScheduleTime },
  } as unknown as CronJob
  const failed = { metadata: { name: 'a', uid: 'a' }, status: { conditions: [{ type: 'Failed', status: 'True' }] } } as unknown as Job
  const observed = { cronJob, jobs: [failed], missing: new Set<string>(), domain: 'kubernetes.io', level: 37 }
  const { cleaned, events, status, hasNews } = decideCronJob(observed, Date.parse('2026-03-01T08:00:30Z'))
  expect({ cleaned, events, active: status.active, hasNews }).toEqual({ cleaned: [failed], events: [], active: [], hasNews: true })
})
