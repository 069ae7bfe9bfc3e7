import { goQuote } from './go-quote.ts'
import { compareTexts } from './member.ts'
import { Numeral } from './numeral.ts'
import { escapeMarkup, printJson } from './print.ts'

/** Maximum printed depth of a value, since printing is recursive and the call stack is limited. */
const printedDepthMax = 100

/** A value as Go prints it with `%v`: `map[a:1 b:[x y]]`, `<nil>`. */
export function printLoosely(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number' || value instanceof Numeral) return typeof value === 'number' ? goNumber(value) : goFloat(value.value)
  if (typeof value !== 'object') return String(value)
  if (depth === printedDepthMax) return '...'
  if (Array.isArray(value)) return `[${value.map((item) => printLoosely(item, depth + 1)).join(' ')}]`
  const members = membersOf(value).map(([key, member]) => `${key}:${printLoosely(member, depth + 1)}`)
  return `map[${members.join(' ')}]`
}

/** A value as Go prints it with `%#v`: quoted strings, containers with their types. */
export function printAsSource(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  if (depth === printedDepthMax) return '...'
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => printAsSource(item, depth + 1)).join(', ')}}`
  const members = membersOf(value).map(([key, member]) => `${JSON.stringify(key)}:${printAsSource(member, depth + 1)}`)
  return `map[string]interface {}{${members.join(', ')}}`
}

function membersOf(object: object): [string, unknown][] {
  return Object.entries(object).sort(([left], [right]) => compareTexts(left, right))
}

/** The Go type of a JSON value, for messages. */
export function looseTypeName(value: unknown): string {
  return looseTypes[value instanceof Numeral ? 'float' : kindOfValue(value)]
}

/** The kinds of values that kube-apiserver's validation distinguishes. */
export type ValueKind = 'null' | 'boolean' | 'string' | 'int' | 'float' | 'list' | 'object'

const looseTypes: Readonly<Record<ValueKind, string>> = {
  null: '<nil>',
  boolean: 'bool',
  string: 'string',
  int: 'int64',
  float: 'float64',
  list: '[]interface {}',
  object: 'map[string]interface {}',
}

const int64Bound = 2 ** 63

/** The kind of a parsed value. A whole number within 64 bits is an integer, whatever its spelling. */
export function kindOfValue(value: unknown): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'bigint':
      return 'int'
    case 'number':
      return Number.isInteger(value) && value < int64Bound && value >= -int64Bound ? 'int' : 'float'
    default:
      if (value === null || value === undefined) return 'null'
      return Array.isArray(value) ? 'list' : 'object'
  }
}

/** A number in the format of Go's `%v`. */
export function goNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  return kindOfValue(value) === 'int' ? String(BigInt(value)) : goFloat(value)
}

/** A floating-point number in the format of Go's `%v`: with an exponent from a million up and below one ten-thousandth. */
export function goFloat(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value)
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return plain(value, power, digits)
  const sign = power < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`
}

function plain(value: number, power: number, digits: string): string {
  const decimals = digits.replace(/\D/g, '').length - 1 - power
  return value.toFixed(Math.max(0, decimals))
}

/** A value in a message about a field: texts are quoted, numbers and booleans plain, others JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return value === undefined ? 'null' : escapeMarkup(printJson(value))
}
