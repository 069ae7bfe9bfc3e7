import { badRequest, type StatusError } from '../meta/status.ts'

/** A parsed number of a query; `undefined` if absent. */
export type QueryInteger = { kind: 'integer'; value: number | undefined } | { kind: 'refused'; error: StatusError }

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** Parses a whole number of a query, such as `limit`. Numbers beyond 2^53 are capped there. */
export function readQueryInteger(text: string | undefined): QueryInteger {
  if (text === undefined) return { kind: 'integer', value: undefined }
  if (!/^[-+]?\d+$/.test(text)) return refused(text, 'invalid syntax')
  if (text.length > 64) return refused(text, 'value out of range')
  const value = BigInt(text.replace(/^\+/, ''))
  if (value > int64Max || value < int64Min) return refused(text, 'value out of range')
  const cut = Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)))
  return { kind: 'integer', value: cut }
}

/** Parses a boolean of a query, such as `watch`: any value except `false` and `0` is true, including the empty text; absent is false. */
export function readQueryFlag(text: string | undefined): boolean {
  if (text === undefined) return false
  return text !== '0' && text.toLowerCase() !== 'false'
}

function refused(text: string, why: string): QueryInteger {
  return { kind: 'refused', error: badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`) }
}
