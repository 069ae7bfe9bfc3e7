import { quantity } from '../../description/values.ts'
import { checkQualifiedName, compareQuantities, type FieldError, parseQuantity, type Quantity, toQuantity } from '../../meta/index.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { containerResources, mayExceed, validateAnyResourceName, validateResourceName } from './pod/resources.ts'

const types = ['Pod', 'Container', 'PersistentVolumeClaim']
const bounds = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
type Bound = (typeof bounds)[number]

/** The rules of a LimitRange: its minimum may not exceed its maximum. */
export function validateLimitRange(range: Part): FieldError[] {
  const seen = new Set<string>()
  return itemsOf(partOf(range, 'spec'), 'limits').flatMap((limit, index) => {
    const at = `spec.limits[${index}]`
    const type = textOf(limit, 'type')
    const errors = validateType(type, `${at}.type`)
    if (seen.has(type)) errors.push(duplicateValue(`${at}.type`, type))
    seen.add(type)
    return [...errors, ...validateNames(limit, type, at), ...validateBounds(limit, at)]
  })
}

function validateType(type: string, field: string): FieldError[] {
  const errors = invalidFor(field, type, checkQualifiedName(type))
  if (errors.length > 0 || type.includes('/') || types.includes(type)) return errors
  return [...errors, invalidValue(field, type, 'must be a standard limit type or fully qualified')]
}

function validateNames(limit: Part, type: string, at: string): FieldError[] {
  const errors: FieldError[] = []
  for (const bound of bounds) {
    const names = Object.keys(partOf(limit, bound))
    if (type === 'Pod' && isDefault(bound)) {
      if (names.length > 0) errors.push(forbiddenValue(`${at}.${bound}`, "may not be specified when `type` is 'Pod'"))
      continue
    }
    for (const name of names) validateName(errors, name, type, `${at}.${bound}[${name}]`)
  }
  const hasSize = [partOf(limit, 'min'), partOf(limit, 'max')].some((amounts) => Object.hasOwn(amounts, 'storage'))
  if (type === 'PersistentVolumeClaim' && !hasSize) {
    errors.push(requiredValue(`${at}.limits`, 'either minimum or maximum storage value is required, but neither was provided'))
  }
  return errors
}

/** Limits of containers and Pods may only name resources of containers. */
function validateName(errors: FieldError[], name: string, type: string, field: string): void {
  if (containerResources.has(name)) return
  if (type === 'Container' || type === 'Pod') validateResourceName(errors, name, field)
  else validateAnyResourceName(errors, name, field)
}

function isDefault(bound: Bound): boolean {
  return bound === 'default' || bound === 'defaultRequest'
}

function validateBounds(limit: Part, at: string): FieldError[] {
  const named = new Set(bounds.flatMap((bound) => Object.keys(partOf(limit, bound))))
  return [...named].flatMap((name) => validateResource(limit, name, at))
}

/** Validates one resource: `min ≤ default request ≤ default ≤ max`. */
function validateResource(limit: Part, name: string, at: string): FieldError[] {
  const errors: FieldError[] = []
  const isOfPods = textOf(limit, 'type') === 'Pod'
  const text = (bound: Bound): string => (isOfPods && isDefault(bound) ? '' : String(partOf(limit, bound)[name]))
  const amount = (bound: Bound): Quantity | undefined => parseQuantity(text(bound))
  const isMore = (left: Bound, right: Bound): boolean => {
    const [more, less] = [amount(left), amount(right)]
    return more !== undefined && less !== undefined && compareQuantities(more, less) > 0
  }
  const refuse = (field: Bound, value: Bound, detail: string): void => {
    errors.push(invalidValue(`${at}.${field}[${name}]`, goValue(quantity(), text(value)), detail))
  }
  const [min, max, request, given] = [text('min'), text('max'), text('defaultRequest'), text('default')]
  if (isMore('min', 'max')) refuse('min', 'min', `min value ${min} is greater than max value ${max}`)
  if (isMore('min', 'defaultRequest')) {
    refuse('defaultRequest', 'defaultRequest', `min value ${min} is greater than default request value ${request}`)
  }
  if (isMore('defaultRequest', 'max')) {
    refuse('defaultRequest', 'defaultRequest', `default request value ${request} is greater than max value ${max}`)
  }
  if (isMore('defaultRequest', 'default')) {
    refuse('defaultRequest', 'defaultRequest', `default request value ${request} is greater than default limit value ${given}`)
  }
  if (isMore('min', 'default')) refuse('default', 'min', `min value ${min} is greater than default value ${given}`)
  if (isMore('default', 'max')) refuse('default', 'max', `default value ${given} is greater than max value ${max}`)
  if (!mayExceed(name) && isMore('default', 'defaultRequest')) {
    refuse('defaultRequest', 'defaultRequest', `default value ${given} must equal to defaultRequest value ${request} in ${name}`)
  }
  return [
    ...errors,
    ...validateRatio({
      ratio: amount('maxLimitRequestRatio'),
      min: amount('min'),
      max: amount('max'),
      field: `${at}.maxLimitRequestRatio[${name}]`,
      text: text('maxLimitRequestRatio'),
    }),
  ]
}

interface Ratio {
  readonly ratio: Quantity | undefined
  readonly min: Quantity | undefined
  readonly max: Quantity | undefined
  readonly field: string
  readonly text: string
}

function validateRatio({ ratio, min, max, field, text }: Ratio): FieldError[] {
  if (ratio === undefined) return []
  const errors =
    compareQuantities(ratio, toQuantity(1)) < 0 ? [invalidValue(field, goValue(quantity(), text), `ratio ${text} is less than 1`)] : []
  if (min === undefined || max === undefined || min.mantissa === 0n) return errors
  const share = toNumber(max) / toNumber(min)
  return toNumber(ratio) > share
    ? [...errors, invalidValue(field, goValue(quantity(), text), `ratio ${text} is greater than max/min = ${share.toFixed(6)}`)]
    : errors
}

function toNumber({ mantissa, exponent }: Quantity): number {
  return Number(mantissa) * 10 ** exponent
}
