import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue, tooLongValue, tooManyValues } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../validation/part.ts'
import { bytesOf } from '../../validation/texts.ts'
import { isGiven, notNegative, numberOf } from './checks.ts'
import { parseIndexes } from './job-indexes.ts'

const rulesMax = 20
const indexesBytesMax = 64 * 1024

/** The rules by which an Indexed Job can succeed before all its indexes do. */
export function validateSuccessPolicy(errors: FieldError[], spec: Part, at: string): void {
  const path = `${at}.successPolicy`
  const policy = optionalPart(spec, 'successPolicy')
  if (policy === undefined) return
  if (textOf(spec, 'completionMode') !== 'Indexed') {
    errors.push(invalidValue(path, goValue(ref('batch/v1.SuccessPolicy'), policy), 'requires indexed completion mode'))
    return
  }
  const rules = itemsOf(policy, 'rules')
  const field = `${path}.rules`
  if (rules.length === 0) errors.push(requiredValue(field, 'at least one rules must be specified when the successPolicy is specified'))
  if (rules.length > rulesMax) errors.push(tooManyValues(field, rules.length, rulesMax))
  const completions = Number(numberOf(spec, 'completions') ?? 0)
  for (const [index, rule] of rules.entries()) validateRule(errors, rule, completions, `${field}[${index}]`)
}

function validateRule(errors: FieldError[], rule: Part, completions: number, at: string): void {
  const hasIndexes = isGiven(rule, 'succeededIndexes')
  const count = numberOf(rule, 'succeededCount')
  if (count === undefined && !hasIndexes)
    errors.push(requiredValue(at, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total = 0
  if (hasIndexes) {
    const text = textOf(rule, 'succeededIndexes')
    const field = `${at}.succeededIndexes`
    if (bytesOf(text) > indexesBytesMax) errors.push(tooLongValue(field, indexesBytesMax))
    const reading = parseIndexes(text, completions)
    if (reading.kind === 'malformed') errors.push(invalidValue(field, text, `error parsing succeededIndexes: ${reading.problem}`))
    else total = reading.intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }
  if (count === undefined) return
  notNegative(errors, rule, ['succeededCount'], at)
  const notAbove = (max: number, what: string): void => {
    const detail = `must be less than or equal to ${max} (the number of ${what})`
    if (count > max) errors.push(invalidValue(`${at}.succeededCount`, count, detail))
  }
  notAbove(completions, 'specified completions')
  if (hasIndexes) notAbove(total, 'indexes in the specified succeededIndexes field')
}
