import {
  type Quantity as Amount,
  addQuantities,
  compareQuantities,
  isWholeQuantity,
  quantitySign,
  readQuantityText,
  roundUpQuantity,
  subtractQuantities,
  toQuantity,
} from '../quantity.ts'
import { CelError, isInt, noSuchOverload, Opaque, toDouble, toInt, type Value } from '../values/values.ts'

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** The result of `quantity(text)`. */
export class Quantity extends Opaque {
  override readonly typeName = 'kubernetes.Quantity'
  readonly amount: Amount

  constructor(amount: Amount) {
    super()
    this.amount = amount
  }

  override equals(other: Opaque): boolean {
    return other instanceof Quantity && compareQuantities(this.amount, other.amount) === 0
  }

  /** The amount as an int64; undefined if it is not an int64. */
  toInteger(): bigint | undefined {
    if (!isWholeQuantity(this.amount)) return undefined
    const value = roundUpQuantity(this.amount)
    return value > int64Max || value < int64Min ? undefined : value
  }

  toNumber(): number {
    return Number(`${this.amount.mantissa}e${this.amount.exponent}`)
  }
}

/** `quantity(text)`. */
export function parseQuantity(text: Value): Value {
  if (typeof text !== 'string') return noSuchOverload()
  const reading = readQuantityText(text)
  return reading.kind === 'quantity' ? new Quantity(reading.quantity) : new CelError(reading.message)
}

/** `isQuantity(text)`. */
export function isQuantity(text: Value): Value {
  return typeof text === 'string' ? readQuantityText(text).kind === 'quantity' : noSuchOverload()
}

/** `a.compareTo(b)`. */
export function compareTo(a: Quantity, b: Value): Value {
  return b instanceof Quantity ? compareQuantities(a.amount, b.amount) : noSuchOverload()
}

/** `a.add(b)` with a sign of 1, `a.sub(b)` with -1; `b` is a quantity or an int. */
export function addQuantity(a: Value, b: Value, sign: 1 | -1): Value {
  if (!(a instanceof Quantity)) return noSuchOverload()
  const other = isInt(b) ? toQuantity(b) : b instanceof Quantity ? b.amount : undefined
  if (other === undefined) return noSuchOverload()
  return new Quantity(sign === 1 ? addQuantities(a.amount, other) : subtractQuantities(a.amount, other))
}

/** `sign(a)`. */
export function signOf(a: Value): Value {
  return a instanceof Quantity ? quantitySign(a.amount) : noSuchOverload()
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
