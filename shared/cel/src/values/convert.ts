import { checkedInt, fitsInt, fitsUint } from './arithmetic.ts'
import type { Meter } from './meter.ts'
import { parseDuration, parseTimestamp, printDuration, printTimestamp, timestampOf, unixSeconds } from './time.ts'
import {
  CelError,
  Double,
  Duration,
  doubleOf,
  isInt,
  noSuchOverload,
  Opaque,
  Timestamp,
  TypeValue,
  toDouble,
  typeNameOf,
  Uint,
  type Value,
} from './values.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const intRange = new CelError('integer overflow')
const uintRange = new CelError('unsigned integer overflow')

/** `int(x)`. */
export function convertToInt(value: Value): Value {
  if (isInt(value)) return value
  if (value instanceof Uint) return fitsInt(value.value) ? checkedInt(value.value) : intRange
  if (typeof value === 'string') {
    const parsed = /^[+-]?\d{1,400}$/.test(value) ? BigInt(value.replace(/^\+/, '')) : undefined
    return parsed !== undefined && fitsInt(parsed) ? checkedInt(parsed) : conversionError('int')
  }
  if (value instanceof Timestamp) return checkedInt(unixSeconds(value))
  if (value instanceof Duration) return checkedInt(value.ns)
  const double = doubleOf(value)
  if (double === undefined) return noSuchOverload()
  if (!(double > -(2 ** 63) && double < 2 ** 63)) return intRange
  return checkedInt(BigInt(Math.trunc(double)))
}

/** `uint(x)`. */
export function convertToUint(value: Value): Value {
  if (value instanceof Uint) return value
  if (isInt(value)) return value < 0 ? uintRange : new Uint(BigInt(value))
  if (typeof value === 'string') {
    const parsed = /^\d{1,400}$/.test(value) ? BigInt(value) : undefined
    return parsed !== undefined && fitsUint(parsed) ? new Uint(parsed) : conversionError('uint')
  }
  const double = doubleOf(value)
  if (double === undefined) return noSuchOverload()
  return double >= 0 && double < 2 ** 64 ? new Uint(BigInt(Math.trunc(double))) : uintRange
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const named: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  '+inf': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  '+infinity': Number.POSITIVE_INFINITY,
  '-infinity': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
}

/** `double(x)`. */
export function convertToDouble(meter: Meter, value: Value): Value {
  if (value instanceof Double) return value
  if (typeof value === 'number') return toDouble(value)
  if (typeof value === 'bigint') return toDouble(Number(value))
  if (value instanceof Uint) return toDouble(Number(value.value))
  if (typeof value !== 'string') return noSuchOverload()
  meter.addWork(value.length)
  const parsed = decimal.test(value) ? Number(value) : named[value.toLowerCase()]
  return parsed === undefined ? conversionError('double') : toDouble(parsed)
}

/** `string(x)`. */
export function convertToString(value: Value): Value {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || isInt(value)) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Uint8Array) return decodeText(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Opaque) return String(value)
  const double = doubleOf(value)
  return double === undefined ? noSuchOverload() : printDouble(double)
}

/** Decodes UTF-8; an error for invalid bytes. */
export function decodeText(bytes: Uint8Array): string | CelError {
  try {
    return decoder.decode(bytes)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** A double as Go's `%g` prints it. */
export function printDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const [digits = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 21) return String(value).includes('e') ? value.toFixed(20).replace(/0+$/, '') : String(value)
  const sign = exponent < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** `bytes(x)`. */
export function convertToBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' ? encoder.encode(value) : noSuchOverload()
}

const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const falseTexts = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

/** `bool(x)`. */
export function convertToBool(value: Value): Value {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return noSuchOverload()
  if (trueTexts.has(value)) return true
  return falseTexts.has(value) ? false : conversionError('bool')
}

/** `duration(x)`. */
export function convertToDuration(meter: Meter, value: Value): Value {
  if (value instanceof Duration) return value
  if (isInt(value)) return new Duration(BigInt(value))
  if (typeof value !== 'string') return noSuchOverload()
  return parseDuration(meter, value) ?? conversionError('google.protobuf.Duration')
}

/** `timestamp(x)`. */
export function convertToTimestamp(meter: Meter, value: Value): Value {
  if (value instanceof Timestamp) return value
  if (isInt(value)) return timestampOf(BigInt(value) * 1_000_000_000n)
  if (typeof value !== 'string') return noSuchOverload()
  return parseTimestamp(meter, value) ?? conversionError('google.protobuf.Timestamp')
}

/** `type(x)`. */
export function convertToType(value: Value): Value {
  return new TypeValue(typeNameOf(value))
}

function conversionError(type: string): CelError {
  return new CelError(`type conversion error from ${quoted('string')} to ${quoted(type)}`)
}

function quoted(name: string): string {
  return `'${name}'`
}
