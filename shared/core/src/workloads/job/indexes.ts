/** Indexes from `first` to `last`, both included. */
interface Interval {
  readonly first: number
  readonly last: number
}

/** Ascending intervals that neither meet nor overlap. */
export type Indexes = readonly Interval[]

/**
 * The indexes of a text below the number of completions. Unreadable parts are passed over.
 *
 *   `0-2,4` with 3 completions → 0-2        `0,x,3` → 0 and 3
 */
export function parseIndexes(text: string, completions: number): Indexes {
  const found: Interval[] = []
  for (const part of text === '' ? [] : text.split(',')) {
    const [firstText = '', lastText] = part.split('-')
    const [first, given] = [toNumber(firstText), lastText === undefined ? undefined : toNumber(lastText)]
    if (first === undefined || (lastText !== undefined && given === undefined)) continue
    if (first >= completions) break
    const last = Math.min(given ?? first, completions - 1)
    const before = found.at(-1)
    if (before?.last === first - 1) found.splice(-1, 1, { first: before.first, last })
    else found.push({ first, last })
  }
  return found
}

function toNumber(text: string): number | undefined {
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined
}

/** Two neighbours are `0,1`, three or more `0-2`. */
export function printIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => (last <= first ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
    .join(',')
}

export function countIndexes(indexes: Indexes): number {
  return indexes.reduce((count, { first, last }) => count + last - first + 1, 0)
}

export function hasIndex(indexes: Indexes, index: number): boolean {
  return indexes.some(({ first, last }) => first <= index && index <= last)
}

/** The indexes of both. */
export function mergeIndexes(left: Indexes, right: Indexes): Indexes {
  const merged: Interval[] = []
  for (const next of [...left, ...right].toSorted((one, other) => one.first - other.first)) {
    const before = merged.at(-1)
    if (before === undefined || next.first > before.last + 1) merged.push(next)
    else if (before.last < next.last) merged.splice(-1, 1, { first: before.first, last: next.last })
  }
  return merged
}

/** The indexes and single further ones. */
export function addIndexes(indexes: Indexes, added: Iterable<number>): Indexes {
  return mergeIndexes(
    indexes,
    [...added].map((index) => ({ first: index, last: index })),
  )
}

/** The lowest numbers below the number of completions that are not among the indexes, at most `count`. */
export function missingIndexes(indexes: Indexes, completions: number, count: number): number[] {
  const missing: number[] = []
  let candidate = 0
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    while (candidate < Math.min(first, completions) && missing.length < count) missing.push(candidate++)
    candidate = Math.max(candidate, last + 1)
  }
  return missing
}
