import { concatLists, isList } from './collections.ts'
import type { Meter } from './meter.ts'
import { addToTimestamp, durationOf } from './time.ts'
import { CelError, Duration, doubleOf, isInt, noSuchOverload, Timestamp, toDouble, toInt, Uint, type Value } from './values.ts'

const intMin = -(2n ** 63n)
const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

const overflow = new CelError('integer overflow')
const unsignedOverflow = new CelError('unsigned integer overflow')
const divisionByZero = new CelError('division by zero')
const modulusByZero = new CelError('modulus by zero')

/** An int64; an error outside its range. */
export function checkedInt(value: bigint): number | bigint | CelError {
  return value < intMin || value > intMax ? overflow : toInt(value)
}

/** A uint64; an error outside its range. */
function checkedUint(value: bigint): Uint | CelError {
  return value < 0n || value > uintMax ? unsignedOverflow : new Uint(value)
}

/** True for a uint64. */
export function fitsUint(value: bigint): boolean {
  return value >= 0n && value <= uintMax
}

/** True for an int64. */
export function fitsInt(value: bigint): boolean {
  return value >= intMin && value <= intMax
}

/** `a + b`: numbers, texts, bytes, lists, times. */
export function add(meter: Meter, a: Value, b: Value): Value {
  if (typeof a === 'string') return typeof b === 'string' ? a + b : noSuchOverload()
  if (isInt(a)) return isInt(b) ? addInts(a, b) : noSuchOverload()
  if (isList(a)) return isList(b) ? concatLists(meter, a, b) : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value + b.value) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? concatBytes(a, b) : noSuchOverload()
  if (a instanceof Duration) {
    if (b instanceof Duration) return durationOf(a.ns + b.ns)
    return b instanceof Timestamp ? addToTimestamp(b, a.ns) : noSuchOverload()
  }
  if (a instanceof Timestamp) return b instanceof Duration ? addToTimestamp(a, b.ns) : noSuchOverload()
  return doubles(a, b, (x, y) => x + y)
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? subtractInts(a, b) : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value - b.value) : noSuchOverload()
  if (a instanceof Duration) return b instanceof Duration ? durationOf(a.ns - b.ns) : noSuchOverload()
  if (a instanceof Timestamp) {
    if (b instanceof Duration) return addToTimestamp(a, -b.ns)
    return b instanceof Timestamp ? durationOf(a.ns - b.ns) : noSuchOverload()
  }
  return doubles(a, b, (x, y) => x - y)
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (isInt(a)) return isInt(b) ? multiplyInts(a, b) : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value * b.value) : noSuchOverload()
  return doubles(a, b, (x, y) => x * y)
}

/** `a / b`: whole numbers are cut toward zero. */
export function divide(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return noSuchOverload()
    return Number(b) === 0 ? divisionByZero : checkedInt(BigInt(a) / BigInt(b))
  }
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return noSuchOverload()
    return b.value === 0n ? divisionByZero : new Uint(a.value / b.value)
  }
  return doubles(a, b, (x, y) => x / y)
}

/** `a % b`: the sign is that of `a`. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return noSuchOverload()
    if (Number(b) === 0) return modulusByZero
    const isExtreme = typeof a === 'bigint' && a === intMin && Number(b) === -1
    return isExtreme ? overflow : checkedInt(BigInt(a) % BigInt(b))
  }
  if (!(a instanceof Uint && b instanceof Uint)) return noSuchOverload()
  return b.value === 0n ? modulusByZero : new Uint(a.value % b.value)
}

/** `-a`. */
export function negate(a: Value): Value {
  if (isInt(a)) return typeof a === 'number' ? 0 - a : checkedInt(-a)
  const double = doubleOf(a)
  if (double !== undefined) return toDouble(-double)
  return a instanceof Duration ? durationOf(-a.ns) : noSuchOverload()
}

/** The sum of two ints. */
function addInts(a: number | bigint, b: number | bigint): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return checkedInt(BigInt(a) + BigInt(b))
}

function subtractInts(a: number | bigint, b: number | bigint): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return checkedInt(BigInt(a) - BigInt(b))
}

function multiplyInts(a: number | bigint, b: number | bigint): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product + 0
  }
  return checkedInt(BigInt(a) * BigInt(b))
}

function doubles(a: Value, b: Value, operate: (x: number, y: number) => number): Value {
  const x = doubleOf(a)
  const y = doubleOf(b)
  return x === undefined || y === undefined ? noSuchOverload() : toDouble(operate(x, y))
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}
