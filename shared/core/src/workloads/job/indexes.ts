/** The indexes from `first` to `last`, inclusive. */
interface Interval {
  readonly first: number
  readonly last: number
}

/** Ascending intervals with gaps between them. */
export type Indexes = readonly Interval[]

/**
 * Parses indexes below the number of completions. Invalid parts are skipped.
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

/** Prints two neighbours as `0,1` and three or more as `0-2`. */
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

/** The union of two lists. */
export function mergeIndexes(left: Indexes, right: Indexes): Indexes {
  const merged: Interval[] = []
  for (const next of [...left, ...right].toSorted((one, other) => one.first - other.first)) {
    const before = merged.at(-1)
    if (before === undefined || next.first > before.last + 1) merged.push(next)
    else if (before.last < next.last) merged.splice(-1, 1, { first: before.first, last: next.last })
  }
  return merged
}

/** Adds single indexes. */
export function addIndexes(indexes: Indexes, added: Iterable<number>): Indexes {
  return mergeIndexes(
    indexes,
    [...added].map((index) => ({ first: index, last: index })),
  )
}

/** At most `count` of the lowest missing indexes below the number of completions. */
export function missingIndexes(indexes: Indexes, completions: number, count: number): number[] {
  const missing: number[] = []
  let candidate = 0
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    while (candidate < Math.min(first, completions) && missing.length < count) missing.push(candidate++)
    candidate = Math.max(candidate, last + 1)
  }
  return missing
}
