import { setImmediate } from 'node:timers/promises'

/** A value of prom-client. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** The name of a bucket, a sum or a count, if it differs from the metric's. */
  readonly metricName?: string
}

/** A metric with its values, as plain data. */
export interface MetricRows {
  readonly name: string
  readonly help: string
  readonly type: string
  /** The way to combine values of several threads. */
  readonly together: 'sum' | 'largest'
  readonly values: readonly MetricValue[]
}

/** Number of values that are added before the event loop continues with other work. */
const valuesInARow = 2_000

/** Combines the metrics of several threads by name and labels, in the order of their first occurrence. */
export async function* mergeRows(threads: readonly (readonly MetricRows[])[]): AsyncGenerator<MetricRows> {
  const byName = Map.groupBy(threads.flat(), ({ name }) => name)
  let sinceTurn = 0
  for (const rows of byName.values()) {
    const [first] = rows
    if (first === undefined) continue
    const merged = new Map<string, { labels: MetricValue['labels']; value: number; metricName?: string }>()
    for (const one of rows.flatMap(({ values }) => values)) {
      const key = keyOf(one)
      const known = merged.get(key)
      if (known === undefined) merged.set(key, { ...one })
      else known.value = first.together === 'sum' ? known.value + one.value : Math.max(known.value, one.value)
      sinceTurn += 1
      if (sinceTurn % valuesInARow === 0) await setImmediate()
    }
    yield { ...first, values: [...merged.values()] }
  }
}

function keyOf({ labels, metricName = '' }: MetricValue): string {
  const sorted = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1))
  return JSON.stringify([metricName, sorted])
}
