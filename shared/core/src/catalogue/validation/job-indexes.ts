/** The result of parsing the indexes of a Job: intervals with a first and a last index, or an error. */
export type IndexesReading =
  | { readonly kind: 'indexes'; readonly intervals: readonly (readonly [first: number, last: number])[] }
  | { readonly kind: 'malformed'; readonly problem: string }

/** Parses `0,2-4`: increasing indexes below the number of completions. */
export function parseIndexes(text: string, completions: number): IndexesReading {
  const intervals: (readonly [number, number])[] = []
  if (text === '') return { kind: 'indexes', intervals }
  for (const part of text.split(',')) {
    const limits = part.split('-')
    if (limits.length > 2) {
      const rule = "violates the requirement that an index interval can have at most two parts separated by '-'"
      return malformed(`the fragment ${JSON.stringify(part)} ${rule}`)
    }
    const numbers: number[] = []
    for (const limit of limits) {
      if (!/^[+-]?\d+$/.test(limit)) return malformed(`cannot convert string to integer for index: ${JSON.stringify(limit)}`)
      if (Number(limit) >= completions) return malformed(`too large index: ${JSON.stringify(limit)}`)
      numbers.push(Number(limit))
    }
    const [first = 0, last = first] = numbers
    if (numbers.length > 1 && first >= last) return malformed(notGrowing(first, last))
    const before = intervals.at(-1)?.[1]
    if (before !== undefined && before >= first) return malformed(notGrowing(before, first))
    intervals.push([first, last])
  }
  return { kind: 'indexes', intervals }
}

function malformed(problem: string): IndexesReading {
  return { kind: 'malformed', problem }
}

function notGrowing(before: number, index: number): string {
  return `non-increasing order, previous: ${before}, current: ${index}`
}
