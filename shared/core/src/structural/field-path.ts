import type { FieldError, PlainFieldError } from '../meta/status.ts'
import { shownValue } from './go-text.ts'

/** The field of an error that is about no field, as kube-apiserver prints it. */
export const noField = '<nil>'

/** `spec.items[0].name`; keys of maps are joined like names, as kube-apiserver's validation of values does. */
export function joinedPath(names: readonly (string | number)[]): string {
  let path = ''
  for (const name of names) path += typeof name === 'number' ? `[${name}]` : path === '' ? name : `.${name}`
  return path
}

/** The error of a value. */
interface Finding {
  readonly title: string
  readonly value: unknown
  readonly detail: string
}

/** An error about a field; `value` is shown. */
export function fieldError(reason: FieldError['reason'], field: string, { title, value, detail }: Finding): PlainFieldError {
  const text = `${title}: ${shownValue(value)}`
  return { reason, field: field === '' ? noField : field, message: detail === '' ? text : `${text}: ${detail}` }
}

/** The value is wrong. */
export function invalid(field: string, value: unknown, detail: string): PlainFieldError {
  return fieldError('FieldValueInvalid', field, { title: 'Invalid value', value, detail })
}

/** The value is of a wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): PlainFieldError {
  return fieldError('FieldValueTypeInvalid', field, { title: 'Invalid value', value, detail })
}
