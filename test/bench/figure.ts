/** The measurement of one line of the bench. */
export interface Figure {
  /** In `unit`; of the server under test. */
  readonly value: number
  readonly unit: string
  /** The same work with nothing of ours in it, in the same run and unit. */
  readonly floor?: number
  /** The quotient that `target` and `goal` bound, e.g. value / floor. */
  readonly ratio: number
  /** Absent: nothing is aimed at, the figure is there to be known. */
  readonly target?: number
  readonly goal?: number
  /** The better direction of the ratio. */
  readonly better: 'more' | 'less'
  /** CPU time of the server per operation, in microseconds. */
  readonly cpuMicros?: number
  readonly note?: string
  /** All rounds of the two sides, in the unit of the value where nothing else is said. */
  readonly spread?: { readonly ours: Spread; readonly floor?: Spread }
}

/** The spread of a figure over all rounds of one side. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly largest: number
  readonly rounds: number
}

/** The spread that a figure's best round hides. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), largest: Math.max(...values), rounds: values.length }
}

export interface Line {
  readonly name: string
  readonly what: string
  /** Takes minutes and gigabytes: it runs only where it is named. */
  readonly isByHand?: boolean
  run(): Promise<readonly (Figure & { readonly label?: string })[]>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Rounds alternate between the two sides, so that a slow second of the machine hurts both. The best round of each counts. */
export async function alternate<T>(rounds: number, sides: readonly (() => Promise<T>)[]): Promise<T[][]> {
  const results: T[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) results[index]?.push(await side())
  }
  return results
}

/** A ConfigMap whose JSON is about `bytes` long; its namespace is that of the path. */
export function configMap(name: string, bytes: number, labels: Record<string, string> = {}): Record<string, unknown> {
  const text = 'abcdefghij'.repeat(Math.ceil((bytes - 350) / 10)).slice(0, Math.max(bytes - 350, 10))
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { text } }
}
