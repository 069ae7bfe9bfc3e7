import type { FieldError } from '../../meta/status.ts'
import { isGiven, notNegative, requireOneOf, requireText } from './checks.ts'
import { findScheduleProblem, isTimeZone } from './cron-schedule.ts'
import { invalidValue, unsupportedValue } from './field-errors.ts'
import { goLabelSelector, invalidGoValue } from './go-values.ts'
import { validateJobSpec } from './job.ts'
import { type Part, partOf, textOf } from './part.ts'

/** A Job gets the name of its CronJob and eleven characters more. */
const nameLengthMax = 52

/** The rules of a CronJob. */
export function validateCronJob(cronJob: Part): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(cronJob, 'spec')
  if (requireText(errors, spec, 'schedule', 'spec')) validateSchedule(errors, spec)
  notNegative(errors, spec, ['startingDeadlineSeconds'], 'spec')
  if (isGiven(spec, 'timeZone')) validateTimeZone(errors, textOf(spec, 'timeZone'))
  requireOneOf(errors, spec, 'concurrencyPolicy', 'spec', ['Allow', 'Forbid', 'Replace'])
  validateTemplate(errors, partOf(partOf(spec, 'jobTemplate'), 'spec'), 'spec.jobTemplate.spec')
  notNegative(errors, spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec')
  const name = textOf(partOf(cronJob, 'metadata'), 'name')
  if (name.length > nameLengthMax) errors.push(invalidValue('metadata.name', name, `must be no more than ${nameLengthMax} characters`))
  return errors
}

function validateSchedule(errors: FieldError[], spec: Part): void {
  const schedule = textOf(spec, 'schedule')
  const problem = findScheduleProblem(schedule)
  if (problem !== undefined) errors.push(invalidValue('spec.schedule', schedule, problem))
  if (schedule.includes('TZ') && isGiven(spec, 'timeZone')) {
    errors.push(invalidValue('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
}

function validateTimeZone(errors: FieldError[], name: string): void {
  const refuse = (detail: string): void => void errors.push(invalidValue('spec.timeZone', name, detail))
  if (name === '') refuse('timeZone must be nil or non-empty string')
  else if (name.toLowerCase() === 'local') {
    refuse('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  } else if (!isTimeZone(name)) refuse(`unknown time zone ${name}`)
}

/** The selector of each Job is made when the Job is. */
function validateTemplate(errors: FieldError[], spec: Part, path: string): void {
  if (isGiven(spec, 'selector')) {
    errors.push(invalidGoValue(`${path}.selector`, goLabelSelector(partOf(spec, 'selector')), '`selector` will be auto-generated'))
  }
  if (spec['manualSelector'] === true) errors.push(unsupportedValue(`${path}.manualSelector`, true, ['nil', 'false']))
  validateJobSpec(errors, spec, path)
}
