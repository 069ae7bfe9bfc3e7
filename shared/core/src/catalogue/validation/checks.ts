import { intOrString } from '../../description/values.ts'
import { printValue } from '../../json/print.ts'
import type { FieldError, LevelText } from '../../meta/index.ts'
import { goValue, isSharedPart, type Node } from '../../schema/index.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import type { LegacyAddresses } from '../../validation/ip-address.ts'
import { isSame, type Part, textOf } from '../../validation/part.ts'
import type { PartRule, RuleBook, RuleContext } from '../../validation/rule-book.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'

/**
 * Rules for one field. They add errors to a list and build a path only for an error, so that valid objects are cheap to check:
 * `at` is the path of the object that has the field.
 */

/** Makes a rule check an immutable part once per server, even if many objects share the part. A replaced object may excuse an error, so it does not count. */
export function onceForShared(rule: PartRule): PartRule {
  const sound = new WeakMap<Part, RuleBook>()
  return (errors, part, at, context) => {
    if (sound.get(part) === context.rules) return
    const before = errors.length
    rule(errors, part, at, context)
    if (errors.length === before && context.live === undefined && isSharedPart(part)) sound.set(part, context.rules)
  }
}

/** A field of a part whose path is `at`. */
interface PlacedField {
  readonly part: Part | undefined
  readonly name: string
  readonly at: string
}

/** The check of addresses in a request; `kept` are the addresses of the replaced object. */
export function addressesChecked({ isGateOn }: Pick<RuleContext, 'isGateOn'>, kept?: Iterable<string>): LegacyAddresses {
  const isStrict = isGateOn('StrictIPCIDRValidation')
  return kept === undefined ? { isStrict } : { isStrict, kept: new Set(kept) }
}

/** True if a field has a value other than null. */
export function isGiven(part: Part | undefined, name: string): boolean {
  const value = part?.[name]
  return value !== undefined && value !== null
}

/** The rule that a field has no value. */
export function notGiven(name: string, detail: string): PartRule {
  return (errors, part, at) => {
    if (isGiven(part, name)) errors.push(forbiddenValue(`${at}.${name}`, detail))
  }
}

/** The number in a field; undefined when there is none. */
export function numberOf(part: Part | undefined, name: string): number | bigint | undefined {
  const value = part?.[name]
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined
}

/** Requires a text. Returns true if it is present. */
export function requireText(errors: FieldError[], { part, name, at }: PlacedField, detail?: string): boolean {
  if (textOf(part, name) !== '') return true
  errors.push(requiredValue(`${at}.${name}`, detail))
  return false
}

/** Requires a text that passes a check. */
export function requireChecked(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  if (requireText(errors, { part, name, at })) allowChecked(errors, { part, name, at }, check)
}

/** Checks a text if it is present and not empty. */
export function allowChecked(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  const text = textOf(part, name)
  if (text === '') return
  for (const problem of check(text)) errors.push(invalidValue(`${at}.${name}`, text, problem))
}

/** Checks a text if it is present, even if it is empty. */
export function checkGiven(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  const text = part?.[name]
  if (typeof text === 'string') errors.push(...invalidFor(`${at}.${name}`, text, check(text)))
}

/** Requires one of a set of words. */
export function requireOneOf(errors: FieldError[], { part, name, at }: PlacedField, words: readonly string[]): void {
  if (requireText(errors, { part, name, at })) allowOneOf(errors, { part, name, at }, words)
}

/** The errors of a word that must be in a set. Undefined if the word is absent. */
export function wordErrors(field: string, word: unknown, words: readonly string[], detail?: string): FieldError[] {
  if (typeof word !== 'string') return [requiredValue(field, detail)]
  return words.includes(word) ? [] : [unsupportedValue(field, word, words)]
}

/** Checks that a word, if present, is in a set. */
export function allowOneOf(errors: FieldError[], { part, name, at }: PlacedField, words: readonly string[]): void {
  const value = part?.[name]
  if (typeof value === 'string' && !words.includes(value)) errors.push(unsupportedValue(`${at}.${name}`, value, words))
}

/** Checks that numbers are not negative. */
export function notNegative(errors: FieldError[], part: Part, names: readonly string[], at: string): void {
  for (const name of names) {
    const value = numberOf(part, name)
    if (value !== undefined && value < 0) errors.push(invalidValue(`${at}.${name}`, value, 'must be greater than or equal to 0'))
  }
}

/** Checks that a number, if present, is between two bounds, inclusive. */
export function allowBetween(
  errors: FieldError[],
  { part, name, at }: PlacedField,
  { min, max, detail = `must be between ${min} and ${max}, inclusive` }: { min: number; max: number; detail?: string },
): void {
  const value = numberOf(part, name)
  if (value !== undefined && (value < min || value > max)) errors.push(invalidValue(`${at}.${name}`, value, detail))
}

/** Checks that counts in a status do not exceed another count. */
export function notMoreThan(
  errors: FieldError[],
  status: Part,
  names: readonly string[],
  { bound, detail }: { readonly bound: string; readonly detail: string },
): void {
  const max = numberOf(status, bound) ?? 0
  for (const name of names) {
    const value = numberOf(status, name) ?? 0
    if (value > max) errors.push(invalidValue(`status.${name}`, value, detail))
  }
}

/** Checks that an update does not decrease a counter. */
export function notDecremented(errors: FieldError[], status: Part, live: Part, name: string): void {
  const before = numberOf(live, name)
  const after = numberOf(status, name)
  if (before !== undefined && (after === undefined || after < before)) {
    errors.push(invalidValue(`status.${name}`, after ?? 0, 'cannot be decremented'))
  }
}

/** Checks that a field is unchanged. */
export function immutable(errors: FieldError[], { part, live, name, path, type }: ImmutableField): void {
  const value = part[name]
  if (isSame(value, live[name])) return
  const isShownByType = type !== undefined && typeof value === 'object' && value !== null
  errors.push(invalidValue(path, isShownByType ? goValue(type, value) : value, 'field is immutable'))
}

/** A field of a new part, and the live part. */
interface ImmutableField {
  readonly part: Part
  readonly live: Part
  readonly name: string
  readonly path: string
  /** The type of the field, for printing its value in a message. Default: JSON. */
  readonly type?: Node
}

/** The error of a value that refers to something absent. */
export function notFoundValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${printValue(value)}` }
}

const percentPattern = /^[0-9]+%$/

/** Checks that a percentage is at most 100. */
export function notMoreThanWhole(errors: FieldError[], part: Part, name: string, at: string): void {
  const value = part[name]
  if (typeof value !== 'string' || !percentPattern.test(value) || Number.parseInt(value, 10) <= 100) return
  errors.push(invalidValue(`${at}.${name}`, goValue(intOrString(), value), 'must not be greater than 100%'))
}

/** True if a count or share is absent or zero. */
export function isNoneOf(value: unknown): boolean {
  // A text that is neither a percentage nor a number counts as absent.
  if (typeof value === 'string') return !/^(?:[0-9]+%|[+-]?[0-9]+)$/.test(value) || Number.parseInt(value, 10) === 0
  return value === 0 || value === undefined || value === null
}

/** Checks a port that is given by number or by name. */
export function validatePort(errors: FieldError[], port: unknown, path: string): void {
  const problems = typeof port === 'string' ? checkPortName(port) : checkPortNumber(typeof port === 'number' ? port : 0)
  for (const problem of problems) errors.push(invalidValue(path, port ?? 0, problem))
}
