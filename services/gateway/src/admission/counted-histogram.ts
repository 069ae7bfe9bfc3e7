import type { Metrics } from '@orch/platform'

/** One combination of labels. */
export interface CountedSeries {
  observe(value: number): void
}

/** Made once for each combination of labels and kept by whoever observes. */
export interface CountedHistogram {
  series(labels: Readonly<Record<string, string>>): CountedSeries
}

interface Kept {
  readonly labels: Readonly<Record<string, string>>
  /** Of each bucket alone; the last one is for what is above all of them. */
  readonly counts: number[]
  sum: number
}

/** A histogram for what is observed a dozen times in one request: it hashes no labels, and adds up only when it is read. */
export function createCountedHistogram(
  { registry }: Metrics,
  { name, help, buckets }: { readonly name: string; readonly help: string; readonly buckets: readonly number[] },
): CountedHistogram {
  const all: Kept[] = []
  const values = () => all.flatMap((kept) => valuesOf(name, buckets, kept))
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  }
  // The registry asks a metric for its name and its values, and for nothing else.
  registry.registerMetric(metric as never)
  return {
    series(labels) {
      const kept: Kept = { labels, counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 }
      all.push(kept)
      return {
        observe(value) {
          let index = 0
          while (index < buckets.length && value > (buckets[index] as number)) index++
          kept.counts[index] = (kept.counts[index] as number) + 1
          kept.sum += value
        },
      }
    },
  }
}

function valuesOf(name: string, buckets: readonly number[], { labels, counts, sum }: Kept) {
  let count = 0
  const bucketValues = [...buckets.map(String), '+Inf'].map((le, index) => {
    count += counts[index] as number
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [...bucketValues, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}
