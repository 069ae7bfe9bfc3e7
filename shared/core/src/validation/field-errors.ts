import type { FieldError } from '../meta/status.ts'
import { invalidValue } from '../schema/field-errors.ts'
import { isSame } from './part.ts'

export { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../schema/field-errors.ts'

/** The value takes more bytes than it may. */
export function tooLongValue(field: string, bytesMax: number): FieldError {
  return { reason: 'FieldValueTooLong', field, message: `Too long: must have at most ${bytesMax} bytes` }
}

/** The list has more items than it may. */
export function tooManyValues(field: string, count: number, max: number): FieldError {
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${count}: must have at most ${max} items` }
}

/** One of several texts is wrong; they are all shown. */
export function invalidTexts(field: string, texts: readonly string[], detail: string, type = '[]string'): FieldError {
  const list = texts.map((text) => JSON.stringify(text)).join(', ')
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${type}{${list}}: ${detail}` }
}

/** One error per problem that a check of a text has found. */
export function invalidFor(field: string, value: unknown, problems: readonly string[]): FieldError[] {
  return problems.map((problem) => invalidValue(field, value, problem))
}

/** What was set at creation stays. */
export function immutableValue(field: string, value: unknown, before: unknown): FieldError[] {
  return isSame(value, before) ? [] : [invalidValue(field, value, 'field is immutable')]
}
