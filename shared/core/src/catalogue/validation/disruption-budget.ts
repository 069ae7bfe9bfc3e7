import type { FieldError } from '../../meta/status.ts'
import { ref } from '../../schema/define.ts'
import { goValue } from '../../schema/go-value.ts'
import { countOrPercent, isGiven, notMoreThanWhole, notNegative, numberOf, requireText } from './checks.ts'
import { duplicateValue, invalidValue, requiredValue, tooLongValue, unsupportedValue } from './field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'
import { validateLabelKey, validateLabelSelector } from './selector.ts'
import { bytesOf } from './texts.ts'

/** The rules of a PodDisruptionBudget's spec. */
export function validateDisruptionBudget(budget: Part): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(budget, 'spec')
  const names = ['minAvailable', 'maxUnavailable']
  if (names.every((name) => isGiven(spec, name))) {
    errors.push(
      invalidValue('spec', goValue(ref('policy/v1.PodDisruptionBudgetSpec'), spec), 'minAvailable and maxUnavailable cannot be both set'),
    )
  }
  for (const name of names.filter((other) => isGiven(spec, other))) {
    countOrPercent(errors, spec, name, 'spec')
    notMoreThanWhole(errors, spec, name, 'spec')
  }
  return [...errors, ...validateLabelSelector(optionalPart(spec, 'selector'), 'spec.selector')]
}

/** The counts and conditions of a PodDisruptionBudget. */
export function validateDisruptionBudgetStatus(budget: Part): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(budget, 'status')
  validateSharedConditions(errors, itemsOf(status, 'conditions'), 'status.conditions')
  notNegative(errors, status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], 'status')
  return errors
}

const conditionStatuses = ['False', 'True', 'Unknown']
const reasonLengthMax = 1024
const messageLengthMax = 32 * 1024
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonPattern = new RegExp(`^${reasonFormat}$`)

/** Conditions of the type that newer kinds share. */
function validateSharedConditions(errors: FieldError[], conditions: readonly Part[], path: string): void {
  const seen = new Set<string>()
  for (const [index, condition] of conditions.entries()) {
    const at = `${path}[${index}]`
    const type = textOf(condition, 'type')
    if (seen.has(type)) errors.push(duplicateValue(`${at}.type`, type))
    seen.add(type)
    errors.push(...validateLabelKey(type, `${at}.type`))
    const status = textOf(condition, 'status')
    if (!conditionStatuses.includes(status)) errors.push(unsupportedValue(`${at}.status`, status, conditionStatuses))
    const generation = numberOf(condition, 'observedGeneration') ?? 0
    if (generation < 0) errors.push(invalidValue(`${at}.observedGeneration`, generation, 'must be greater than or equal to zero'))
    if (!isGiven(condition, 'lastTransitionTime')) errors.push(requiredValue(`${at}.lastTransitionTime`, 'must be set'))
    validateReason(errors, condition, at)
    if (bytesOf(textOf(condition, 'message')) > messageLengthMax) errors.push(tooLongValue(`${at}.message`, messageLengthMax))
  }
}

function validateReason(errors: FieldError[], condition: Part, at: string): void {
  const reason = textOf(condition, 'reason')
  if (!requireText(errors, { part: condition, name: 'reason', at }, 'must be set')) return
  if (!reasonPattern.test(reason)) {
    const rule = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'`
    const detail = `${rule} (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonFormat}')`
    errors.push(invalidValue(`${at}.reason`, reason, detail))
  }
  if (reason.length > reasonLengthMax) errors.push(tooLongValue(`${at}.reason`, reasonLengthMax))
}
