import {
  addQuantities,
  compareQuantities,
  isWholeQuantity,
  parseQuantity,
  type Quantity,
  roundUpQuantity,
  toQuantity,
  zeroQuantity,
} from '../../meta/quantity.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Device } from './objects.ts'

type DeviceCapacity = BuiltIn<'resource/v1.DeviceCapacity'>
/** Amounts by the name of the capacity. */
export type Amounts = ReadonlyMap<string, Quantity>

const thousandths = -3

/** The amounts that a request consumes from a device; undefined if the device lacks a capacity, has too little, or does not offer such amounts. */
export function consumptionOf({ capacity = {} }: Device, requests: Readonly<Record<string, string>>): Amounts | undefined {
  if (!Object.keys(requests).every((name) => Object.hasOwn(capacity, name))) return undefined
  const amounts = new Map<string, Quantity>()
  for (const [name, one] of Object.entries(capacity)) {
    const asked = Object.hasOwn(requests, name) ? readAmount(requests[name]) : undefined
    const amount = consumedOf(one, asked)
    if (!isAllowed(one, amount) || compareQuantities(amount, readAmount(one.value)) > 0) return undefined
    amounts.set(name, amount)
  }
  return amounts
}

/** True if a shared device has enough capacity besides the amounts in use. */
export function hasRoomFor({ capacity = {} }: Device, amounts: Amounts, used: Amounts): boolean {
  return [...amounts].every(([name, amount]) => {
    const total = addQuantities(amount, used.get(name) ?? zeroQuantity)
    return compareQuantities(total, readAmount(capacity[name]?.value)) <= 0
  })
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a)
  for (const [name, amount] of b) sum.set(name, addQuantities(sum.get(name) ?? zeroQuantity, amount))
  return sum
}

export function readAmount(text: string | undefined): Quantity {
  return (text === undefined ? undefined : parseQuantity(text)) ?? zeroQuantity
}

/** Without a requested amount, a request consumes the default or else the whole capacity; otherwise the next larger valid amount. */
function consumedOf({ value, requestPolicy }: DeviceCapacity, asked: Quantity | undefined): Quantity {
  if (asked === undefined) return readAmount(requestPolicy?.default ?? value)
  const { validRange, validValues = [] } = requestPolicy ?? {}
  if (validRange?.min != null) return inRange(asked, validRange.min, validRange.step ?? undefined)
  return validValues.map(readAmount).find((one) => compareQuantities(asked, one) <= 0) ?? asked
}

/** The smallest amount of a range that suffices. Fractional steps are counted in thousandths. */
function inRange(asked: Quantity, minText: string, stepText: string | undefined): Quantity {
  const min = readAmount(minText)
  if (compareQuantities(asked, min) < 0) return min
  if (stepText === undefined) return asked
  const step = readAmount(stepText)
  const unit = isWholeQuantity(min) && isWholeQuantity(step) ? 0 : thousandths
  const [first, size] = [roundUpQuantity(min, unit), roundUpQuantity(step, unit)]
  if (size <= 0n) return asked
  const steps = (roundUpQuantity(asked, unit) - first + size - 1n) / size
  const units = first + steps * size
  return unit === 0 || units % 1000n === 0n ? toQuantity(unit === 0 ? units : units / 1000n, step.format) : readAmount(`${units}m`)
}

function isAllowed({ requestPolicy }: DeviceCapacity, amount: Quantity): boolean {
  const { validRange, validValues = [] } = requestPolicy ?? {}
  if (requestPolicy?.default != null && compareQuantities(amount, readAmount(requestPolicy.default)) === 0) return true
  if (validRange != null) return validRange.max == null || compareQuantities(amount, readAmount(validRange.max)) <= 0
  return validValues.length === 0 || validValues.some((one) => compareQuantities(amount, readAmount(one)) === 0)
}
