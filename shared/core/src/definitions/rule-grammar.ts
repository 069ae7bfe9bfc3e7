import type { FieldError } from '../meta/status.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../validation/field-errors.ts'
import { followSchemaPath } from './schema-path.ts'
import type { SchemaProps, ValidationRule } from './schema-props.ts'
import { findUnsupported } from './structural-grammar.ts'

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** The rules of `x-kubernetes-validations` that do not depend on the expressions. */
export function validateRuleTexts(schema: SchemaProps, at: string): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  if (rules.length === 0) return []
  // The check walks over the schema, and many rules may have the same path.
  const canBeFollowed = rules.some(({ fieldPath = '' }) => fieldPath !== '') && findUnsupported(schema) === undefined
  return rules.flatMap((rule, index) => {
    const place = `${at}.x-kubernetes-validations[${index}]`
    const followed = canBeFollowed ? schema : undefined
    return [...checkTexts(rule, place), ...checkFieldPath(rule.fieldPath ?? '', followed, `${place}.fieldPath`)]
  })
}

function checkTexts({ rule = '', message = '', messageExpression = '', reason }: ValidationRule, at: string): FieldError[] {
  const errors: FieldError[] = []
  if (rule.trim() === '') errors.push(requiredValue(`${at}.rule`, 'rule is not specified'))
  else errors.push(...checkMessage(message, rule, `${at}.message`))
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(requiredValue(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(unsupportedValue(`${at}.reason`, reason, reasons))
  return errors
}

function checkMessage(message: string, rule: string, field: string): FieldError[] {
  const trimmed = message.trim()
  if (message !== '' && trimmed === '') return [invalidValue(field, message, 'must be non-empty if specified')]
  if (hasLineBreaks(trimmed)) return [invalidValue(field, message, 'must not contain line breaks')]
  return trimmed === '' && hasLineBreaks(rule.trim())
    ? [requiredValue(field, 'message must be specified if rule contains line breaks')]
    : []
}

function checkFieldPath(path: string, schema: SchemaProps | undefined, field: string): FieldError[] {
  if (path === '') return []
  const errors = path.trim() === '' ? [invalidValue(field, path, 'must be non-empty if specified')] : []
  if (hasLineBreaks(path)) errors.push(invalidValue(field, path, 'must not contain line breaks'))
  const isWrong = schema !== undefined && followSchemaPath(path, schema).kind === 'wrong'
  return isWrong ? [...errors, invalidValue(field, path, 'must be a valid path')] : errors
}

function hasLineBreaks(text: string): boolean {
  return /[\n\r]/.test(text)
}
