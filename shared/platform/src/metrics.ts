import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Name, help text and labels of a metric. */
export interface MetricOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
  /** The release since which another metric tells the same: `1.22`. Three releases later it is hidden, and then it goes. */
  readonly deprecatedFrom?: string
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

/** Which release this is, for metrics that are deprecated. */
export interface MetricReleases {
  /** `1.25` */
  readonly current: string
  /** Hidden metrics are shown once more. */
  readonly showsHidden: boolean
}

/** An empty set of metrics; `process: true` adds those of the process itself (memory, CPU, event loop). */
export function createMetrics({ process, releases }: { process: boolean; releases?: MetricReleases }): Metrics {
  const registry = new Registry()
  if (process) {
    collectDefaultMetrics({ register: registry })
    // They are gauges with the name of a counter, and sums of those beside them.
    for (const name of misnamed) registry.removeSingleMetric(name)
  }
  const common = <L extends string>({ name, help, labels, deprecatedFrom }: MetricOptions<L>) => ({
    name,
    help: printMetricHelp(help, deprecatedFrom),
    labelNames: [...(labels ?? [])],
    // Whoever counts need not know whether anybody is told.
    registers: isTold(deprecatedFrom, releases) ? [registry] : [],
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

const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Releases that a deprecated metric is told for; in the one after them it is hidden, and then no setting brings it back. */
const deprecatedReleases = 3

function isTold(deprecatedFrom: string | undefined, releases: MetricReleases | undefined): boolean {
  if (deprecatedFrom === undefined || releases === undefined) return true
  const age = minorOf(releases.current) - minorOf(deprecatedFrom)
  return age < deprecatedReleases || (age === deprecatedReleases && releases.showsHidden)
}

function minorOf(release: string): number {
  return Number(release.split('.')[1])
}

/** `[ALPHA] (Deprecated from 1.22) Watches that are open.` What does not say how stable it is may change at any time. */
function printMetricHelp(help: string, deprecatedFrom: string | undefined): string {
  const [, stability = 'ALPHA', text = help] = /^\[(ALPHA|STABLE)\] (.*)$/s.exec(help) ?? []
  return `[${stability}] ${deprecatedFrom === undefined ? '' : `(Deprecated from ${deprecatedFrom}) `}${text}`
}
