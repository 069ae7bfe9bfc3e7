import { memo } from '@orch/cel/memo'
import { kindOfValue, type ValueKind } from '../json/go-text.ts'
import { goQuote, printJson } from '../json/index.ts'
import type { ComparisonTimer } from '../kind/kind-readers.ts'
import { type FieldError, textSince } from '../meta/index.ts'
import type { Steps } from '../steps.ts'
import { canonicalText } from './canonical.ts'
import { checkNumber } from './check-number.ts'
import { Correlation } from './correlation.ts'
import { fieldError, invalid, joinedPath, noField, typeInvalid } from './field-path.ts'
import { checkOfFormat, isKnownFormat } from './formats.ts'
import { PatternTests } from './pattern.ts'
import { Overworked, type Run, report, spend, workMax } from './run.ts'
import type { StructuralSchema, ValueRules } from './schema.ts'

export interface ReplacedValue {
  readonly value: unknown
  readonly comparisons?: ComparisonTimer | undefined
}

/**
 * The errors of a value by its schema, in the words of kube-apiserver's validation. On an update, errors in a part
 * that equals its old value are ignored.
 */
export function* validateValue(schema: StructuralSchema, value: unknown, old?: ReplacedValue): Steps<FieldError[]> {
  const check = checkOf(schema)
  const errors = yield* errorsOf((run) => check(value, run, undefined))
  if (errors.length === 0 || old === undefined) return errors
  return yield* errorsOf((run) => ratcheted(check, value, run, new Correlation(schema, value, old.value, old.comparisons)))
}

/** The errors of a check. It runs again after the tests of patterns that it has put off. */
function* errorsOf(check: (run: Run) => void): Steps<FieldError[]> {
  const patterns = new PatternTests()
  for (;;) {
    const errors: FieldError[] = []
    try {
      check({ names: [], errors, patterns, work: workMax })
    } catch (error) {
      if (!(error instanceof Overworked)) throw error
      errors.push(invalid(noField, null, overworkedText))
    }
    if (!(yield* patterns.makePending())) return errors
  }
}

const overworkedText = `validation takes more than ${workMax.toLocaleString('en')} checks, no further values are checked`

/** Returns the number of checks, by which alternatives are compared. `old` is the replaced value, if any. */
type Check = (value: unknown, run: Run, old: Correlation | undefined) => number

/** The check of a schema; checks of subschemas are created at first use. */
const checkOf = memo((schema: StructuralSchema): Check => createCheck(schema))

/** Ignores errors of an unchanged value, except for the type of the object itself. */
function ratcheted(check: Check, value: unknown, run: Run, old: Correlation | undefined): number {
  if (old === undefined) return check(value, run, undefined)
  const { errors } = run
  run.errors = []
  const count = check(value, run, old)
  const found = run.errors
  run.errors = errors
  if (found.length > 0 && !old.isEqual()) errors.push(...found)
  return count
}

function createCheck(schema: StructuralSchema): Check {
  const parts = new Map<ValueKind, readonly Check[]>()
  return (value, run, old) => {
    const kind = kindOfValue(value)
    spend(run, 1, kind === 'string' ? (value as string).length : 0)
    if (kind === 'null') return checkNull(schema, run)
    let applied = parts.get(kind)
    if (applied === undefined) {
      applied = partsFor(schema, kind)
      parts.set(kind, applied)
    }
    let count = 1
    for (const part of applied) count += 1 + part(value, run, old)
    return count
  }
}

function checkNull(schema: StructuralSchema, run: Run): number {
  const count = checkType(schema, null, run)
  if (schema.values?.enum !== undefined) enumOf(schema.values.enum)(null, run)
  return count
}

/** The checks for a kind of value, in the order of their errors. */
function partsFor(schema: StructuralSchema, kind: ValueKind): Check[] {
  const { values = {}, junctors } = schema
  const parts: Check[] = [(value, run) => checkType(schema, value, run), junctors === undefined ? () => 1 : junctorCheck(schema)]
  if (kind === 'string') {
    parts.push((value, run) => checkText(values, value as string, run))
    if (values.format !== undefined) parts.push((value, run) => checkFormat(values.format ?? '', value as string, run))
  }
  if (kind === 'int' || kind === 'float') parts.push((value, run) => checkNumber(schema, value as number | bigint, run))
  if (kind === 'list') parts.push(listCheck(schema))
  if (values.enum !== undefined) parts.push(enumOf(values.enum))
  if (kind === 'object') parts.push(objectCheck(schema))
  return parts
}

function listCheck({ items, values = {} }: StructuralSchema): Check {
  const { minItems, maxItems, uniqueItems } = values
  const item = items === undefined ? undefined : checkOf(items)
  return (value, run, old) => {
    const list = value as readonly unknown[]
    let count = 1
    if (item !== undefined) {
      for (let index = 0; index < list.length; index++) {
        run.names.push(index)
        count += ratcheted(item, list[index], run, old?.index(index))
        run.names.pop()
      }
    }
    const path = (): string => joinedPath(run.names)
    if (minItems !== undefined && list.length < minItems) {
      report(run, invalid(path(), list.length, `${path()} in body should have at least ${minItems} items`))
    }
    if (maxItems !== undefined && list.length > maxItems) report(run, tooMany(path(), list.length, maxItems))
    if (uniqueItems === true && new Set(list.map((part) => printJson(part))).size < list.length) {
      report(run, invalid(path(), '', `${path()} in body shouldn't contain duplicates`))
    }
    return count
  }
}

function tooMany(path: string, count: number, max: number): FieldError {
  const items = max === 1 ? 'item' : 'items'
  return {
    reason: 'FieldValueTooMany',
    field: path === '' ? noField : path,
    message: `Too many: ${count}: must have at most ${max} ${items}`,
  }
}

function objectCheck(schema: StructuralSchema): Check {
  const { values = {} } = schema
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY, required = [] } = values
  const memberCheck = memberChecks(schema)
  return (value, run, old) => {
    const object = value as Readonly<Record<string, unknown>>
    const size = minProperties > 0 || maxProperties !== Number.POSITIVE_INFINITY ? Object.keys(object).length : 0
    const path = (): string => joinedPath(run.names)
    if (size < minProperties) report(run, invalid(path(), size, `${path()} in body should have at least ${minProperties} properties`))
    if (size > maxProperties) report(run, tooMany(path(), size, maxProperties))
    let count = 0
    for (const name in object) {
      const check = memberCheck(name)
      if (check === undefined) continue
      // The type of the object itself is always checked.
      const isOwnType = run.names.length === 0 && (name === 'apiVersion' || name === 'kind')
      run.names.push(name)
      count += ratcheted(check, object[name], run, isOwnType ? undefined : old?.key(name))
      run.names.pop()
    }
    for (const name of required) {
      if (Object.hasOwn(object, name)) continue
      report(run, { reason: 'FieldValueRequired', field: joinedPath([...run.names, name]), message: 'Required value' })
    }
    return count
  }
}

/** The check of a member by name; undefined if the schema does not restrict it. */
function memberChecks({ properties, additionalProperties }: StructuralSchema): (name: string) => Check | undefined {
  const ofProperties = new Map<string, Check>()
  return (name) => {
    const known = ofProperties.get(name)
    if (known !== undefined) return known
    const property = properties?.get(name)
    if (property !== undefined) {
      const check = checkOf(property)
      ofProperties.set(name, check)
      return check
    }
    if (additionalProperties === false) return refuseMember
    return typeof additionalProperties === 'object' ? checkOf(additionalProperties) : undefined
  }
}

function refuseMember(_value: unknown, run: Run): number {
  const [parent, name] = [joinedPath(run.names.slice(0, -1)), run.names.at(-1)]
  report(run, invalid(parent, name, `${parent}.${name} in body is a forbidden property`))
  return 0
}

/** The result of checking one of several alternative schemas. */
interface Attempt {
  readonly count: number
  readonly errors: readonly FieldError[]
}

function junctorCheck({ junctors = {} }: StructuralSchema): Check {
  return (value, run, old) => {
    const attempt = (schema: StructuralSchema): Attempt => {
      const { errors } = run
      run.errors = []
      const count = checkOf(schema)(value, run, old)
      const found = { count, errors: run.errors }
      run.errors = errors
      return found
    }
    let count = 1
    if (junctors.anyOf !== undefined) count += checkAnyOf(junctors.anyOf, attempt, run)
    if (junctors.oneOf !== undefined) count += checkOneOf(junctors.oneOf, attempt, run)
    if (junctors.allOf !== undefined) count += checkAllOf(junctors.allOf, attempt, run)
    if (junctors.not !== undefined && attempt(junctors.not).errors.length === 0) refuse(run, 'must not validate the schema (not)')
    return count
  }
}

type Attempts = (schema: StructuralSchema) => Attempt

/** Errors of junctors do not name the field. */
function refuse(run: Run, text: string): void {
  report(run, invalid('', '', `${JSON.stringify(joinedPath(run.names))} ${text}`))
}

function checkAnyOf(schemas: readonly StructuralSchema[], attempt: Attempts, run: Run): number {
  let best: Attempt | undefined
  for (const schema of schemas) {
    const made = attempt(schema)
    if (made.errors.length === 0) return made.count
    if (best === undefined || made.count > best.count) best = made
  }
  refuse(run, 'must validate at least one schema (anyOf)')
  run.errors.push(...(best?.errors ?? []))
  return best?.count ?? 0
}

function checkOneOf(schemas: readonly StructuralSchema[], attempt: Attempts, run: Run): number {
  const attempts = schemas.map(attempt)
  const valid = attempts.filter(({ errors }) => errors.length === 0)
  const [first] = valid
  if (valid.length === 1 && first !== undefined) return first.count
  refuse(
    run,
    `must validate one and only one schema (oneOf). ${valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`}`,
  )
  if (valid.length > 0) return 0
  const best = attempts.reduce((known, made) => (made.count > known.count ? made : known))
  run.errors.push(...best.errors)
  return best.count
}

function checkAllOf(schemas: readonly StructuralSchema[], attempt: Attempts, run: Run): number {
  const attempts = schemas.map(attempt)
  const failed = attempts.filter(({ errors }) => errors.length > 0)
  for (const { errors } of failed) run.errors.push(...errors)
  if (failed.length > 0) refuse(run, `must validate all the schemas (allOf)${failed.length === attempts.length ? '. None validated' : ''}`)
  return attempts.reduce((sum, { count }) => sum + count, 0)
}

/**
 * Checks that a value is in a list, in a time that does not grow with the list. Null is never in it, even if the list contains null. A number with a fraction
 * equals a listed integer without it.
 */
const enumOf = memo((values: readonly unknown[]) => {
  const listed = new Set(values.filter((one) => one !== null).map(enumKey))
  const integers = new Set(values.filter((one) => kindOfValue(one) === 'int').map(Number))
  const texts = values.map((one) => goQuote(typeof one === 'string' ? one : printJson(one))).join(', ')
  return (value: unknown, run: Run): number => {
    const key = enumKey(value)
    // Sorting the members of a value takes far longer than reading a text.
    if (typeof key === 'string') spend(run, typeof value === 'object' ? key.length / 2 : 0, key.length)
    if (value !== null && (listed.has(key) || (kindOfValue(value) === 'float' && integers.has(Math.trunc(Number(value)))))) return 0
    report(
      run,
      fieldError('FieldValueNotSupported', joinedPath(run.names), {
        title: 'Unsupported value',
        value,
        detail: `supported values: ${texts}`,
      }),
    )
    return 0
  }
})

/** A key that equal values share; a list or an object has its text, in an array's brackets or an object's braces. */
function enumKey(value: unknown): unknown {
  return typeof value === 'object' ? `${typeof value} ${canonicalText(value)}` : typeof value === 'string' ? `string ${value}` : value
}

/** Checks length and pattern of a text, and reports the first error. */
function checkText({ maxLength, minLength, pattern }: ValueRules, text: string, run: Run): number {
  if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) return refuseLong(maxLength, run)
  if (minLength !== undefined && lengthOf(text) < minLength) return refuseText(text, `should be at least ${minLength} chars long`, run)
  if (pattern === undefined) return 0
  const outcome = run.patterns.test(pattern, text)
  if (typeof outcome === 'string') return refuseText(text, `should match '${pattern}, but ${outcome}'`, run)
  return outcome ? 0 : refuseText(text, `should match '${pattern}'`, run)
}

/** The length in code points. */
function lengthOf(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at)
    if (code < 0xd800 || code > 0xdbff) continue
    const next = text.charCodeAt(at + 1)
    if (next >= 0xdc00 && next <= 0xdfff) length -= 1
  }
  return length
}

function refuseText(text: string, detail: string, run: Run): number {
  const path = joinedPath(run.names)
  report(run, invalid(path, text, `${path} in body ${detail}`))
  return 0
}

function refuseLong(max: number, run: Run): number {
  const field = joinedPath(run.names)
  const texts = {
    before: `Too long: may not be longer than ${max}`,
    after: `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
  }
  report(run, { reason: 'FieldValueTooLong', field: field === '' ? noField : field, message: textSince(32, texts) })
  return 0
}

function checkFormat(format: string, text: string, run: Run): number {
  const test = checkOfFormat(format)
  if (test === undefined) return 0
  if (!test(text)) {
    const path = joinedPath(run.names)
    report(run, typeInvalid(path, text, `${path} in body must be of type ${format}: ${goQuote(text)}`))
  }
  return 1
}

/** The schema types of the kinds of values. */
const typeOfKind: Readonly<Record<ValueKind, string>> = {
  null: 'null',
  boolean: 'boolean',
  string: 'string',
  int: 'integer',
  float: 'number',
  list: 'array',
  object: 'object',
}

/** The default formats of Go's number types. */
const formatOfKind: Readonly<Partial<Record<ValueKind, string>>> = { int: 'int64', float: 'float64' }

/** Checks that a value has the schema's type. Returns the number of passed checks. */
function checkType(schema: StructuralSchema, value: unknown, run: Run): number {
  const types = typesOf(schema)
  const format = schema.values?.format
  const known = format !== undefined && isKnownFormat(format) ? format : undefined
  if (types.length === 0 && known === undefined) return 0
  const kind = kindOfValue(value)
  if (kind === 'null') return types.length === 0 || schema.nullable === true ? 1 : refuseType(types.join(','), 'null', run)
  const type = typeOfKind[kind]
  const isOfType =
    types.includes(type) ||
    (kind === 'int' && types.includes('number')) ||
    (typeof value === 'number' && Number.isSafeInteger(value) && types.includes('integer'))
  if (known !== undefined) {
    const isTextOrList = kind === 'string' || kind === 'list'
    const valueFormat = formatOfKind[kind] ?? ''
    if (!isTextOrList && !isOfType && valueFormat !== known) return refuseType(known, valueFormat, run)
    if (isTextOrList && !types.includes('number') && !types.includes('integer')) return 1
  }
  return isOfType ? 1 : refuseType(types.join(','), type, run)
}

/** The allowed types of a value; empty for any type. */
function typesOf({ type, isIntOrString }: StructuralSchema): readonly string[] {
  if (isIntOrString === true) return ['integer', 'string']
  return type === undefined ? [] : [type]
}

function refuseType(expected: string, found: string, run: Run): number {
  const path = joinedPath(run.names)
  report(run, typeInvalid(path, found, `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`))
  return 0
}
