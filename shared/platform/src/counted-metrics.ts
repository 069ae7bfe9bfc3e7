/** Metrics for what is counted some dozen times in one request: they hash no labels, and add up only when they are read. */
import type { MetricValue } from './merged-metrics.ts'
import type { Metrics } from './metrics.ts'

type Labels = Readonly<Record<string, string>>

/** One combination of labels of a histogram. */
export interface CountedSeries {
  observe(value: number): void
}

/** A histogram whose series are made once for each combination of labels and kept by the code that observes. A series without observations is not printed. */
export interface CountedHistogram<L extends string = string> {
  series(labels: Readonly<Record<L, string>>): CountedSeries
}

/** One combination of labels of a counter or a gauge. */
export interface CountedNumber {
  add(change: number): void
}

/** As `CountedHistogram`. */
export interface CountedNumbers<L extends string = string> {
  series(labels: Readonly<Record<L, string>>): CountedNumber
}

interface MetricDescription {
  readonly name: string
  readonly help: string
}

interface KeptHistogram {
  readonly labels: Labels
  /** Of each bucket alone; the last one is for what is above all of them. */
  readonly counts: number[]
  sum: number
}

export function createCountedHistogram(
  metrics: Metrics,
  description: MetricDescription & { readonly buckets: readonly number[] },
): CountedHistogram {
  const { name, help, buckets } = description
  const all = new ByLabels<KeptHistogram>((labels) => ({ labels, counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 }))
  metrics.keep({
    name,
    help,
    type: 'histogram',
    *values() {
      for (const kept of all.values()) yield* valuesOf(name, buckets, kept)
    },
  })
  return {
    series(labels) {
      const kept = all.of(labels)
      return {
        observe(value) {
          let index = 0
          while (index < buckets.length && value > buckets[index]!) index++
          kept.counts[index] = kept.counts[index]! + 1
          kept.sum += value
        },
      }
    },
  }
}

class KeptNumber implements CountedNumber {
  readonly labels: Labels
  value = 0
  isTouched = false

  constructor(labels: Labels) {
    this.labels = labels
  }

  add(change: number): void {
    this.isTouched = true
    this.value += change
  }
}

/** A counter only grows, a gauge goes up and down. */
export function createCountedNumbers(
  metrics: Metrics,
  description: MetricDescription & { readonly type: 'counter' | 'gauge' },
): CountedNumbers {
  const { name, help, type } = description
  const all = new ByLabels((labels) => new KeptNumber(labels))
  metrics.keep({
    name,
    help,
    type,
    *values() {
      for (const { labels, value, isTouched } of all.values()) if (isTouched) yield { labels, value }
    },
  })
  return { series: (labels) => all.of(labels) }
}

/** One for each combination of labels, however often it is asked for. */
class ByLabels<T> {
  readonly #known = new Map<string, T>()
  readonly #make: (labels: Labels) => T

  constructor(make: (labels: Labels) => T) {
    this.#make = make
  }

  of(labels: Labels): T {
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
    const known = this.#known.get(key) ?? this.#make(labels)
    this.#known.set(key, known)
    return known
  }

  values(): T[] {
    return [...this.#known.values()]
  }
}

function valuesOf(name: string, buckets: readonly number[], { labels, counts, sum }: KeptHistogram): MetricValue[] {
  let count = 0
  const bucketValues = [...buckets.map(String), '+Inf'].map((le, index) => {
    count += counts[index]!
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  if (count === 0) return []
  return [...bucketValues, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}
