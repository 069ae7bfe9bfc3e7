import { runAtOnce, type Steps } from '../steps.ts'
import { type ExactOptions, parseExactlyInSteps } from './parse-exactly.ts'
import { decodeText, markWrongBytes, replaceHalfPairs } from './text.ts'

export type { ExactOptions } from './parse-exactly.ts'

/** Maximum nesting; no legitimate text is that deep. */
export const jsonDepthMax = 10_000

/** A body as JSON, or the reason why it is not JSON. */
export type DecodedJson =
  | {
      readonly kind: 'json'
      readonly value: unknown
      /** Paths of duplicate members; the last value applies. */
      readonly duplicates: readonly string[]
      /** True if the value contains integers beyond 2^53 as `bigint`, for which `printJson` needs its slower way. */
      readonly hasBigIntegers: boolean
      /** True if the value contains a `Numeral`, which only a parser with that option makes. */
      readonly hasNumerals: boolean
    }
  | {
      readonly kind: 'malformed'
      readonly message: string
      /** True if the text is JSON but contains a number that is too large for Go. */
      readonly isNumberTooLarge?: boolean
    }

const noDuplicates: readonly string[] = Object.freeze([])

/**
 * Parses JSON, and detects facts that `JSON.parse` drops. One scan counts members and depth, and finds suspicious numbers:
 *
 *   more members in the text than in the value   → duplicates exist, and are reported
 *   sixteen digits in a row, or an exponent      → a number may have lost its last digits or be out of range
 *
 * Only then the slower, exact parser runs.
 */
export function decodeJson(body: Uint8Array | string, options?: ExactOptions): DecodedJson {
  return runAtOnce(decodeJsonInSteps(body, options))
}

/**
 * Parses JSON printed by one of our servers: it has no duplicate members, so only integers beyond 2^53 need the exact
 * parser. They have at least sixteen digits in a row.
 */
export function decodeOwnJson(body: Uint8Array | string): { readonly value: unknown; readonly hasBigIntegers: boolean } {
  const text = typeof body === 'string' ? body : decodeText(body)
  if (!hasLongNumber(text)) return { value: JSON.parse(text), hasBigIntegers: false }
  const decoded = decodeJson(text)
  if (decoded.kind === 'malformed') throw new SyntaxError(decoded.message)
  return decoded
}

/** True if a JSON text has sixteen digits in a row outside of words, as each integer beyond 2^53 has. */
export function hasLongNumber(text: string): boolean {
  return longNumber.test(text)
}

/** Equivalent to `(?<![^:,[\s-])\d{16}`. If the digits are written out, V8 skips eight characters at a time. */
const longNumber = /(?<![^:,[\s-])\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/

/** Like `decodeJson`, in steps, for long texts. */
export function* decodeJsonInSteps(body: Uint8Array | string, options?: ExactOptions): Steps<DecodedJson> {
  const text = typeof body === 'string' ? body : decodeText(body)
  const decoded = yield* decodeScannedInSteps(text, scanJson(text), options)
  if (decoded.kind === 'json' || typeof body === 'string' || !text.includes('\ufffd')) return decoded
  // The message may name a byte that decoding has replaced.
  const exact = yield* parseExactlyInSteps(markWrongBytes(body))
  return exact.kind === 'malformed' ? { ...decoded, message: exact.problem } : decoded
}

/** Like `decodeJsonInSteps`, for a text that was already scanned. */
export function* decodeScannedInSteps(scanned: string, scan: JsonScan, options: ExactOptions = {}): Steps<DecodedJson> {
  if (scan.depth > jsonDepthMax) return { kind: 'malformed', message: `invalid character '${scanned[scan.end]}' exceeded max depth` }
  const text = replaceHalfPairs(scanned)
  yield
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return yield* malformed(text, error)
  }
  yield
  const needsCare = scan.needsCare || (options.keepsNumerals === true && scan.hasFractions)
  const isFaithful = !needsCare && countMembers(value) === scan.members
  if (!isFaithful) return yield* decodeExactly(text, options)
  return { kind: 'json', value, duplicates: noDuplicates, hasBigIntegers: false, hasNumerals: false }
}

function* decodeExactly(text: string, options: ExactOptions): Steps<DecodedJson> {
  const exact = yield* parseExactlyInSteps(text, options)
  switch (exact.kind) {
    case 'parsed': {
      const { value, duplicates, hasBigIntegers, hasNumerals } = exact
      return { kind: 'json', value, duplicates, hasBigIntegers, hasNumerals }
    }
    case 'malformed':
      return { kind: 'malformed', message: exact.problem, isNumberTooLarge: exact.isNumberTooLarge }
  }
}

function* malformed(text: string, error: unknown): Steps<DecodedJson> {
  const exact = yield* parseExactlyInSteps(text)
  if (exact.kind === 'malformed') return { kind: 'malformed', message: exact.problem }
  throw new Error('two readers disagree about a JSON text', { cause: error })
}

/** The result of one pass over a JSON text, valid or not. */
export interface JsonScan {
  readonly members: number
  /** Number of commas: a text with many values has many members or many commas. */
  readonly commas: number
  readonly depth: number
  /** True if a number is so long, or has an exponent, that it may not fit into a JavaScript number. */
  readonly needsCare: boolean
  /** True if a number has a fraction, whose spelling a JavaScript number does not preserve. */
  readonly hasFractions: boolean
  /** The end of the scan: the end of the text, or the bracket that exceeds the depth limit. */
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const digitsSafe = 15

/** Counts members and depth, and finds numbers that need care. Stops at the depth limit. */
export function scanJson(text: string): JsonScan {
  const { length } = text
  let members = 0
  let commas = 0
  let depth = 0
  let deepest = 0
  let needsCare = false
  let hasFractions = false
  let index = 0
  for (; index < length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index += 1
      for (let inside = text.charCodeAt(index); inside !== quote && index < length; inside = text.charCodeAt(index)) {
        index += inside === backslash ? 2 : 1
      }
    } else if (code === 0x3a) {
      members += 1
    } else if (code === 0x2c) {
      commas += 1
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > deepest) deepest = depth
      if (depth > jsonDepthMax) return { members, commas, depth, needsCare, hasFractions, end: index }
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1
    } else if (code >= 0x30 && code <= 0x39) {
      const start = index
      while (isDigit(text.charCodeAt(index + 1))) index += 1
      const next = text.charCodeAt(index + 1)
      if (next === 0x2e) hasFractions = true
      const isExponent = (next | 0x20) === 0x65
      if (index - start >= digitsSafe || isExponent) needsCare = true
    }
  }
  return { members, commas, depth: deepest, needsCare, hasFractions, end: length }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Counts with its own stack, since a value may be deeper than the call stack. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const pending: object[] = [value]
  let members = 0
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index += 1) {
        const item: unknown = container[index]
        if (typeof item === 'object' && item !== null) pending.push(item)
      }
      continue
    }
    for (const key in container) {
      members += 1
      const item: unknown = (container as Record<string, unknown>)[key]
      if (typeof item === 'object' && item !== null) pending.push(item)
    }
  }
  return members
}
