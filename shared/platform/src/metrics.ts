import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Name, help text and labels of a metric. */
export interface MetricOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
}

/** A histogram also has its buckets. */
export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  readonly buckets: readonly number[]
}

/** The counters of one server. Several servers of one process have one each. */
export interface Metrics {
  counter<L extends string = never>(options: MetricOptions<L>): Counter<L>
  gauge<L extends string = never>(options: MetricOptions<L> & { collect?: (gauge: Gauge<L>) => void }): Gauge<L>
  histogram<L extends string = never>(options: HistogramOptions<L>): Histogram<L>
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
  /** Metrics that are kept here by other means, e.g. by a library. */
  readonly registry: Registry
}

/** An empty set of metrics; `process: true` adds those of the process itself (memory, CPU, event loop). */
export function createMetrics({ process }: { process: boolean }): Metrics {
  const registry = new Registry()
  if (process) collectDefaultMetrics({ register: registry })
  const common = <L extends string>({ name, help, labels }: MetricOptions<L>) => ({
    name,
    help,
    labelNames: [...(labels ?? [])],
    registers: [registry],
  })
  return {
    counter: (options) => new Counter(common(options)),
    gauge: ({ collect, ...options }) => {
      const gauge: Gauge<never> = new Gauge({
        ...common(options),
        ...(collect === undefined ? {} : { collect: () => collect(gauge as never) }),
      })
      return gauge as never
    },
    histogram: (options) => new Histogram({ ...common(options), buckets: [...options.buckets] }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  }
}
