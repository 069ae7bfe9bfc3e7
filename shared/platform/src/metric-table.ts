import type { Counter, Gauge, Histogram } from 'prom-client'
import { type CountedHistogram, CountedHistograms, type CountedNumbers, CountedValues } from './counted-metrics.ts'
import { type DeferredMetrics, type Metrics, makeCounter, makeGauge, makeHistogram } from './metrics.ts'

/** Properties of a metric besides its labels. */
interface MetricNotes {
  /** The release that deprecated the metric in favour of another. */
  readonly deprecatedFrom?: string
  /** The way to combine values of several threads. Default: sum. */
  readonly together?: 'sum' | 'largest'
}

/** Help text, labels and, for a histogram, the buckets of one metric. */
type MetricRow = MetricNotes & {
  readonly help: string
  readonly labels: readonly string[]
  readonly isHot: boolean
} & ({ readonly type: 'counter' | 'gauge' } | { readonly type: 'histogram'; readonly buckets: readonly number[] })

/** Makes the rows of one type. */
function rowsOf<const T extends 'counter' | 'gauge', const H extends boolean>(type: T, isHot: H) {
  return <const L extends string = never>(help: string, labels: readonly L[] = [], notes: MetricNotes = {}) => ({
    type,
    isHot,
    help,
    labels,
    ...notes,
  })
}

function histogramsOf<const H extends boolean>(isHot: H) {
  return <const L extends string = never>(help: string, buckets: readonly number[], labels: readonly L[] = []) =>
    ({ type: 'histogram', isHot, help, buckets, labels }) as const
}

export const counter = rowsOf('counter', false)
export const gauge = rowsOf('gauge', false)
export const histogram = histogramsOf(false)
/** Metrics that change several times per request: callers keep their series, so labels are not hashed again. */
export const hotCounter = rowsOf('counter', true)
export const hotGauge = rowsOf('gauge', true)
export const hotHistogram = histogramsOf(true)

/** Declarations of metrics, by name. */
type MetricTable = Readonly<Record<string, MetricRow>>

type LabelsOf<R extends MetricRow> = R['labels'][number]

type MetricOf<R extends MetricRow> = R extends { readonly isHot: true; readonly type: 'histogram' }
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

/** Declares all metrics of a table. Each is made when it is first used, or when all are read. */
export function declareMetrics<const T extends MetricTable>(metrics: Metrics, table: T, collect: Collectors<T> = {}): MetricsOf<T> {
  const deferred = new TableMetrics(table, collect)
  metrics.defer(deferred)
  // A row's type determines the type of its metric, which TypeScript cannot follow through names.
  return new Proxy(deferred, metricOfName) as unknown as MetricsOf<T>
}

type MadeMetric = ReturnType<typeof makeMetric>

class TableMetrics implements DeferredMetrics {
  readonly #table: MetricTable
  readonly #collect: Collectors<MetricTable>
  readonly #made: Record<string, MadeMetric> = {}

  constructor(table: MetricTable, collect: Collectors<MetricTable>) {
    this.#table = table
    this.#collect = collect
  }

  /** Undefined for a name that is not in the table. */
  of(name: string): MadeMetric | undefined {
    const row = Object.hasOwn(this.#table, name) ? this.#table[name] : undefined
    if (row === undefined) return undefined
    this.#made[name] ??= makeMetric(name, row, this.#collect[name])
    return this.#made[name]
  }

  *all() {
    for (const name in this.#table) {
      const metric = this.of(name)
      if (metric !== undefined) yield { metric, deprecatedFrom: this.#table[name]?.deprecatedFrom }
    }
  }
}

const metricOfName: ProxyHandler<TableMetrics> = {
  get: (metrics, name) => (typeof name === 'string' ? metrics.of(name) : undefined),
}

function makeMetric(name: string, row: MetricRow, collect: ((gauge: Gauge<string>) => void | Promise<void>) | undefined) {
  const { help, deprecatedFrom, together = 'sum', labels } = row
  if (row.isHot) {
    return row.type === 'histogram'
      ? new CountedHistograms({ name, help, buckets: row.buckets })
      : new CountedValues({ name, help, type: row.type })
  }
  const options = { name, help, together, labels, ...(deprecatedFrom === undefined ? {} : { deprecatedFrom }) }
  switch (row.type) {
    case 'counter':
      return makeCounter<string>(options)
    case 'gauge':
      return makeGauge<string>({ ...options, ...(collect === undefined ? {} : { collect }) })
    case 'histogram':
      return makeHistogram<string>({ ...options, buckets: row.buckets })
  }
}
