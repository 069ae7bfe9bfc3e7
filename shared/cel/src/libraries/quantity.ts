import { type Implementation, type Implementations, of, on, onText } from '../implementation.ts'
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

export function parseQuantity(text: string): Quantity | CelError {
  const reading = readQuantityText(text)
  return reading.kind === 'quantity' ? new Quantity(reading.quantity) : new CelError(reading.message)
}

/** The order of two quantities. */
export function compareTo(a: Quantity, b: Value): Value {
  return b instanceof Quantity ? compareQuantities(a.amount, b.amount) : noSuchOverload()
}

/** A function of a quantity and another, or an int. */
function combining(combine: (a: Amount, b: Amount) => Amount): Implementation {
  return of(2, (a, b) => {
    const other = isInt(b) ? toQuantity(b) : b instanceof Quantity ? b.amount : undefined
    return a instanceof Quantity && other !== undefined ? new Quantity(combine(a.amount, other)) : noSuchOverload()
  })
}

/** The functions of quantities, besides the order. */
export const quantityFunctions: Implementations = {
  quantity: onText(parseQuantity),
  isQuantity: onText((text) => readQuantityText(text).kind === 'quantity'),
  sign: on(Quantity, ({ amount }) => quantitySign(amount)),
  isInteger: on(Quantity, (quantity) => quantity.toInteger() !== undefined),
  asInteger: on(Quantity, (quantity) => {
    const value = quantity.toInteger()
    return value === undefined ? new CelError('cannot convert value to integer') : toInt(value)
  }),
  asApproximateFloat: on(Quantity, (quantity) => toDouble(quantity.toNumber())),
  add: combining(addQuantities),
  sub: combining(subtractQuantities),
}
