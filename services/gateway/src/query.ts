import { badRequest } from '@orch/core'

/** The parameters of a request. Only the first value of a parameter counts. */
export interface Query {
  /** undefined: the parameter is not there. */
  get(name: string): string | undefined
  readonly isEmpty: boolean
}

export const emptyQuery: Query = { get: () => undefined, isEmpty: true }

/** Reads the text behind the `?`. */
export function parseQuery(text: string): Query {
  if (text === '') return emptyQuery
  const parameters = new URLSearchParams(text)
  return { get: (name) => parameters.get(name) ?? undefined, isEmpty: false }
}

/** Everything but `false` and `0` is true, the empty text included. */
export function queryBoolean(query: Query, name: string): boolean {
  const text = query.get(name)
  return text !== undefined && text !== '0' && text.toLowerCase() !== 'false'
}

/** A whole number; undefined where the parameter is absent or empty. */
export function queryInteger(query: Query, name: string): number | undefined {
  const text = query.get(name)
  if (text === undefined || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = BigInt(text)
  if (value > largestInteger || value < -largestInteger - 1n)
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number(value)
}

const largestInteger = 2n ** 63n - 1n
