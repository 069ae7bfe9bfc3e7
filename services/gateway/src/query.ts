import { readQueryFlag, readQueryInteger } from '@orch/core/read'

/** The parameters of a request. Only the first value of a parameter counts, but of those that are lists. */
export interface Query {
  /** undefined: the parameter is not there. */
  get(name: string): string | undefined
  /** All values, of a parameter that is a list. */
  all(name: string): readonly string[]
  readonly isEmpty: boolean
}

export const emptyQuery: Query = { get: () => undefined, all: () => [], isEmpty: true }

/** Reads the text behind the `?`. */
export function parseQuery(text: string): Query {
  if (text === '') return emptyQuery
  const parameters = new URLSearchParams(text)
  return { get: (name) => parameters.get(name) ?? undefined, all: (name) => parameters.getAll(name), isEmpty: false }
}

/** Everything but `false` and `0` is true, the empty text included. */
export function queryBoolean(query: Query, name: string): boolean {
  return readQueryFlag(query.get(name))
}

/** A whole number; undefined where the parameter is absent or empty. */
export function queryInteger(query: Query, name: string): number | undefined {
  const reading = readQueryInteger(query.get(name))
  if (reading.kind === 'refused') throw reading.error
  return reading.value
}
