import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, type Part, partOf, textOf } from '../../validation/part.ts'
import { isGiven, notNegative, requireOneOf, requireText } from './checks.ts'
import { findScheduleProblem, findZoneProblem } from './cron-schedule.ts'
import { validateJobSpec } from './job.ts'

/** A Job gets the name of its CronJob and eleven characters more. */
const nameLengthMax = 52

/** The rules of a CronJob. */
export function validateCronJob(cronJob: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(cronJob, 'spec')
  if (requireText(errors, { part: spec, name: 'schedule', at: 'spec' })) validateSchedule(errors, spec)
  notNegative(errors, spec, ['startingDeadlineSeconds'], 'spec')
  const isSameZone = live !== undefined && isSame(partOf(live, 'spec')['timeZone'], spec['timeZone'])
  if (isGiven(spec, 'timeZone') && !isSameZone) validateTimeZone(errors, textOf(spec, 'timeZone'))
  requireOneOf(errors, { part: spec, name: 'concurrencyPolicy', at: 'spec' }, ['Allow', 'Forbid', 'Replace'])
  validateTemplate(errors, partOf(partOf(spec, 'jobTemplate'), 'spec'), { path: 'spec.jobTemplate.spec', names })
  notNegative(errors, spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec')
  const name = textOf(partOf(cronJob, 'metadata'), 'name')
  if (live === undefined && name.length > nameLengthMax)
    errors.push(invalidValue('metadata.name', name, `must be no more than ${nameLengthMax} characters`))
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
  if (name === '') {
    refuse('timeZone must be nil or non-empty string')
    return
  }
  if (name.split('/').some((part) => part === '.' || part === '..' || part.startsWith('-') || !/^[-A-Za-z._0-9+]{1,14}$/.test(part))) {
    refuse(`unknown time zone ${name}`)
    return
  }
  if (name.toLowerCase() === 'local') refuse('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  const problem = findZoneProblem(name)
  if (problem !== undefined) refuse(problem)
}

/** The selector of each Job is made when the Job is. */
function validateTemplate(errors: FieldError[], spec: Part, { path, names }: { path: string; names: Names }): void {
  validateJobSpec(errors, spec, { path, names })
  if (isGiven(spec, 'selector')) {
    errors.push(
      invalidValue(
        `${path}.selector`,
        goValue(ref('meta/v1.LabelSelector'), partOf(spec, 'selector')),
        '`selector` will be auto-generated',
      ),
    )
  }
  if (spec['manualSelector'] === true) errors.push(unsupportedValue(`${path}.manualSelector`, true, ['nil', 'false']))
}
