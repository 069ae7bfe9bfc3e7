import { setImmediate } from 'node:timers/promises'
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
    text: () => printMetrics(registry),
    contentType: registry.contentType,
    registry,
  }
}

/** Values that are printed before others have their turn: a server that has seen much tells hundreds of thousands. */
const valuesInARow = 4_000

/** The text of all metrics, as the registry prints it at once. */
async function printMetrics(registry: Registry): Promise<string> {
  const texts: string[] = []
  for (const metric of registry.getMetricsAsArray()) texts.push(await printMetric(metric as unknown as ReadMetric))
  return `${texts.join('\n\n')}\n`
}

/** What a registry asks of a metric. */
interface ReadMetric {
  readonly name: string
  get(): Promise<{ readonly values: readonly unknown[] }>
}

async function printMetric(metric: ReadMetric): Promise<string> {
  const told = await metric.get()
  const texts: string[] = []
  for (let from = 0; from === 0 || from < told.values.length; from += valuesInARow) {
    const text = await printAtOnce({ ...told, name: metric.name }, told.values.slice(from, from + valuesInARow))
    // Two lines of help and type stand above the first values alone.
    texts.push(from === 0 ? text : text.split('\n').slice(2).join('\n'))
    await setImmediate()
  }
  return texts.join('\n')
}

async function printAtOnce(told: { readonly name: string }, values: readonly unknown[]): Promise<string> {
  const registry = new Registry()
  registry.registerMetric({ ...told, get: async () => ({ ...told, values }) } as never)
  return (await registry.metrics()).slice(0, -1)
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
