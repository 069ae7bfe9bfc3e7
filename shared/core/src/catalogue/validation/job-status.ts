import { ref, time } from '../../description/values.ts'
import { type FieldError, textSince } from '../../meta/index.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { isGiven, numberOf } from './checks.ts'
import { type IndexesReading, parseIndexes } from './job-indexes.ts'

/** The rules of a Job's status besides its counts: uncounted Pods, and facts that other controllers must not break. */
export function validateJobStatus(errors: FieldError[], status: Part, _at: string, context: RuleContext): void {
  const { object: job, live, isGateOn, level } = context
  validateUncounted(errors, status)
  const before = partOf(live, 'status')
  const change = { job, status, before }
  const isStrict = isGateOn('JobManagedBy')
  if (isStrict) validateState(errors, change)
  if (isGateOn('JobSuccessPolicy')) validateSuccess(errors, job, status)
  if (isStrict) validateStep(errors, change, level)
  if (isGateOn('JobSuccessPolicy')) validateSuccessStep(errors, status, before)
}

/** The first level with the present texts. */
const newTextsSince = 34
const isBefore = textSince(newTextsSince, {
  before: 'completionTime cannot be set before startTime',
  after: 'must be equal to or after `startTime`',
})
const isMutated = textSince(newTextsSince, { before: 'completionTime cannot be mutated', after: 'field is immutable' })
const isLeft = textSince(newTextsSince, {
  before: 'uncountedTerminatedPods needs to be empty for finished job',
  after: 'must be empty for finished job',
})

/** The first level at which the start time of a resumed Job may change. */
const resumedSince = 34
/** The first level whose error about a changed start time shows it. */
const startShownSince = 36

/** True if a condition of a status is True. */
export function hasTrue(status: Part, type: string): boolean {
  return hasCondition(status, type, 'True')
}

function hasCondition(status: Part, type: string, value: string): boolean {
  return itemsOf(status, 'conditions').some((one) => textOf(one, 'type') === type && textOf(one, 'status') === value)
}

function validateUncounted(errors: FieldError[], status: Part): void {
  const seen = new Set<string>()
  for (const name of ['succeeded', 'failed']) {
    for (const [index, uid] of itemsOf<string>(partOf(status, 'uncountedTerminatedPods'), name).entries()) {
      const field = `status.uncountedTerminatedPods.${name}[${index}]`
      if (uid === '') errors.push(invalidValue(field, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicateValue(field, uid))
      seen.add(uid)
    }
  }
}

/** No single condition is invalid, so the message shows no value. */
function invalidConditions(detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field: 'status.conditions', message: `Invalid value: ${detail}` }
}

/** A new status, its Job, and the previous status. */
interface StatusChange {
  readonly job: Part
  readonly status: Part
  readonly before: Part
}

const isFinished = (status: Part): boolean => hasTrue(status, 'Complete') || hasTrue(status, 'Failed')

/** Rules about the new status alone. A rule that the previous status broke may be broken again. */
function validateState(errors: FieldError[], change: StatusChange): void {
  const { status, before } = change
  const isChanged = (name: string): boolean => !isSame(status[name], before[name])
  const isTurned = (type: string): boolean => hasTrue(status, type) !== hasTrue(before, type)
  const [isComplete, isFailed] = [hasTrue(status, 'Complete'), hasTrue(status, 'Failed')]
  if ((isTurned('Complete') || isTurned('Failed')) && isComplete && isFailed)
    errors.push(invalidConditions('cannot set Complete=True and Failed=true conditions'))
  if ((isTurned('Complete') || isTurned('FailureTarget')) && isComplete && hasTrue(status, 'FailureTarget'))
    errors.push(invalidConditions('cannot set Complete=True and FailureTarget=true conditions'))
  validateTimes(errors, status, {
    isCompletionNew: isTurned('Complete') || isChanged('completionTime'),
    isStartNew: isChanged('startTime'),
  })
  if ((isTurned('Failed') || isChanged('failedIndexes')) && isFailed && !hasTrue(status, 'FailureTarget'))
    errors.push(invalidConditions('cannot set Failed=True condition without the FailureTarget=true condition'))
  if ((isTurned('Complete') || isTurned('SuccessCriteriaMet')) && isComplete && !hasTrue(status, 'SuccessCriteriaMet'))
    errors.push(invalidConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  validateFinished(errors, change, isChanged)
  validateIndexes(errors, change, isChanged)
  const isEnding = isFinished(status) !== isFinished(before)
  const terminating = numberOf(status, 'terminating') ?? 0
  if ((isEnding || isChanged('terminating')) && terminating > 0 && isFinished(status))
    errors.push(invalidValue('status.terminating', terminating, 'terminating>0 is invalid for finished job'))
  const ready = numberOf(status, 'ready')
  if ((isChanged('ready') || isChanged('active')) && ready !== undefined && ready > (numberOf(status, 'active') ?? 0))
    errors.push(invalidValue('status.ready', ready, 'cannot set more ready pods than active'))
}

function validateTimes(errors: FieldError[], status: Part, { isCompletionNew, isStartNew }: Readonly<Record<string, boolean>>): void {
  const [started, completed] = [textOf(status, 'startTime'), textOf(status, 'completionTime')]
  const isComplete = hasTrue(status, 'Complete')
  const shown = goValue(time(), completed)
  if (isCompletionNew && completed !== '' && !isComplete)
    errors.push(invalidValue('status.completionTime', shown, 'cannot set completionTime when there is no Complete=True condition'))
  if (isCompletionNew && completed === '' && isComplete)
    errors.push(requiredValue('status.completionTime', 'completionTime is required for Complete jobs'))
  const isBackwards = started !== '' && completed !== '' && Date.parse(completed) < Date.parse(started)
  if ((isCompletionNew || isStartNew) && isBackwards) errors.push(invalidValue('status.completionTime', shown, isBefore))
}

type IsChanged = (name: string) => boolean

function validateFinished(errors: FieldError[], { job, status, before }: StatusChange, isChanged: IsChanged): void {
  if (!isFinished(status)) return
  const isEnding = !isFinished(before)
  const active = numberOf(status, 'active') ?? 0
  if ((isEnding || isChanged('active')) && active > 0)
    errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'))
  const spec = partOf(job, 'spec')
  const hasNothingToDo = spec['suspend'] === true && Number(numberOf(spec, 'completions') ?? 1) === 0
  if ((isEnding || isChanged('startTime')) && !hasNothingToDo && !isGiven(status, 'startTime'))
    errors.push(requiredValue('status.startTime', 'startTime is required for finished job'))
  const uncounted = optionalPart(status, 'uncountedTerminatedPods')
  const isUncounted = ['succeeded', 'failed'].some((name) => itemsOf(uncounted, name).length > 0)
  if ((isEnding || isChanged('uncountedTerminatedPods')) && isUncounted) {
    const shown = goValue(ref('batch/v1.UncountedTerminatedPods'), uncounted)
    errors.push(invalidValue('status.uncountedTerminatedPods', shown, isLeft))
  }
}

function validateIndexes(errors: FieldError[], { job, status }: StatusChange, isChanged: IsChanged): void {
  const spec = partOf(job, 'spec')
  const completions = Number(numberOf(spec, 'completions') ?? 0)
  const read = (name: string): IndexesReading => parseIndexes(textOf(status, name), completions)
  const validate = (name: string): void => {
    const reading = read(name)
    if (!isChanged(name) || reading.kind === 'indexes') return
    errors.push(invalidValue(`status.${name}`, textOf(status, name), `error parsing ${name}: ${reading.problem}`))
  }
  const hasLimit = isGiven(spec, 'backoffLimitPerIndex')
  if (isGiven(spec, 'completions')) validate('completedIndexes')
  if (isGiven(spec, 'completions') && hasLimit) validate('failedIndexes')
  const completed = textOf(status, 'completedIndexes')
  if (isChanged('completedIndexes') && completed !== '' && textOf(spec, 'completionMode') !== 'Indexed') {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    errors.push(invalidValue('status.completedIndexes', completed, detail))
  }
  const failed = textOf(status, 'failedIndexes')
  if (isChanged('failedIndexes') && isGiven(status, 'failedIndexes') && !hasLimit)
    errors.push(invalidValue('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'))
  if (!isChanged('failedIndexes') && !isChanged('completedIndexes')) return
  const shared = isGiven(spec, 'completions') ? findShared(read('completedIndexes'), read('failedIndexes')) : undefined
  if (shared !== undefined)
    errors.push(invalidValue('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${shared}`))
}

/** The first index in both; undefined if there is none or one of them is malformed. */
function findShared(completed: IndexesReading, failed: IndexesReading): number | undefined {
  if (completed.kind === 'malformed' || failed.kind === 'malformed') return undefined
  let next = 0
  for (const [first, last] of completed.intervals) {
    for (; next < failed.intervals.length; next++) {
      const [other = 0, otherLast = 0] = failed.intervals[next] ?? []
      if (other > last) break
      if (otherLast >= first) return Math.max(first, other)
    }
  }
  return undefined
}

function validateSuccess(errors: FieldError[], job: Part, status: Part): void {
  const isMet = hasTrue(status, 'SuccessCriteriaMet')
  if (isMet && hasTrue(status, 'Failed')) errors.push(invalidConditions('cannot set SuccessCriteriaMet=True and Failed=true conditions'))
  if (isMet && hasTrue(status, 'FailureTarget'))
    errors.push(invalidConditions('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  if (isGiven(partOf(job, 'spec'), 'successPolicy') && !isMet && hasTrue(status, 'Complete'))
    errors.push(invalidConditions('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
}

/** Rules about the change of a status: terminal conditions stay, counters grow, times stay. */
function validateStep(errors: FieldError[], { job, status, before }: StatusChange, level: number): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (hasTrue(before, type) && !hasTrue(status, type))
      errors.push(invalidConditions(`cannot disable the terminal ${type}=True condition`))
  }
  const spec = partOf(job, 'spec')
  const isElastic = textOf(spec, 'completionMode') === 'Indexed' && isSame(spec['completions'], spec['parallelism'])
  for (const name of isElastic ? ['failed'] : ['failed', 'succeeded']) {
    const count = numberOf(status, name) ?? 0
    if (count < (numberOf(before, name) ?? 0)) errors.push(invalidValue(`status.${name}`, count, `cannot decrease the ${name} counter`))
  }
  const isMoved = (name: string): boolean => isGiven(before, name) && !isSame(status[name], before[name])
  if (isMoved('completionTime') && isGiven(status, 'completionTime'))
    errors.push(invalidValue('status.completionTime', goValue(time(), status['completionTime']), isMutated))
  const isResumed = level >= resumedSince && hasTrue(before, 'Suspended') && hasCondition(status, 'Suspended', 'False')
  if (isMoved('startTime') && !isResumed && spec['suspend'] !== true) {
    const detail = 'field is immutable for unsuspended job once set'
    const [field, shown] = ['status.startTime', goValue(time(), status['startTime'])]
    if (level < startShownSince) errors.push(requiredValue(field, 'startTime cannot be removed for unsuspended job'))
    else errors.push(invalidValue(field, shown, detail))
  }
}

function validateSuccessStep(errors: FieldError[], status: Part, before: Part): void {
  const [isMet, wasMet] = [hasTrue(status, 'SuccessCriteriaMet'), hasTrue(before, 'SuccessCriteriaMet')]
  if (wasMet && !isMet) errors.push(invalidConditions('cannot disable the SuccessCriteriaMet=True condition'))
  if (hasTrue(before, 'Complete') && !wasMet && isMet)
    errors.push(invalidConditions('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
}
