import type { FieldError, PlainFieldError } from '../../meta/status.ts'
import { fieldError, invalid } from '../field-path.ts'
import type { ExpressionRule, StructuralSchema } from '../schema.ts'

/** The name of a rule for messages. */
export function ruleText({ rule, message }: ExpressionRule): string {
  return (message ?? rule).trim()
}

/** The message of a violated rule. */
export function messageOf(rule: ExpressionRule): string {
  return rule.message === undefined ? `failed rule: ${ruleText(rule)}` : rule.message.trim()
}

/** The error of a rule that could not be evaluated. The message names the type of the value. */
export function brokenRule(field: string, { type }: StructuralSchema, detail: string): PlainFieldError {
  return invalid(field, type ?? '', detail)
}

/** The error of an exhausted budget. */
export function outOfBudget(field: string, schema: StructuralSchema): PlainFieldError {
  return brokenRule(field, schema, 'validation failed due to running out of cost budget, no further validation rules will be run')
}

/** The first level at which the message of a violated rule has the value; before, it has the type. */
const valueSince = 35

/** A value that violates a rule. */
interface Violation {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly level: number
}

/** The error of a violated rule, with the reason that it states. */
export function failedRule(field: string, violation: Violation, detail: string, reason: string | undefined): PlainFieldError {
  const value = violation.level < valueSince ? (violation.schema.type ?? '') : violation.value
  switch (reason) {
    case 'FieldValueForbidden':
      return hidden(reason, field, `Forbidden: ${detail}`)
    case 'FieldValueRequired':
      return hidden(reason, field, `Required value: ${detail}`)
    case 'FieldValueDuplicate':
      return isShown(value)
        ? fieldError(reason, field, { title: 'Duplicate value', value, detail: '' })
        : hidden(reason, field, 'Duplicate value')
    default:
      return isShown(value) ? invalid(field, value, detail) : hidden('FieldValueInvalid', field, `Invalid value: ${detail}`)
  }
}

/** Objects and lists are omitted from messages, since they may be large. */
function isShown(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function hidden(reason: FieldError['reason'], field: string, message: string): PlainFieldError {
  return { reason, field, message }
}
