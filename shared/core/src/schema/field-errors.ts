import type { FieldError } from '../meta/status.ts'
import { printFieldValue } from './go-value.ts'

/** The field is absent or empty though it may not be. */
export function requiredValue(field: string, detail?: string): FieldError {
  return { reason: 'FieldValueRequired', field, message: detail === undefined ? 'Required value' : `Required value: ${detail}` }
}

/** The value is none of those that are allowed. */
export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ')
  return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: ${printFieldValue(value)}: supported values: ${list}` }
}

/** The value is of the right type and yet wrong. */
export function invalidValue(field: string, value: unknown, detail?: string): FieldError {
  const message = `Invalid value: ${printFieldValue(value)}`
  return { reason: 'FieldValueInvalid', field, message: detail === undefined ? message : `${message}: ${detail}` }
}

/** The field may not be there. */
export function forbiddenValue(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` }
}

/** The value stands there a second time. */
export function duplicateValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${printFieldValue(value)}` }
}
