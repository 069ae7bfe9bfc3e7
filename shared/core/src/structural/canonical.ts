import { printJson } from '../json/print.ts'
import { sortedValue } from './json-value.ts'

/** A text that is the same for equal values, for any order of their members. */
export function canonicalText(value: unknown): string {
  return printJson(sortedValue(value, 0))
}
