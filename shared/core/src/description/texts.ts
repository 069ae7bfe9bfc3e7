import type { StringNode, TextFormat } from './node.ts'
import type { MapOf } from './values.ts'

/** A string without facets. */
export const anyString: StringNode = Object.freeze({ kind: 'string' })

export const string = (facets?: Pick<StringNode, 'bytesMax'>): StringNode =>
  facets === undefined ? anyString : { kind: 'string', ...facets }
/** A text in a format that validation checks. */
export const text = (format: TextFormat, facets?: Pick<StringNode, 'bytesMax' | 'charactersSince'>): StringNode => ({
  kind: 'string',
  format,
  ...facets,
})
/** A string that validation restricts to its values. */
export const only = (node: StringNode): StringNode => ({ ...node, isEnforced: true })
/** A string with a closed set of values. */
export const closed = (...values: readonly string[]): StringNode => ({ kind: 'string', values, isClosed: true })
/** A string with well-known values; other values are allowed. */
export const known = (...values: readonly string[]): StringNode => ({ kind: 'string', values })
/** A string with values that levels have added or removed. */
export const valuesByLevel = (
  node: StringNode,
  levels: { since?: Record<string, number>; until?: Record<string, number> },
): StringNode => ({
  ...node,
  ...(levels.since === undefined ? {} : { valuesSince: levels.since }),
  ...(levels.until === undefined ? {} : { valuesUntil: levels.until }),
})
/** A map with the keys and values of labels. */
export const labels = (): MapOf<StringNode> => ({ kind: 'map', values: anyString, isLabels: true })
