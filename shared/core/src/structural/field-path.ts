import { shownValue } from '../json/go-text.ts'
import type { FieldError, PlainFieldError } from '../meta/status.ts'

/** The field of an error without a field, as kube-apiserver prints it. */
export const noField = '<nil>'

/** `spec.items[0].name`. Keys of maps are joined like names, as in kube-apiserver's validation. */
export function joinedPath(names: readonly (string | number)[]): string {
  let path = ''
  for (const name of names) path += typeof name === 'number' ? `[${name}]` : path === '' ? name : `.${name}`
  return path
}

interface Finding {
  readonly title: string
  readonly value: unknown
  readonly detail: string
}

/** An error about a field, with the value in the message. */
export function fieldError(reason: FieldError['reason'], field: string, { title, value, detail }: Finding): PlainFieldError {
  const text = `${title}: ${shownValue(value)}`
  return { reason, field: field === '' ? noField : field, message: detail === '' ? text : `${text}: ${detail}` }
}

/** The error of an invalid value. */
export function invalid(field: string, value: unknown, detail: string): PlainFieldError {
  return fieldError('FieldValueInvalid', field, { title: 'Invalid value', value, detail })
}

/** The error of a value of the wrong type. */
export function typeInvalid(field: string, value: unknown, detail: string): PlainFieldError {
  return fieldError('FieldValueTypeInvalid', field, { title: 'Invalid value', value, detail })
}
