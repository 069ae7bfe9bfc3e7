import { printJson } from '../json/print.ts'
import { sortedValue } from './json-value.ts'

/** A text that is equal for equal values, ignoring the order of members. */
export function canonicalText(value: unknown): string {
  return printJson(sortedValue(value, 0))
}
