import { explain } from '@orch/cel/name-formats'
import { intOrString } from '../description/values.ts'
import { type FieldError, parseQuantity, quantitySign } from '../meta/index.ts'
import { goValue, type NumberFacets, type ScalarNode, type StringNode } from '../schema/index.ts'
import { invalidFor, invalidValue, tooLongValue, unsupportedValue } from './field-errors.ts'
import { textChecks } from './formats.ts'
import { bytesOf, checkPortName, checkPortNumber } from './texts.ts'

/** Returns a function for the errors of a value; undefined if it is valid, so that valid values need no path. */
export type LeafCheck = (value: unknown) => ((field: string) => readonly FieldError[]) | undefined

/** The check of a text by its facets; undefined without such facets. */
export function checkOfText({ isEnforced, values = [], format, bytesMax, charactersSince }: StringNode): LeafCheck | undefined {
  if (isEnforced) {
    const known = new Set<unknown>(values)
    return (value) => (known.has(value) ? undefined : (field) => [unsupportedValue(field, value, values)])
  }
  const check = format && textChecks[format]
  if (check === undefined && bytesMax === undefined) return undefined
  return (value) => {
    if (typeof value !== 'string') return undefined
    const problems = check?.(value) ?? []
    const isLong = bytesMax !== undefined && value.length * 3 > bytesMax && bytesOf(value) > bytesMax
    if (problems.length === 0 && !isLong) return undefined
    return (field) => [...invalidFor(field, value, problems), ...(isLong ? [tooLongValue(field, bytesMax, charactersSince)] : [])]
  }
}

/** The check of a number, quantity or int-or-string by its facets; undefined without such facets. */
export function checkOfScalar(node: ScalarNode): LeafCheck | undefined {
  switch (node.kind) {
    case 'quantity':
      return node.sign && checkOfQuantity(node.sign, node.detail)
    case 'intOrString':
      if (node.means === 'port') return checkPort
      return node.means === 'count' ? (value) => checkCount(value, node.max) : undefined
    default:
      return node.min === undefined && node.max === undefined ? undefined : checkOfNumber(node)
  }
}

function checkOfNumber({ min = -Infinity, max = Infinity, detail }: NumberFacets): LeafCheck {
  const text = detail ?? boundsText(min, max)
  return (value) => {
    const isNumber = typeof value === 'number' || typeof value === 'bigint'
    return !isNumber || (value >= min && value <= max) ? undefined : (field) => [invalidValue(field, value, text)]
  }
}

function boundsText(min: number, max: number): string {
  if (max === Infinity) return min === 1 ? 'must be greater than 0' : `must be greater than or equal to ${min}`
  return min === -Infinity ? `must be less than or equal to ${max}` : `must be between ${min} and ${max}, inclusive`
}

function checkOfQuantity(wanted: 'positive' | 'notNegative', detail?: string): LeafCheck {
  const text = detail ?? (wanted === 'positive' ? 'must be greater than zero' : 'must be greater than or equal to 0')
  return (value) => {
    const quantity = parseQuantity(String(value))
    const sign = quantity === undefined ? 1 : quantitySign(quantity)
    return sign > 0 || (sign === 0 && wanted === 'notNegative') ? undefined : (field) => [invalidValue(field, value, text)]
  }
}

/** Checks a port by number or name. */
function checkPort(value: unknown): ReturnType<LeafCheck> {
  const problems = typeof value === 'string' ? checkPortName(value) : checkPortNumber(typeof value === 'number' ? value : 0)
  return problems.length === 0 ? undefined : (field) => invalidFor(field, value ?? 0, problems)
}

const percentPattern = /^[0-9]+%$/
const wrongPercent = explain("a valid percent string must be a numeric string followed by an ending '%'", ['1%', '93%'], '[0-9]+%')

/** Checks a count or a percentage such as `25%`, optionally with a maximum. */
function checkCount(value: unknown, max = Infinity): ReturnType<LeafCheck> {
  if (typeof value !== 'string') {
    const isNegative = (typeof value === 'number' || typeof value === 'bigint') && value < 0
    return isNegative ? (field) => [invalidValue(field, value, 'must be greater than or equal to 0')] : undefined
  }
  const problem = percentPattern.test(value) ? Number.parseInt(value, 10) > max && `must not be greater than ${max}%` : wrongPercent
  return problem ? (field) => [invalidValue(field, goValue(intOrString(), value), problem)] : undefined
}
