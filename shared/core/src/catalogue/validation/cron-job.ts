import { findScheduleProblem } from '../../cron/schedule.ts'
import { findZoneProblem } from '../../cron/zones.ts'
import { ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { isGiven } from './checks.ts'

/** The maximum length of a CronJob's name. Its Jobs have the same name with eleven more characters. */
const nameLengthMax = 52

export const cronJobRules: Readonly<Record<string, TypeRules>> = {
  'batch/v1.CronJob': ['spec', validateName],
  'batch/v1.CronJobSpec': ['schedule', validateSchedule, 'startingDeadlineSeconds', validateTimeZone, 'concurrencyPolicy', 'jobTemplate'],
  'batch/v1.JobTemplateSpec': ['spec', refuseSelector],
}

function validateName(errors: FieldError[], cronJob: Part, _at: string, { live }: RuleContext): void {
  const name = textOf(partOf(cronJob, 'metadata'), 'name')
  if (live !== undefined || name.length <= nameLengthMax) return
  errors.push(invalidValue('metadata.name', name, `must be no more than ${nameLengthMax} characters`))
}

/** The first level that refuses time zones in schedules, unless the live schedule has one. */
export const zonesRefusedSince = 29

function validateSchedule(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const schedule = textOf(spec, 'schedule')
  if (schedule === '') return
  const problem = findScheduleProblem(schedule)
  if (problem !== undefined) errors.push(invalidValue('spec.schedule', schedule, problem))
  if (!schedule.includes('TZ')) return
  const mayHaveZone = context.level < zonesRefusedSince || textOf(liveAt(context, at), 'schedule').includes('TZ')
  if (!mayHaveZone) errors.push(invalidValue('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (isGiven(spec, 'timeZone')) {
    errors.push(invalidValue('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
}

/** The first level that restricts the characters of a time zone's name. */
const restrictedZonesSince = 27

function validateTimeZone(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const isSameZone = context.live !== undefined && isSame(liveAt(context, at)['timeZone'], spec['timeZone'])
  if (!isGiven(spec, 'timeZone') || isSameZone) return
  const name = textOf(spec, 'timeZone')
  const refuse = (detail: string): void => void errors.push(invalidValue('spec.timeZone', name, detail))
  if (name === '') {
    refuse('timeZone must be nil or non-empty string')
    return
  }
  const isRestricted = context.level >= restrictedZonesSince
  if (
    isRestricted &&
    name.split('/').some((part) => part === '.' || part === '..' || part.startsWith('-') || !/^[-A-Za-z._0-9+]{1,14}$/.test(part))
  ) {
    refuse(`unknown time zone ${name}`)
    return
  }
  if (name.toLowerCase() === 'local') refuse('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  const problem = findZoneProblem(name)
  if (problem !== undefined) refuse(problem)
}

/** The selector of a Job can only be generated when the Job is created. */
function refuseSelector(errors: FieldError[], template: Part, at: string): void {
  const spec = partOf(template, 'spec')
  const selector = optionalPart(spec, 'selector')
  const path = `${at}.spec`
  if (selector !== undefined) {
    errors.push(invalidValue(`${path}.selector`, goValue(ref('meta/v1.LabelSelector'), selector), '`selector` will be auto-generated'))
  }
  if (spec['manualSelector'] === true) errors.push(unsupportedValue(`${path}.manualSelector`, true, ['nil', 'false']))
}
