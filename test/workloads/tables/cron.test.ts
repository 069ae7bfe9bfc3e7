import { type CronSchedule, findScheduleProblem, nextTime, parseSchedule } from '@orch/core/cron'
import { findMissedTimes, jobOf, nextLookMs } from '@orch/core/workloads'
import { expect, test } from 'vitest'
import { byId, type Row, rowsOf } from './rows.ts'

interface ScheduleRow extends Row {
  readonly schedule: string
  readonly timeZone?: string
}

interface NextRow extends ScheduleRow {
  readonly from: string
  readonly next: readonly string[]
}

interface ErrorRow extends ScheduleRow {
  readonly error?: string
}

interface MissedRow extends ScheduleRow {
  readonly created: string
  readonly now: string
  readonly lastScheduleTime?: string
  readonly startingDeadlineSeconds?: number
  readonly missed: string
  readonly mostRecent?: string
  readonly requeueAfter: string
  readonly error?: string
}

const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z'))

function scheduleOf(text: string): CronSchedule {
  const parsed = parseSchedule(text)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}

function timesAfter(text: string, from: string, count: number): (string | undefined)[] {
  const schedule = scheduleOf(text)
  let ms: number | undefined = Date.parse(from)
  return Array.from({ length: count }, () => {
    ms = ms === undefined ? undefined : nextTime(schedule, ms)
    return timeOf(ms)
  })
}

const zoned = ({ schedule, timeZone }: ScheduleRow) => (timeZone === undefined ? schedule : `TZ=${timeZone} ${schedule}`)

test('WL-CJ-01, WL-CJ-02, WL-CJ-05: the next times of schedules equal those of kube-controller-manager', () => {
  const rows = rowsOf<NextRow>('cron', 'next')
  expect(byId(rows, (row) => timesAfter(zoned(row), row.from, row.next.length))).toEqual(byId(rows, ({ next }) => next))
})

test('WL-CJ-01: invalid schedules have the errors of kube-controller-manager', () => {
  const rows = [...rowsOf<ErrorRow>('cron', 'parse'), ...rowsOf<ErrorRow>('cron', 'parseError')]
  expect(byId(rows, ({ schedule }) => findScheduleProblem(schedule))).toEqual(byId(rows, ({ error }) => error))
})

test('WL-CJ-07, WL-CJ-08, WL-CJ-10: missed times and the next check equal those of kube-controller-manager', () => {
  const rows = rowsOf<MissedRow>('cron', 'missed')
  const found = byId(rows, (row) => {
    const schedule = scheduleOf(row.schedule)
    const state = {
      createdMs: Date.parse(row.created),
      lastScheduleMs: row.lastScheduleTime === undefined ? undefined : Date.parse(row.lastScheduleTime),
      startingDeadlineSeconds: row.startingDeadlineSeconds,
    }
    const nowMs = Date.parse(row.now)
    const times = findMissedTimes(schedule, state, { nowMs, isDeadlineUsed: true })
    if (times === undefined) return { hasNone: true, look: nextLookMs(schedule, state, nowMs) }
    return { missed: times.missed, mostRecent: timeOf(times.mostRecentMs), look: nextLookMs(schedule, state, nowMs) }
  })
  const expected = byId(rows, ({ error, missed, mostRecent, requeueAfter }) =>
    error === undefined ? { missed, mostRecent, look: toMs(requeueAfter) } : { hasNone: true, look: undefined },
  )
  expect(found).toEqual(expected)
})

test.each([
  [
    'a zone whose clock goes back by half an hour',
    'TZ=Australia/Lord_Howe 45 1 * * *',
    '2026-04-04T00:00:00Z',
    ['2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z'],
  ],
  ['a Sunday without midnight', 'TZ=Asia/Beirut 0 5 * * SUN', '2026-03-25T00:00:00Z', ['2026-04-05T02:00:00Z']],
])('WL-CJ-05: %s has the times of the cron library', (_what, schedule, from, expected) => {
  expect(timesAfter(schedule, from, expected.length)).toEqual(expected)
})

test('WL-CJ-08: the last of very many missed times is found without computing each', () => {
  const schedule = scheduleOf('* * * 1 *')
  const state = { createdMs: Date.parse('2026-01-31T23:58:00Z'), lastScheduleMs: undefined, startingDeadlineSeconds: undefined }
  const times = findMissedTimes(schedule, state, { nowMs: Date.parse('2027-01-31T22:00:30Z'), isDeadlineUsed: true })
  expect(timeOf(times?.mostRecentMs)).toBe('2027-01-31T22:00:00Z')
})

interface NameRow extends Row {
  readonly cronJob: string
  readonly scheduledTime: string
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
}

/** The metadata of a CronJob's Job. */
function metadataOfJob(cronJob: string, time: string, timeZone?: string) {
  const metadata = { name: cronJob }
  const template = { metadata: {}, spec: { containers: [] } }
  const spec = { schedule: '* * * * *', jobTemplate: { metadata: {}, spec: { template } }, ...(timeZone !== undefined && { timeZone }) }
  const annotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
  return jobOf({ apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec, status: {} }, Date.parse(time), { annotation, level: 37 })
    .metadata
}

test('WL-CJ-11, WL-HASH-21: names and annotations of Jobs equal those of kube-controller-manager', () => {
  const rows = rowsOf<NameRow>('cron', 'jobName')
  const found = byId(rows, ({ cronJob, scheduledTime }) => {
    const { name, annotations } = metadataOfJob(cronJob, scheduledTime)
    return { name, annotations }
  })
  expect(found).toEqual(byId(rows, ({ name, annotations }) => ({ name, annotations })))
  expect(Object.values(metadataOfJob('nightly', '2026-11-28T08:35:00Z', 'Asia/Kathmandu').annotations)).toEqual([
    '2026-11-28T14:20:00+05:45',
  ])
})

function toMs(text: string): number {
  const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(text) ?? []
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000)
}
