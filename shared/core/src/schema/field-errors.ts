import { type FieldError, joinTexts, type LevelText, type PlainFieldError } from '../meta/index.ts'
import { printFieldValue } from './go-value.ts'

/** The field is absent or empty. */
export function requiredValue(field: string, detail?: LevelText): FieldError {
  return {
    reason: 'FieldValueRequired',
    field,
    message: detail === undefined ? 'Required value' : joinTexts(['Required value', detail], ': '),
  }
}

/** The value is not one of the allowed values. */
export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ')
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: joinTexts(['Unsupported value', printFieldValue(value), `supported values: ${list}`], ': '),
  }
}

/** The value has the right type but is invalid. */
export function invalidValue(field: string, value: string | number | boolean, detail?: string): PlainFieldError
export function invalidValue(field: string, value: unknown, detail?: LevelText): FieldError
export function invalidValue(field: string, value: unknown, detail?: LevelText): FieldError {
  const texts = ['Invalid value', printFieldValue(value), ...(detail === undefined ? [] : [detail])]
  return { reason: 'FieldValueInvalid', field, message: joinTexts(texts, ': ') }
}

/** The field is not allowed here. */
export function forbiddenValue(field: string, detail: LevelText): FieldError {
  return { reason: 'FieldValueForbidden', field, message: joinTexts(['Forbidden', detail], ': ') }
}

export function duplicateValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: joinTexts(['Duplicate value', printFieldValue(value)], ': ') }
}
