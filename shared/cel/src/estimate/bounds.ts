import type { Bounds } from '../library.ts'

/** The largest cost and size. */
const top = 2n ** 64n - 1n

/** The cost of one element of a text that is read from start to end. */
export const perElement = 0.1

/** The cost of one character of a regular expression. */
export const perRegexCharacter = 0.25

/** The bounds of a known cost or size. */
export function fixed(value: bigint): Bounds {
  return { min: value, max: value }
}

/** The bounds of an unknown cost or size. */
export const unknown: Bounds = { min: 0n, max: top }

/** The sum of two bounds. */
export function add(a: Bounds, b: Bounds): Bounds {
  return { min: atMostTop(a.min + b.min), max: atMostTop(a.max + b.max) }
}

/** The product of two bounds. */
export function multiply(a: Bounds, b: Bounds): Bounds {
  return { min: atMostTop(a.min * b.min), max: atMostTop(a.max * b.max) }
}

/** Both bounds times a factor, rounded up with 64-bit floating point arithmetic. */
export function scale({ min, max }: Bounds, factor: number): Bounds {
  return { min: scaleOne(min, factor), max: scaleOne(max, factor) }
}

/** The smallest bounds that include both. */
export function union(a: Bounds, b: Bounds): Bounds {
  return { min: smaller(a.min, b.min), max: a.max + b.max - smaller(a.max, b.max) }
}

/** The quotient of two whole numbers, rounded up with 64-bit floating point arithmetic. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return fromNumber(Number(dividend) / Number(divisor))
}

function scaleOne(value: bigint, factor: number): bigint {
  return fromNumber(Number(value) * factor)
}

function fromNumber(value: number): bigint {
  return value >= 2 ** 64 ? top : BigInt(Math.ceil(value))
}

function atMostTop(value: bigint): bigint {
  return smaller(value, top)
}

/** The smaller of two numbers. */
export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}
