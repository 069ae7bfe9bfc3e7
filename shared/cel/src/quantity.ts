import { boundedMemo } from './memo.ts'

/** The format of a quantity: powers of 1024 (`Ki`), decimal suffixes (`m`, `k`) or an exponent (`e3`). */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent'

/**
 * An exact amount: `mantissa × 10^exponent`, never finer than 10^-9.
 * `text` is set when the amount was read from a text that keeps its form.
 */
export interface Quantity {
  readonly mantissa: bigint
  readonly exponent: number
  readonly format: QuantityFormat
  readonly text?: string
}

/** A parsed quantity, or the reason why the text is invalid. */
export type QuantityReading =
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'malformed'; readonly message: string }

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongSuffix = "unable to parse quantity's suffix"
const wrongNumber = 'unable to parse numeric part of quantity'

/** Maximum digits, and maximum exponent. Larger quantities would take too long to compute with. */
const digitsMax = 4096

const finestExponent = -9
const binaryMax = 2n ** 63n - 1n

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const binarySuffixes: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])
const decimalSuffixByExponent: ReadonlyMap<number, string> = new Map([...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]))
const binarySuffixByExponent: ReadonlyMap<number, string> = new Map([...binarySuffixes].map(([suffix, exponent]) => [exponent, suffix]))

/** The amount zero. */
export const zeroQuantity: Quantity = { mantissa: 0n, exponent: 0, format: 'DecimalSI' }

/** Parses a JSON value as a quantity: a string, a number, or null for zero. */
export function readQuantity(value: unknown): QuantityReading {
  if (value === null) return { kind: 'quantity', quantity: zeroQuantity }
  if (typeof value === 'string') return readQuantityText(value.trim())
  if (typeof value === 'number' || typeof value === 'bigint') return readQuantityText(String(value))
  return { kind: 'malformed', message: wrongFormat }
}

/** Parses a text as a quantity; undefined if invalid. */
export function parseQuantity(text: string): Quantity | undefined {
  const reading = readQuantityText(text)
  return reading.kind === 'quantity' ? reading.quantity : undefined
}

/** A whole number as a quantity. */
export function toQuantity(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { mantissa: BigInt(value), exponent: 0, format }
}

const knownReadingsMax = 1024
/** Maximum length of a cached text: V8 may keep the whole text in memory for a longer part of it. */
const knownLengthMax = 12

/** Parses a text as a quantity. */
export function readQuantityText(text: string): QuantityReading {
  return text.length > knownLengthMax ? computeReading(text) : knownReading(text)
}

/** Cached results for short texts: the same few amounts are parsed repeatedly, several times per write, and parsing is slow. */
const knownReading = boundedMemo(knownReadingsMax, computeReading)

/** The parts of this pattern cannot overlap, so that a long invalid text is refused in linear time. */
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/

function computeReading(text: string): QuantityReading {
  if (text === '') return { kind: 'malformed', message: wrongFormat }
  const match = pattern.exec(text)
  if (match === null) return { kind: 'malformed', message: wrongFormat }
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match
  const scale = readSuffix(suffix)
  if (scale === undefined) return { kind: 'malformed', message: wrongSuffix }
  const digits = whole + fraction
  if (digits.length > digitsMax || Math.abs(scale.exponent) > digitsMax) return { kind: 'malformed', message: wrongNumber }
  const magnitude = BigInt(digits)
  const exact =
    scale.format === 'BinarySI'
      ? { mantissa: magnitude << BigInt(scale.exponent), exponent: -fraction.length }
      : { mantissa: magnitude, exponent: scale.exponent - fraction.length }
  const bounded = bound(exact, scale.format)
  const signed = { ...bounded, mantissa: sign === '-' ? -bounded.mantissa : bounded.mantissa }
  return { kind: 'quantity', quantity: keepsItsText(whole, fraction, scale) ? { ...signed, text } : signed }
}

function readSuffix(suffix: string): { format: QuantityFormat; exponent: number } | undefined {
  const decimal = decimalSuffixes.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal }
  const binary = binarySuffixes.get(suffix)
  if (binary !== undefined) return { format: 'BinarySI', exponent: binary }
  if (/^[eE][-+]?\d+$/.test(suffix)) return { format: 'DecimalExponent', exponent: Number(suffix.slice(1)) }
  return undefined
}

/** Rounds away from zero to a nano, and caps binary quantities at the largest int64. */
function bound(amount: { mantissa: bigint; exponent: number }, format: QuantityFormat): Quantity {
  const fine = amount.exponent < finestExponent
  const rounded = fine
    ? { mantissa: divideUp(amount.mantissa, powerOfTen(finestExponent - amount.exponent)), exponent: finestExponent }
    : amount
  if (format !== 'BinarySI') return { ...rounded, format }
  const quantity: Quantity = { ...rounded, format }
  if (compareQuantities(quantity, toQuantity(binaryMax)) > 0) return toQuantity(binaryMax, 'BinarySI')
  const belowOne = rounded.mantissa > 0n && compareQuantities(quantity, toQuantity(1)) < 0
  return belowOne ? { ...rounded, format: 'DecimalSI' } : quantity
}

/**
 * A decimal text whose last digit is at the position of a suffix is returned unchanged:
 *
 *   5.444T → 5.444T (four digits at giga)     40.1T → 40100G (no suffix at 10^11)     1000M → 1G
 */
function keepsItsText(whole: string, fraction: string, scale: { format: QuantityFormat; exponent: number }): boolean {
  if (scale.format === 'BinarySI') return false
  const significant = whole.replace(/^0+(?=\d)/, '')
  const digits = significant + fraction
  const exponent = scale.exponent - fraction.length
  if (digits === '' || digits.startsWith('0') || digits.length > 18 || digits.endsWith('000')) return false
  return exponent % 3 === 0 && exponent >= finestExponent
}

/** The canonical text: no fraction, and the largest suffix of the quantity's format that leaves a whole number. */
export function printQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text
  if (quantity.mantissa === 0n) return '0'
  return quantity.format === 'BinarySI' && isWrittenInBinary(quantity) ? printBinary(quantity) : printDecimal(quantity)
}

function isWrittenInBinary(quantity: Quantity): boolean {
  const { mantissa, exponent } = withoutTrailingZeros(quantity)
  if (exponent < 0) return false
  const value = mantissa * powerOfTen(exponent)
  return value <= -1024n || value >= 1024n
}

function printBinary(quantity: Quantity): string {
  let value = roundUpQuantity(quantity)
  let exponent = 0
  while (value % 1024n === 0n) {
    value /= 1024n
    exponent += 10
  }
  return `${value}${binarySuffixByExponent.get(exponent) ?? ''}`
}

function printDecimal(quantity: Quantity): string {
  const { mantissa, exponent } = withoutTrailingZeros(quantity)
  const excess = ((exponent % 3) + 3) % 3
  const digits = mantissa * powerOfTen(excess)
  const place = exponent - excess
  if (quantity.format === 'DecimalExponent') return place === 0 ? `${digits}` : `${digits}e${place}`
  // There is no suffix beyond exa; like kube-apiserver, this omits the scale.
  return `${digits}${decimalSuffixByExponent.get(place) ?? ''}`
}

function withoutTrailingZeros(quantity: Quantity): { mantissa: bigint; exponent: number } {
  let mantissa = quantity.mantissa
  let exponent = quantity.exponent
  while (mantissa !== 0n && mantissa % 10n === 0n) {
    mantissa /= 10n
    exponent += 1
  }
  return { mantissa, exponent }
}

/** Negative, zero or positive; compares values, not texts. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  const [a, b] = aligned(left, right)
  return a < b ? -1 : a > b ? 1 : 0
}

/** The exact sum in the left side's format, or in the right side's if the left is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  const [a, b] = aligned(left, right)
  return { mantissa: a + b, exponent: Math.min(left.exponent, right.exponent), format: left.mantissa === 0n ? right.format : left.format }
}

/** The exact difference in the left side's format, or in the right side's if the left is zero. */
export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  return addQuantities(left, { ...right, mantissa: -right.mantissa })
}

/** -1, 0 or 1. */
export function quantitySign(quantity: Quantity): -1 | 0 | 1 {
  return quantity.mantissa === 0n ? 0 : quantity.mantissa < 0n ? -1 : 1
}

/** The amount in units of `10^exponent`, rounded away from zero. Default: whole numbers; -3 means thousandths. */
export function roundUpQuantity(quantity: Quantity, exponent = 0): bigint {
  const difference = quantity.exponent - exponent
  if (difference >= 0) return quantity.mantissa * powerOfTen(difference)
  return divideUp(quantity.mantissa, powerOfTen(-difference))
}

/** True if the amount has no fraction. */
export function isWholeQuantity(quantity: Quantity): boolean {
  return quantity.exponent >= 0 || quantity.mantissa % powerOfTen(-quantity.exponent) === 0n
}

function aligned(left: Quantity, right: Quantity): [bigint, bigint] {
  const exponent = Math.min(left.exponent, right.exponent)
  return [left.mantissa * powerOfTen(left.exponent - exponent), right.mantissa * powerOfTen(right.exponent - exponent)]
}

function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  if (value % divisor === 0n) return quotient
  return value < 0n ? quotient - 1n : quotient + 1n
}

const smallPowers = Array.from({ length: 32 }, (_, exponent) => 10n ** BigInt(exponent))

function powerOfTen(exponent: number): bigint {
  return smallPowers[exponent] ?? 10n ** BigInt(exponent)
}
