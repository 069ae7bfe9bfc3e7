import { int32, list } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidValue, requiredValue, tooManyValues, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf, textsOf } from '../../validation/part.ts'
import { validateLabelKey } from '../../validation/selector.ts'

const rulesMax = 20
const exitCodesMax = 255
const patternsMax = 20
const actions = ['Count', 'FailJob', 'Ignore']
const conditionStatuses = ['False', 'True', 'Unknown']

/** What becomes of a Job when one of its Pods fails: the first rule that fits says. */
export function validateFailurePolicy(errors: FieldError[], policy: Part, spec: Part, path: string): void {
  const rules = itemsOf(policy, 'rules')
  if (rules.length > rulesMax) errors.push(tooManyValues(`${path}.rules`, rules.length, rulesMax))
  const podSpec = partOf(partOf(spec, 'template'), 'spec')
  const names = textsOf([...itemsOf(podSpec, 'containers'), ...itemsOf(podSpec, 'initContainers')], 'name')
  for (const [index, rule] of rules.entries()) validateRule(errors, rule, names, `${path}.rules[${index}]`)
}

function validateRule(errors: FieldError[], rule: Part, names: ReadonlySet<string>, at: string): void {
  const action = textOf(rule, 'action')
  requireWord(errors, action, `${at}.action`, actions)
  const codes = optionalPart(rule, 'onExitCodes')
  if (codes !== undefined) validateExitCodes(errors, codes, names, `${at}.onExitCodes`)
  const patterns = itemsOf(rule, 'onPodConditions')
  if (patterns.length > patternsMax) errors.push(tooManyValues(`${at}.onPodConditions`, patterns.length, patternsMax))
  for (const [index, pattern] of patterns.entries()) {
    errors.push(...validateLabelKey(textOf(pattern, 'type'), `${at}.onPodConditions[${index}].type`))
    requireWord(errors, textOf(pattern, 'status'), `${at}.onPodConditions[${index}].status`, conditionStatuses)
  }
  if (codes !== undefined && patterns.length > 0) {
    errors.push(invalidCombination(at, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  }
  if (codes === undefined && patterns.length === 0) {
    errors.push(invalidCombination(at, 'specifying one of OnExitCodes and OnPodConditions is required'))
  }
}

function requireWord(errors: FieldError[], word: string, field: string, words: readonly string[]): void {
  if (word === '') errors.push(requiredValue(field, `valid values: [${words.map((known) => JSON.stringify(known)).join(' ')}]`))
  else if (!words.includes(word)) errors.push(unsupportedValue(field, word, words))
}

/** No single value is wrong, so none is shown. */
function invalidCombination(field: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` }
}

function validateExitCodes(errors: FieldError[], codes: Part, names: ReadonlySet<string>, at: string): void {
  requireWord(errors, textOf(codes, 'operator'), `${at}.operator`, ['In', 'NotIn'])
  const name = codes['containerName']
  if (typeof name === 'string' && !names.has(name)) {
    errors.push(invalidValue(`${at}.containerName`, name, 'must be one of the container or initContainer names in the pod template'))
  }
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
