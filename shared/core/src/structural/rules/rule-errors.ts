import type { FieldError, PlainFieldError } from '../../meta/status.ts'
import { fieldError, invalid } from '../field-path.ts'
import type { ExpressionRule } from '../schema.ts'

/** The name of a rule for messages. */
export function ruleText({ rule, message }: ExpressionRule): string {
  return (message ?? rule).trim()
}

/** The message of a violated rule. */
export function messageOf(rule: ExpressionRule): string {
  return rule.message === undefined ? `failed rule: ${ruleText(rule)}` : rule.message.trim()
}

/** The error of a rule that could not be evaluated. */
export function brokenRule(field: string, value: unknown, detail: string): PlainFieldError {
  return isShown(value) ? invalid(field, value, detail) : hidden('FieldValueInvalid', field, `Invalid value: ${detail}`)
}

/** The error of an exhausted budget. */
export function outOfBudget(field: string, value: unknown): PlainFieldError {
  return brokenRule(field, value, 'validation failed due to running out of cost budget, no further validation rules will be run')
}

/** The error of a violated rule, with the reason that it states. */
export function failedRule(field: string, value: unknown, detail: string, reason: string | undefined): PlainFieldError {
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
      return brokenRule(field, value, detail)
  }
}

/** Objects and lists are omitted from messages, since they may be large. */
function isShown(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function hidden(reason: FieldError['reason'], field: string, message: string): PlainFieldError {
  return { reason, field, message }
}
