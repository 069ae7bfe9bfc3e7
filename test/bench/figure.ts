/** The measurement of one line of the bench. */
export interface Figure {
  /** In `unit`; the measurement of the server under test. */
  readonly value: number
  readonly unit: string
  /** The measurement of the same work without our code, in the same run and unit. */
  readonly floor?: number
  /** The quotient that `target` and `goal` bound, e.g. value / floor. */
  readonly ratio: number
  /** Absent: the figure has no aim and is only for information. */
  readonly target?: number
  readonly goal?: number
  /** The better direction of the ratio. */
  readonly better: 'more' | 'less'
  /** CPU time of the server per operation, in microseconds. */
  readonly cpuMicros?: number
  readonly note?: string
  /** All rounds of both sides, in the unit of the value unless stated otherwise. */
  readonly spread?: { readonly ours: Spread; readonly floor?: Spread }
}

/** The spread over all rounds of one side. */
type Spread = ReturnType<typeof spreadOf>

/** The spread that the best round alone would hide. */
export function spreadOf(values: readonly number[]) {
  return { median: median(values), least: Math.min(...values), largest: Math.max(...values), rounds: values.length }
}

export interface Line {
  readonly name: string
  readonly what: string
  /** The line takes minutes and gigabytes, so the bench runs it only by name. */
  readonly isByHand?: boolean
  run(): Promise<readonly (Figure & { readonly label?: string })[]>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Rounds alternate between the two sides, so that a slow second of the machine slows both sides. The best round of each side counts. */
export async function alternate<T>(rounds: number, sides: readonly (() => Promise<T>)[]): Promise<T[][]> {
  const results: T[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) results[index]?.push(await side())
  }
  return results
}

/** A ConfigMap whose JSON is about `bytes` long; the path gives its namespace. */
export function configMap(name: string, bytes: number, labels: Record<string, string> = {}): Record<string, unknown> {
  const text = 'abcdefghij'.repeat(Math.ceil((bytes - 350) / 10)).slice(0, Math.max(bytes - 350, 10))
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { text } }
}
