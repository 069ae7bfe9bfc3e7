import {
  addQuantities,
  compareQuantities,
  isWholeQuantity,
  printQuantity,
  type Quantity,
  quantitySign,
  readQuantity,
  roundUpQuantity,
  zeroQuantity,
} from '../../../meta/quantity.ts'
import type { FieldError } from '../../../meta/status.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, tooManyValues } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { isGiven } from '../checks.ts'

const valuesMax = 10
const int64Max = 2n ** 63n - 1n

/** A policy of a capacity. */
interface PlacedPolicy {
  readonly policy: Part
  /** The total capacity. */
  readonly capacity: unknown
  readonly at: string
  readonly context: RuleContext
}

/** Validates the amounts that claims may request from a capacity: a set of values, or a range. */
export function validateRequestPolicy(errors: FieldError[], { policy, capacity, at, context }: PlacedPolicy): void {
  const values = itemsOf<unknown>(policy, 'validValues').map(toQuantity)
  const range = optionalPart(policy, 'validRange')
  if (values.length > 0 && range !== undefined) {
    const text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
    errors.push(forbiddenValue(at, text))
    return
  }
  const name = values.length > 0 ? 'validValues' : 'validRange'
  if (name === 'validRange' && range === undefined) return
  if (!isGiven(policy, 'default')) {
    errors.push(requiredValue(`${at}.default`, `required when ${name} is defined`))
    return
  }
  const bounds: Bounds = {
    initial: toQuantity(policy['default']),
    whole: toQuantity(capacity),
    at: `${at}.${name}`,
    hasFractions: context.isGateOn('DRAFractionalCapacityRange'),
  }
  if (range === undefined) validateValues(errors, values, bounds)
  else validateRange(errors, range, bounds)
}

interface Bounds {
  /** The amount for a request that states no amount. */
  readonly initial: Quantity
  readonly whole: Quantity
  readonly at: string
  readonly hasFractions: boolean
}

function toQuantity(value: unknown): Quantity {
  const reading = readQuantity(value ?? null)
  return reading.kind === 'quantity' ? reading.quantity : zeroQuantity
}

function validateValues(errors: FieldError[], values: readonly Quantity[], { initial, whole, at, hasFractions }: Bounds): void {
  const texts = values.map(printQuantity)
  for (const [index, value] of values.entries()) {
    const before = values[index - 1]
    if (before !== undefined && compareQuantities(before, value) > 0)
      errors.push(invalidValue(`${at}[${index}]`, texts[index], 'values must be sorted in ascending order'))
  }
  let isKnown = false
  if (values.length > valuesMax) errors.push(tooManyValues(at, values.length, valuesMax))
  else {
    const isEqual = (one: Quantity, other: Quantity) =>
      hasFractions ? compareQuantities(one, other) === 0 : roundUpQuantity(one) === roundUpQuantity(other)
    for (const [index, value] of values.entries()) {
      if (compareQuantities(value, whole) > 0)
        errors.push(invalidValue(`${at}[${index}]`, texts[index], `option is larger than capacity value: ${printQuantity(whole)}`))
      if (compareQuantities(value, initial) === 0) isKnown = true
    }
    for (const [index, value] of values.entries()) {
      if (values.slice(0, index).some((before) => isEqual(before, value))) errors.push(duplicateValue(`${at}[${index}]`, plainText(value)))
    }
  }
  if (!isKnown) errors.push(invalidValue(at, printQuantity(initial), 'default value is not valid according to the requestPolicy'))
}

/** The amount without a suffix. */
function plainText(value: Quantity): string {
  return printQuantity({ mantissa: roundUpQuantity(value), exponent: 0, format: 'DecimalExponent' })
}

function validateRange(errors: FieldError[], range: Part, bounds: Bounds): void {
  const { initial, whole, at } = bounds
  if (!isGiven(range, 'min')) {
    errors.push(requiredValue(`${at}.min`, 'required when validRange is defined'))
    return
  }
  const min = toQuantity(range['min'])
  const max = isGiven(range, 'max') ? toQuantity(range['max']) : undefined
  const fault = (name: string, value: Quantity, detail: string): void => {
    errors.push(invalidValue(`${at}.${name}`, printQuantity(value), detail))
  }
  if (compareQuantities(min, whole) > 0) fault('min', min, `min is larger than capacity value: ${printQuantity(whole)}`)
  if (compareQuantities(initial, min) < 0) fault('default', initial, `default is less than min: ${printQuantity(min)}`)
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) fault('max', min, `min is larger than max: ${printQuantity(max)}`)
    if (compareQuantities(max, whole) > 0) fault('max', max, `max is larger than capacity value: ${printQuantity(whole)}`)
    if (compareQuantities(initial, max) > 0) fault('default', initial, `default is more than max: ${printQuantity(max)}`)
  }
  const step = isGiven(range, 'step') ? toQuantity(range['step']) : undefined
  validateStep(fault, { ...bounds, min, max, step })
}

interface Range extends Bounds {
  readonly min: Quantity
  readonly max: Quantity | undefined
  readonly step: Quantity | undefined
}

type Fault = (name: string, value: Quantity, detail: string) => void

function validateStep(fault: Fault, { initial, whole, min, max, step, hasFractions }: Range): void {
  const named = [
    ['default', initial],
    ['min', min],
    ['max', max],
    ['step', step],
  ] as const
  const given = named.filter((entry): entry is readonly [(typeof entry)[0], Quantity] => entry[1] !== undefined)
  const inMillis = hasFractions && given.some(([, value]) => !isWholeQuantity(value))
  if (inMillis) {
    const finer = given.filter(([, value]) => compareQuantities(value, millis(value)) !== 0)
    for (const [name, value] of finer) fault(name, value, 'value cannot be represented as a milli value')
    if (finer.length > 0) return
  }
  if (step === undefined) return
  if (quantitySign(step) <= 0) {
    fault('step', step, 'must be greater than zero')
    return
  }
  const next = addQuantities(min, step)
  if (compareQuantities(next, whole) > 0)
    fault('step', step, `one step ${printQuantity(next)} is larger than capacity value: ${printQuantity(whole)}`)
  if (!inMillis) {
    const outside = given.filter(([, value]) => quantitySign(value) < 0 || roundUpQuantity(value) > int64Max)
    for (const [name, value] of outside) {
      fault(name, value, quantitySign(value) < 0 ? 'must be greater than or equal to 0' : `must not be larger than ${int64Max}`)
    }
    if (outside.length > 0) return
  }
  const unit = inMillis ? -3 : 0
  const from = `value is not a multiple of a given step (${printQuantity(step)}) from (${printQuantity(min)})`
  for (const value of [initial, max]) {
    if (value === undefined) continue
    const distance = roundUpQuantity(value, unit) - roundUpQuantity(min, unit)
    if (distance % roundUpQuantity(step, unit) !== 0n) fault('step', value, from)
  }
}

/** The amount in thousandths. */
function millis(value: Quantity): Quantity {
  return { mantissa: roundUpQuantity(value, -3), exponent: -3, format: value.format }
}
