import type { Clock, Metrics } from '@orch/platform'

/** One combination of labels. */
interface SummarySeries {
  observe(value: number): void
}

/** Made once for each combination of labels and kept by the observer. */
export interface CountedSummary {
  series(labels: Readonly<Record<string, string>>): SummarySeries
}

export interface SummaryOptions {
  readonly name: string
  readonly help: string
  readonly quantiles: readonly number[]
  /** Quantiles are of what was observed no longer ago; sum and count are of all. */
  readonly ageMsMax: number
  readonly clock: Clock
}

/** Values below are counted as this one, values beyond the last bucket as that. */
const valueMin = 1e-6
/** Relative error of a quantile. */
const growth = 1.05
const bucketCount = 420
/** What is too old goes in steps of a fifth of the age. */
const spanCount = 5

interface Span {
  readonly number: number
  readonly counts: Uint32Array
}

interface Kept {
  readonly labels: Readonly<Record<string, string>>
  /** The newest last. */
  readonly spans: Span[]
  sum: number
  count: number
}

/** A summary for what is observed a few times in one request: values are counted by size, and quantiles found when they are read. */
export function createCountedSummary({ registry }: Metrics, { name, help, quantiles, ageMsMax, clock }: SummaryOptions): CountedSummary {
  const all: Kept[] = []
  const spanNow = () => Math.floor((clock.monotonic() * spanCount) / ageMsMax)
  const values = () => all.flatMap((kept) => valuesOf(name, quantiles, kept, spanNow()))
  const metric = {
    name,
    help,
    type: 'summary',
    aggregator: 'omit',
    get: async () => ({ name, help, type: 'summary', aggregator: 'omit', values: values() }),
  }
  // The registry asks a metric for its name and its values, and for nothing else.
  registry.registerMetric(metric as never)
  return {
    series(labels) {
      const kept: Kept = { labels, spans: [], sum: 0, count: 0 }
      all.push(kept)
      return {
        observe(value) {
          const { counts } = spanOf(kept.spans, spanNow())
          const bucket = bucketOf(value)
          counts[bucket] = (counts[bucket] ?? 0) + 1
          kept.sum += value
          kept.count += 1
        },
      }
    },
  }
}

function spanOf(spans: Span[], number: number): Span {
  const last = spans.at(-1)
  if (last?.number === number) return last
  while ((spans[0]?.number ?? number) <= number - spanCount) spans.shift()
  const made = { number, counts: new Uint32Array(bucketCount) }
  spans.push(made)
  return made
}

function bucketOf(value: number): number {
  if (value <= valueMin) return 0
  return Math.min(bucketCount - 1, 1 + Math.floor(Math.log(value / valueMin) / Math.log(growth)))
}

/** The middle of what a bucket counts. */
function valueIn(bucket: number): number {
  return bucket === 0 ? valueMin : valueMin * growth ** (bucket - 0.5)
}

function valuesOf(name: string, quantiles: readonly number[], { labels, spans, sum, count }: Kept, now: number) {
  const recent = spans.filter(({ number }) => number > now - spanCount)
  const found = quantiles.map((quantile) => ({ labels: { quantile, ...labels }, value: quantileOf(recent, quantile) }))
  return [...found, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}

/** NaN where nothing was observed lately. */
function quantileOf(spans: readonly Span[], quantile: number): number {
  const total = spans.reduce((sum, { counts }) => counts.reduce((part, count) => part + count, sum), 0)
  let missing = Math.max(1, Math.ceil(total * quantile))
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    for (const { counts } of spans) missing -= counts[bucket] ?? 0
    if (missing <= 0) return valueIn(bucket)
  }
  return Number.NaN
}
