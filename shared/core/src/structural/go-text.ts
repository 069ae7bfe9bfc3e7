import { goQuote } from '../json/go-quote.ts'
import { printJson } from '../json/print.ts'

/** The kinds of values as kube-apiserver's validation tells them apart. */
export type ValueKind = 'null' | 'boolean' | 'string' | 'int' | 'float' | 'list' | 'object'

const int64Bound = 2 ** 63

/** The kind of a parsed value. A whole number within 64 bits is an integer however it was written. */
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

/** A number as Go's `%v` prints it. */
export function goNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  return kindOfValue(value) === 'int' ? String(BigInt(value)) : goFloat(value)
}

/** A floating-point number as Go's `%v` prints it: with an exponent from a million on and below a ten-thousandth. */
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

/** A value in a message about a field: texts quoted, numbers and booleans plain, all others as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return value === undefined ? 'null' : printJson(value)
}
