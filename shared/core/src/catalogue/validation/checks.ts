import { intOrString } from '../../description/define.ts'
import type { Node } from '../../description/node.ts'
import { printValue } from '../../json/print.ts'
import type { LevelText } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import { isSharedPart } from '../../schema/decode.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidFor, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import type { LegacyAddresses } from '../../validation/ip-address.ts'
import { isSame, type Part, textOf } from '../../validation/part.ts'
import type { PartRule, RuleContext } from '../../validation/rule-book.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'

/**
 * Rules for one field. They add errors to a list and make a path only then, so that a good object costs little:
 * `at` is the path of the object that has the field.
 */

/** The rule, which looks but once at a part that stands in many objects and is always the same. */
export function onceForShared(rule: PartRule): PartRule {
  const sound = new WeakSet<Part>()
  return (errors, part, at, context) => {
    if (sound.has(part)) return
    const before = errors.length
    rule(errors, part, at, context)
    if (errors.length === before && isSharedPart(part)) sound.add(part)
  }
}

/** A field of a part whose path is `at`. */
interface PlacedField {
  readonly part: Part | undefined
  readonly name: string
  readonly at: string
}

/** The check of a request's addresses, where the replaced object has these. */
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

/** A text that has to be there; whether it is. */
export function requireText(errors: FieldError[], { part, name, at }: PlacedField, detail?: string): boolean {
  if (textOf(part, name) !== '') return true
  errors.push(requiredValue(`${at}.${name}`, detail))
  return false
}

/** A text that has to be there and to pass a check. */
export function requireChecked(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  if (requireText(errors, { part, name, at })) allowChecked(errors, { part, name, at }, check)
}

/** A text that has to pass a check when it is there. */
export function allowChecked(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  const text = textOf(part, name)
  if (text === '') return
  for (const problem of check(text)) errors.push(invalidValue(`${at}.${name}`, text, problem))
}

/** A text that has to pass a check when it is given, if only as an empty text. */
export function checkGiven(errors: FieldError[], { part, name, at }: PlacedField, check: (text: string) => readonly LevelText[]): void {
  const text = part?.[name]
  if (typeof text === 'string') errors.push(...invalidFor(`${at}.${name}`, text, check(text)))
}

/** A word out of a set, which has to be there. */
export function requireOneOf(errors: FieldError[], { part, name, at }: PlacedField, words: readonly string[]): void {
  if (requireText(errors, { part, name, at })) allowOneOf(errors, { part, name, at }, words)
}

/** The errors of a word that has to be one of a set. Undefined: it is absent. */
export function wordErrors(field: string, word: unknown, words: readonly string[], detail?: string): FieldError[] {
  if (typeof word !== 'string') return [requiredValue(field, detail)]
  return words.includes(word) ? [] : [unsupportedValue(field, word, words)]
}

/** A word out of a set, when there is one. */
export function allowOneOf(errors: FieldError[], { part, name, at }: PlacedField, words: readonly string[]): void {
  const value = part?.[name]
  if (typeof value === 'string' && !words.includes(value)) errors.push(unsupportedValue(`${at}.${name}`, value, words))
}

/** Numbers that count something. */
export function notNegative(errors: FieldError[], part: Part, names: readonly string[], at: string): void {
  for (const name of names) {
    const value = numberOf(part, name)
    if (value !== undefined && value < 0) errors.push(invalidValue(`${at}.${name}`, value, 'must be greater than or equal to 0'))
  }
}

/** A number between two bounds, both of them allowed, when there is one. */
export function allowBetween(
  errors: FieldError[],
  { part, name, at }: PlacedField,
  { min, max, detail = `must be between ${min} and ${max}, inclusive` }: { min: number; max: number; detail?: string },
): void {
  const value = numberOf(part, name)
  if (value !== undefined && (value < min || value > max)) errors.push(invalidValue(`${at}.${name}`, value, detail))
}

/** Counts that are part of another count of the same status. */
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

/** A counter that an update may not turn back. */
export function notDecremented(errors: FieldError[], status: Part, live: Part, name: string): void {
  const before = numberOf(live, name)
  const after = numberOf(status, name)
  if (before !== undefined && (after === undefined || after < before)) {
    errors.push(invalidValue(`status.${name}`, after ?? 0, 'cannot be decremented'))
  }
}

/** A field that stays as it was made. */
export function immutable(errors: FieldError[], { part, live, name, path, type }: ImmutableField): void {
  const value = part[name]
  if (isSame(value, live[name])) return
  const isShownByType = type !== undefined && typeof value === 'object' && value !== null
  errors.push(invalidValue(path, isShownByType ? goValue(type, value) : value, 'field is immutable'))
}

/** A field of a new part and of the live one. */
interface ImmutableField {
  readonly part: Part
  readonly live: Part
  readonly name: string
  readonly path: string
  /** The type of the field, by which a message shows its value. Absent: as JSON. */
  readonly type?: Node
}

/** The value points to something that is not there. */
export function notFoundValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${printValue(value)}` }
}

const percentPattern = /^[0-9]+%$/

/** A share may not be more than the whole. */
export function notMoreThanWhole(errors: FieldError[], part: Part, name: string, at: string): void {
  const value = part[name]
  if (typeof value !== 'string' || !percentPattern.test(value) || Number.parseInt(value, 10) <= 100) return
  errors.push(invalidValue(`${at}.${name}`, goValue(intOrString(), value), 'must not be greater than 100%'))
}

/** True if a count or share is absent or zero. */
export function isNoneOf(value: unknown): boolean {
  // A text that is neither a share nor a count counts as nothing.
  if (typeof value === 'string') return !/^(?:[0-9]+%|[+-]?[0-9]+)$/.test(value) || Number.parseInt(value, 10) === 0
  return value === 0 || value === undefined || value === null
}

/** A port by number or by name. */
export function validatePort(errors: FieldError[], port: unknown, path: string): void {
  const problems = typeof port === 'string' ? checkPortName(port) : checkPortNumber(typeof port === 'number' ? port : 0)
  for (const problem of problems) errors.push(invalidValue(path, port ?? 0, problem))
}
