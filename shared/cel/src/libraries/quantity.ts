import { CelError, isInt, noSuchOverload, Opaque, toDouble, toInt, type Value } from '../values/values.ts'

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongSuffix = "unable to parse quantity's suffix"
const wrongNumber = 'unable to parse numeric part of quantity'

/** Maximum digits, and maximum exponent. Larger quantities would take too long to compute with. */
const digitsMax = 4096
const finestExponent = -9
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

const decimalExponents: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }

/** The result of `quantity(text)`: `mantissa × 10^exponent`, exact, never finer than a nano. */
export class Quantity extends Opaque {
  override readonly typeName = 'kubernetes.Quantity'
  readonly mantissa: bigint
  readonly exponent: number

  constructor(mantissa: bigint, exponent: number) {
    super()
    this.mantissa = mantissa
    this.exponent = exponent
  }

  override equals(other: Opaque): boolean {
    return other instanceof Quantity && compareQuantities(this, other) === 0
  }

  /** The amount as an int64; undefined if it is not an int64. */
  toInteger(): bigint | undefined {
    const { mantissa, exponent } = this
    const scale = powerOfTen(Math.abs(exponent))
    if (exponent < 0 && mantissa % scale !== 0n) return undefined
    const value = exponent < 0 ? mantissa / scale : mantissa * scale
    return value > int64Max || value < int64Min ? undefined : value
  }

  toNumber(): number {
    return Number(`${this.mantissa}e${this.exponent}`)
  }
}

const written = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/

/** `quantity(text)`. */
export function parseQuantity(text: Value): Value {
  if (typeof text !== 'string') return noSuchOverload()
  const read = readQuantity(text)
  return typeof read === 'string' ? new CelError(read) : read
}

/** `isQuantity(text)`. */
export function isQuantity(text: Value): Value {
  return typeof text === 'string' ? typeof readQuantity(text) !== 'string' : noSuchOverload()
}

function readQuantity(text: string): Quantity | string {
  const match = text === '' ? null : written.exec(text)
  if (match === null) return wrongFormat
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  const digits = whole + fraction
  if (digits === '') return wrongFormat
  const binary = binaryExponents[suffix]
  const decimal = /^[eE][-+]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : decimalExponents[suffix]
  if (binary === undefined && decimal === undefined) return wrongSuffix
  if (digits.length > digitsMax || Math.abs(decimal ?? 0) > digitsMax) return wrongNumber
  const magnitude = binary === undefined ? BigInt(digits) : BigInt(digits) << BigInt(binary)
  const bounded = bound(magnitude, (decimal ?? 0) - fraction.length, binary !== undefined)
  return sign === '-' ? new Quantity(-bounded.mantissa, bounded.exponent) : bounded
}

/** Rounds away from zero to a nano, and caps binary quantities at the largest int64. */
function bound(mantissa: bigint, exponent: number, isBinary: boolean): Quantity {
  const tooFine = exponent < finestExponent
  const scale = powerOfTen(tooFine ? finestExponent - exponent : 0)
  const made = tooFine ? new Quantity((mantissa + scale - 1n) / scale, finestExponent) : new Quantity(mantissa, exponent)
  const largest = new Quantity(int64Max, 0)
  return isBinary && compareQuantities(made, largest) > 0 ? largest : made
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}

/** Negative, zero or positive, by value. */
function compareQuantities(a: Quantity, b: Quantity): number {
  const exponent = Math.min(a.exponent, b.exponent)
  const left = a.mantissa * powerOfTen(a.exponent - exponent)
  const right = b.mantissa * powerOfTen(b.exponent - exponent)
  return left < right ? -1 : left > right ? 1 : 0
}

/** `a.compareTo(b)`. */
export function compareTo(a: Quantity, b: Value): Value {
  return b instanceof Quantity ? compareQuantities(a, b) : noSuchOverload()
}

/** `a.add(b)` with a sign of 1, `a.sub(b)` with -1; `b` is a quantity or an int. */
export function addQuantity(a: Value, b: Value, sign: 1 | -1): Value {
  if (!(a instanceof Quantity)) return noSuchOverload()
  const other = isInt(b) ? new Quantity(BigInt(b), 0) : b
  if (!(other instanceof Quantity)) return noSuchOverload()
  const exponent = Math.min(a.exponent, other.exponent)
  const left = a.mantissa * powerOfTen(a.exponent - exponent)
  const right = other.mantissa * powerOfTen(other.exponent - exponent)
  return new Quantity(left + BigInt(sign) * right, exponent)
}

/** `sign(a)`. */
export function signOf(a: Value): Value {
  if (!(a instanceof Quantity)) return noSuchOverload()
  return a.mantissa === 0n ? 0 : a.mantissa < 0n ? -1 : 1
}

/** `a.isInteger()`. */
export function isInteger(a: Value): Value {
  return a instanceof Quantity ? a.toInteger() !== undefined : noSuchOverload()
}

/** `a.asInteger()`. */
export function asInteger(a: Value): Value {
  if (!(a instanceof Quantity)) return noSuchOverload()
  const value = a.toInteger()
  return value === undefined ? new CelError('cannot convert value to integer') : toInt(value)
}

/** `a.asApproximateFloat()`. */
export function asApproximateFloat(a: Value): Value {
  return a instanceof Quantity ? toDouble(a.toNumber()) : noSuchOverload()
}
