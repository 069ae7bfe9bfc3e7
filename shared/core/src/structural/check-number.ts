import { goFloat, goNumber, kindOfValue } from '../json/go-text.ts'
import { invalid, joinedPath } from './field-path.ts'
import { isKnownFormat } from './formats.ts'
import { type Run, report } from './run.ts'
import type { StructuralSchema } from './schema.ts'

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n
const int32Max = 2n ** 31n - 1n
const int32Min = -(2n ** 31n)

/** Checks the range of the format, the bounds and the multiple of a number. */
export function checkNumber(schema: StructuralSchema, value: number | bigint, run: Run): number {
  const { multipleOf, maximum, minimum } = schema.values ?? {}
  const range = rangeOf(schema)
  if (!range.holds(value)) refuseRange(range, 'Checked', run)
  if (multipleOf !== undefined) checkFactor(range, value, multipleOf, run)
  if (maximum !== undefined)
    checkBound(range, value, { kind: 'Maximum', bound: maximum, isExclusive: schema.values?.exclusiveMaximum === true }, run)
  if (minimum !== undefined)
    checkBound(range, value, { kind: 'Minimum', bound: minimum, isExclusive: schema.values?.exclusiveMinimum === true }, run)
  return 1
}

/** The range of numbers for a type and format. */
interface Range {
  readonly text: string
  readonly holds: (value: number | bigint) => boolean
}

function rangeOf({ type, isIntOrString, values }: StructuralSchema): Range {
  const format = values?.format !== undefined && isKnownFormat(values.format) ? values.format : undefined
  const text = `${type ?? ''} ${format === undefined ? '(default format)' : `with format ${format}`}`
  if (isIntOrString !== true && type === 'integer') {
    const [min, max] = format === 'int32' ? [int32Min, int32Max] : [int64Min, int64Max]
    return {
      text,
      holds: (value) => (typeof value === 'bigint' || Number.isInteger(value)) && BigInt(value) >= min && BigInt(value) <= max,
    }
  }
  return { text, holds: (value) => format !== 'float' || Number.isFinite(Math.fround(Number(value))) }
}

/** Errors about ranges do not name the field. */
function refuseRange({ text }: Range, what: string, run: Run): void {
  report(run, invalid('', '', `${what} value must be of type ${text} in ${joinedPath(run.names)}`))
}

interface Bound {
  readonly kind: 'Maximum' | 'Minimum'
  readonly bound: number
  readonly isExclusive: boolean
}

/** Integers are compared with the integer part of the bound, as in kube-apiserver. */
function checkBound(range: Range, value: number | bigint, { kind, bound, isExclusive }: Bound, run: Run): void {
  const isBoundInRange = range.holds(bound)
  if (!isBoundInRange) refuseRange(range, `${kind} boundary`, run)
  const isInt = isBoundInRange && kindOfValue(value) === 'int'
  const limit = isInt ? Math.trunc(bound) : bound
  const isMax = kind === 'Maximum'
  const isBeyond = isMax ? value > limit : value < limit
  if (!isBeyond && !(isExclusive && Number(value) === limit)) return
  const path = joinedPath(run.names)
  const relation = `${isMax ? 'less' : 'greater'} than${isExclusive ? '' : ' or equal to'}`
  report(run, invalid(path, value, `${path} in body should be ${relation} ${isInt ? goNumber(limit) : goFloat(limit)}`))
}

function checkFactor(range: Range, value: number | bigint, factor: number, run: Run): void {
  const isFactorInRange = range.holds(factor)
  if (!isFactorInRange) refuseRange(range, 'MultipleOf', run)
  const path = joinedPath(run.names)
  const isInt = isFactorInRange && kindOfValue(value) === 'int'
  const divisor = isInt ? Math.trunc(factor) : factor
  const text = isInt ? goNumber(divisor) : goFloat(divisor)
  if (divisor <= 0) report(run, invalid(path, divisor, `factor MultipleOf declared for ${path} must be positive: ${text}`))
  else if (!isMultiple(value, divisor, isInt)) report(run, invalid(path, value, `${path} in body should be a multiple of ${text}`))
}

function isMultiple(value: number | bigint, divisor: number, isInt: boolean): boolean {
  if (isInt) return BigInt(value) % BigInt(divisor) === 0n
  const quotient = divisor < 1 ? (1 / divisor) * Number(value) : Number(value) / divisor
  return isWholeQuotient(quotient)
}

/** Tolerates rounding errors of the division. */
function isWholeQuotient(quotient: number): boolean {
  if (!Number.isFinite(quotient) || Math.abs(quotient) > Number.MAX_SAFE_INTEGER) return false
  const nearest = Math.trunc(quotient)
  const difference = Math.abs(quotient - nearest)
  return difference === 0 || difference / Math.min(Math.abs(quotient) + Math.abs(nearest), Number.MAX_VALUE) < 1e-9
}
