import type { Counter, Gauge, Histogram } from 'prom-client'
import { type CountedHistogram, type CountedNumbers, createCountedHistogram, createCountedNumbers } from './counted-metrics.ts'
import type { Metrics } from './metrics.ts'

/** Help text, labels and, for a histogram, the buckets of one metric. */
type MetricRow = {
  readonly help: string
  readonly labels?: readonly string[]
  /** The release that deprecated the metric in favour of another. */
  readonly deprecatedFrom?: string
  /** The way to combine values of several threads. Default: sum. */
  readonly together?: 'sum' | 'largest'
  /** For a metric that changes several times per request: callers keep its series, so labels are not hashed again. */
  readonly isHot?: true
} & ({ readonly type: 'counter' | 'gauge' } | { readonly type: 'histogram'; readonly buckets: readonly number[] })

/** Declarations of metrics, by name. */
export type MetricTable = Readonly<Record<string, MetricRow>>

type LabelsOf<R> = R extends { readonly labels: readonly (infer L extends string)[] } ? L : never

type MetricOf<R> = R extends { readonly isHot: true; readonly type: 'histogram' }
  ? CountedHistogram<LabelsOf<R>>
  : R extends { readonly isHot: true }
    ? CountedNumbers<LabelsOf<R>>
    : R extends { readonly type: 'histogram' }
      ? Histogram<LabelsOf<R>>
      : R extends { readonly type: 'gauge' }
        ? Gauge<LabelsOf<R>>
        : Counter<LabelsOf<R>>

/** The metrics of a table, by name. */
export type MetricsOf<T extends MetricTable> = { readonly [N in keyof T]: MetricOf<T[N]> }

/** Functions by name that set gauges when metrics are read. */
type Collectors<T extends MetricTable> = { readonly [N in keyof T]?: (gauge: Gauge<LabelsOf<T[N]>>) => void | Promise<void> }

/** Registers all metrics of a table, in order. */
export function declareMetrics<const T extends MetricTable>(metrics: Metrics, table: T, collect: Collectors<T> = {}): MetricsOf<T> {
  const declared = Object.entries(table).map(([name, row]) => [name, declare(metrics, name, row, collect[name])])
  // A row's type determines the type of its metric, which TypeScript cannot follow through entries.
  return Object.fromEntries(declared) as MetricsOf<T>
}

function declare(metrics: Metrics, name: string, row: MetricRow, collect: ((gauge: Gauge<string>) => void | Promise<void>) | undefined) {
  const { help, deprecatedFrom, together = 'sum' } = row
  if (row.isHot) {
    return row.type === 'histogram'
      ? createCountedHistogram(metrics, { name, help, buckets: row.buckets })
      : createCountedNumbers(metrics, { name, help, type: row.type })
  }
  const options = { name, help, together, labels: row.labels ?? [], ...(deprecatedFrom === undefined ? {} : { deprecatedFrom }) }
  switch (row.type) {
    case 'counter':
      return metrics.counter(options)
    case 'gauge':
      return metrics.gauge<string>({ ...options, ...(collect === undefined ? {} : { collect }) })
    case 'histogram':
      return metrics.histogram({ ...options, buckets: row.buckets })
  }
}
