import { goQuote } from '../json/go-quote.ts'
import { type FieldError, joinTexts, type LevelText, textSince } from '../meta/index.ts'
import { goValue, jsonSince } from '../schema/go-value.ts'
import { invalidValue, list, type Node, requiredValue, string } from '../schema/index.ts'
import { isSame } from './part.ts'

export { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../schema/field-errors.ts'

/** Maximum errors of the parts of one text, such as the segments of a path: each may show the whole text. */
export const partErrorsMax = 100

/** The value exceeds a number of bytes; from a level on the message may call them characters. */
export function tooLongValue(field: string, bytesMax: number, charactersSince = Infinity): FieldError {
  const [before, after] = [`Too long: must have at most ${bytesMax} bytes`, `Too long: may not be more than ${bytesMax}`]
  const ofLevel = textSince(32, { before, after: `${after} bytes` })
  return { reason: 'FieldValueTooLong', field, message: textSince(charactersSince, { before: ofLevel, after: `${after} characters` }) }
}

/** The field is absent or empty. After a level the message has no detail. */
export function requiredValueUntil(level: number, field: string, detail: string): FieldError {
  const plain = requiredValue(field)
  return { ...plain, message: textSince(level + 1, { before: requiredValue(field, detail).message, after: plain.message }) }
}

/** Like `tooLongValue`, for fields with other words before 1.32. */
export function tooLongerValue(field: string, bytesMax: number): FieldError {
  const [before, after] = [`may not be longer than ${bytesMax}`, `may not be more than ${bytesMax} bytes`]
  return { reason: 'FieldValueTooLong', field, message: joinTexts(['Too long', textSince(32, { before, after })], ': ') }
}

/** The name of a resource is invalid. From 1.29 to 1.33 the message shows it without quotes. */
export function invalidResourceName(field: string, name: string, detail: LevelText): FieldError {
  const shown = (level: number) => (level >= 29 && level < jsonSince ? name : goQuote(name))
  return { reason: 'FieldValueInvalid', field, message: joinTexts(['Invalid value', shown, detail], ': ') }
}

/** The list has too many items. */
export function tooManyValues(field: string, count: number, max: number): FieldError {
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${count}: must have at most ${max} items` }
}

/** One of several texts is invalid; the message lists them all. */
export function invalidTexts(field: string, texts: readonly string[], detail: string, type: Node = list(string())): FieldError {
  return invalidValue(field, goValue(type, texts), detail)
}

/** One error for each problem of a text. */
export function invalidFor(field: string, value: unknown, problems: readonly LevelText[]): FieldError[] {
  return problems.map((problem) => invalidValue(field, value, problem))
}

/** A value that was set at creation must not change. */
export function immutableValue(field: string, value: unknown, before: unknown): FieldError[] {
  return isSame(value, before) ? [] : [invalidValue(field, value, 'field is immutable')]
}
