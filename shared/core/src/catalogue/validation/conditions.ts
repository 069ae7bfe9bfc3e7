import type { FieldError } from '../../meta/status.ts'
import { duplicateValue, invalidValue, requiredValue, tooLongValue, unsupportedValue } from '../../validation/field-errors.ts'
import { type Part, textOf } from '../../validation/part.ts'
import { validateLabelKey } from '../../validation/selector.ts'
import { bytesOf } from '../../validation/texts.ts'
import { isGiven, numberOf, requireText } from './checks.ts'

const conditionStatuses = ['False', 'True', 'Unknown']
const reasonLengthMax = 1024
const messageLengthMax = 32 * 1024
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reasonPattern = new RegExp(`^${reasonFormat}$`)

/** Conditions of the type meta/v1.Condition, which newer kinds share, as in kube-apiserver. */
export function validateSharedConditions(errors: FieldError[], conditions: readonly Part[], path: string): void {
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
