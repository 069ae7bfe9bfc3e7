import { type ScalarNode, structDepthMax } from '../description/node.ts'
import { Numeral } from '../json/numeral.ts'
import { readTimeText, type TimeKind } from '../meta/go-time.ts'
import { type Instant, printMicroTime, printQuantity, printTime, readQuantity } from '../meta/index.ts'

/** A value of the wrong type. `message` states the expected type; the caller adds the path. */
export class Mismatch extends Error {
  /** True if the type parses itself, such as a quantity: kube-apiserver's error then has no path and type. */
  readonly isOwn: boolean

  constructor(message: string, { isOwn = false }: { readonly isOwn?: boolean } = {}) {
    super(message)
    this.isOwn = isOwn
  }
}

/** The error of a value that is nested deeper. */
export const tooDeepText = `nested deeper than ${structDepthMax} levels`

/** Reads one kind of scalar from JSON, and provides the value for an absent one. */
export interface ScalarReader {
  /** The canonical value. Throws `Mismatch`. */
  readonly read: (value: unknown) => unknown
  /** The value for a field that must be printed; `null` if only null means absent. */
  readonly zero: unknown
  /** True if `omitempty` has no effect because the Go type is a struct. */
  readonly isAlwaysPrinted: boolean
}

const int32Min = -(2 ** 31)
const int32Max = 2 ** 31 - 1
const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n
/** Matches a day that exists in every year. */
const day = String.raw`\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`
const second = String.raw`${day}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d`
const wholeSecond = new RegExp(`^${second}Z$`)
const wholeMicrosecond = new RegExp(String.raw`^${second}\.\d{6}Z$`)
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** Quantities that are canonical with any suffix, because they are too small for a larger suffix. */
const smallQuantity = /^[1-9]\d{0,2}(?:m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/

/** One reader per kind of scalar. */
export const scalarReaders: Readonly<Record<ScalarNode['kind'] | 'string', ScalarReader>> = {
  string: { read: readString, zero: '', isAlwaysPrinted: false },
  boolean: { read: readBoolean, zero: false, isAlwaysPrinted: false },
  int32: { read: readInt32, zero: 0, isAlwaysPrinted: false },
  int64: { read: readInt64, zero: 0, isAlwaysPrinted: false },
  double: { read: readDouble, zero: 0, isAlwaysPrinted: false },
  bytes: { read: readBytes, zero: null, isAlwaysPrinted: false },
  time: { read: readTime, zero: null, isAlwaysPrinted: true },
  microTime: { read: readMicroTime, zero: null, isAlwaysPrinted: true },
  quantity: { read: readQuantityText, zero: '0', isAlwaysPrinted: true },
  intOrString: { read: readIntOrString, zero: 0, isAlwaysPrinted: true },
  raw: { read: (value) => value, zero: null, isAlwaysPrinted: true },
  json: { read: (value) => value, zero: null, isAlwaysPrinted: false },
  fieldsV1: { read: (value) => value, zero: null, isAlwaysPrinted: true },
}

/** The name of a value's type, for messages. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' || value instanceof Numeral ? 'number' : typeof value
}

function readString(value: unknown): string {
  if (typeof value !== 'string') throw new Mismatch(`expected string, got ${typeName(value)}`)
  return value
}

function readBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Mismatch(`expected boolean, got ${typeName(value)}`)
  return value
}

function readInt32(value: unknown): number {
  if (typeof value === 'number' && (value | 0) === value) return value
  return Number(readWhole(value, BigInt(int32Min), BigInt(int32Max), '32-bit'))
}

/** Reads an int64; values that a number cannot hold exactly become bigints. */
function readInt64(value: unknown): number | bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  return readWhole(value, int64Min, int64Max, '64-bit')
}

function readWhole(value: unknown, min: bigint, max: bigint, width: string): number | bigint {
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new Mismatch(`expected integer, got ${typeName(value)}`)
  if (typeof value === 'number' && !Number.isInteger(value)) throw new Mismatch(`expected integer, got number ${value}`)
  const exact = BigInt(value)
  if (exact < min || exact > max) throw new Mismatch(`expected ${width} integer, got number ${value}`)
  return value
}

function readDouble(value: unknown): number {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'number') throw new Mismatch(`expected number, got ${typeName(value)}`)
  return value
}

function readBytes(value: unknown): string {
  if (typeof value !== 'string') throw new Mismatch(`expected base64 string, got ${typeName(value)}`)
  if (base64.test(value)) return value
  const withoutLineBreaks = value.replace(/[\r\n]/g, '')
  if (!base64.test(withoutLineBreaks)) throw new Mismatch('expected base64 string, got illegal base64 data')
  return withoutLineBreaks
}

function readTime(value: unknown): string {
  if (typeof value === 'string' && wholeSecond.test(value)) return value
  return printTime(instantOf(value, 'time'))
}

function readMicroTime(value: unknown): string {
  if (typeof value === 'string' && wholeMicrosecond.test(value)) return value
  return printMicroTime(instantOf(value, 'microTime'))
}

function instantOf(value: unknown, kind: TimeKind): Instant {
  if (typeof value !== 'string') throw new Mismatch(`expected RFC 3339 time, got ${typeName(value)}`)
  const reading = readTimeText(value, kind)
  if (reading.kind === 'malformed') throw new Mismatch(reading.problem, { isOwn: true })
  return reading.instant
}

function readQuantityText(value: unknown): string {
  if (typeof value === 'string' && smallQuantity.test(value)) return value
  const reading = readQuantity(value)
  switch (reading.kind) {
    case 'quantity':
      return printQuantity(reading.quantity)
    case 'malformed':
      throw new Mismatch(reading.message, { isOwn: true })
  }
}

function readIntOrString(value: unknown): number | string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && (value | 0) === value) return value
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new Mismatch(`expected integer or string, got ${typeName(value)}`)
  throw new Mismatch(`expected 32-bit integer or string, got number ${value}`)
}
