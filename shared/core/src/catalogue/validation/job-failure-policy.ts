import { int32, list } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidValue, tooManyValues } from '../../validation/field-errors.ts'
import { itemsOf, type Part, repeatedPlaces, textOf, textsOf } from '../../validation/part.ts'
import { partAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { isGiven } from './checks.ts'

const exitCodesMax = 255

/** The failure policy of a Job: the first rule that matches a failed Pod decides. */
export const failurePolicyRules: Readonly<Record<string, TypeRules>> = {
  'batch/v1.PodFailurePolicyRule': ['action', validateIndexLimit, 'onExitCodes', 'onPodConditions', validateRequirements],
  'batch/v1.PodFailurePolicyOnExitCodesRequirement': ['operator', validateContainer, validateExitCodes],
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': ['type', 'status'],
}

/** The action FailIndex requires `backoffLimitPerIndex`. */
function validateIndexLimit(errors: FieldError[], rule: Part, at: string, { object }: RuleContext): void {
  const action = textOf(rule, 'action')
  if (action !== 'FailIndex' || isGiven(partAt(object, at.slice(0, at.lastIndexOf('.podFailurePolicy'))), 'backoffLimitPerIndex')) return
  errors.push(invalidValue(`${at}.action`, action, 'requires the backoffLimitPerIndex to be set'))
}

/** No single value is invalid, so the message shows no value. */
function validateRequirements(errors: FieldError[], rule: Part, field: string): void {
  const refuse = (detail: string): void => void errors.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` })
  const [hasCodes, hasPatterns] = [isGiven(rule, 'onExitCodes'), itemsOf(rule, 'onPodConditions').length > 0]
  if (hasCodes && hasPatterns) refuse('specifying both OnExitCodes and OnPodConditions is not supported')
  if (!hasCodes && !hasPatterns) refuse('specifying one of OnExitCodes and OnPodConditions is required')
}

function validateContainer(errors: FieldError[], codes: Part, at: string, { object }: RuleContext): void {
  const name = codes['containerName']
  if (typeof name !== 'string') return
  const podSpec = partAt(object, `${at.slice(0, at.lastIndexOf('.podFailurePolicy'))}.template.spec`)
  if (textsOf([...itemsOf(podSpec, 'containers'), ...itemsOf(podSpec, 'initContainers')], 'name').has(name)) return
  errors.push(invalidValue(`${at}.containerName`, name, 'must be one of the container or initContainer names in the pod template'))
}

function validateExitCodes(errors: FieldError[], codes: Part, at: string): void {
  const values = itemsOf<number>(codes, 'values')
  if (values.length === 0)
    errors.push(invalidValue(`${at}.values`, goValue(list(int32()), codes['values']), 'at least one value is required'))
  if (values.length > exitCodesMax) errors.push(tooManyValues(`${at}.values`, values.length, exitCodesMax))
  const repeated = repeatedPlaces(values)
  for (const [index, value] of values.entries()) {
    if (value === 0 && textOf(codes, 'operator') === 'In') {
      errors.push(invalidValue(`${at}.values[${index}]`, 0, 'must not be 0 for the In operator'))
    }
    if (repeated.has(index)) errors.push(duplicateValue(`${at}.values[${index}]`, value))
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value)
  if (!isOrdered) errors.push(invalidValue(`${at}.values`, goValue(list(int32()), codes['values']), 'must be ordered'))
}
