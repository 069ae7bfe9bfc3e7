import { setImmediate } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import { type MetricRows, type MetricValue, mergeRows } from './merged-metrics.ts'
import { type MetricFamily, printFamilies } from './metric-families.ts'

/** Name, help text and labels of a metric. */
interface MetricOptions<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
  /** The release that deprecated the metric: `1.22`. Three releases later the metric is hidden, and then removed. */
  readonly deprecatedFrom?: string
  /** The way to combine values of several threads. Default: sum. */
  readonly together?: 'sum' | 'largest'
}

/** A histogram also has buckets. */
interface HistogramOptions<L extends string> extends MetricOptions<L> {
  readonly buckets: readonly number[]
}

/** A metric that stores its own values. They may change while they are read, since reading yields to other work. */
interface KeptMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  values(): Iterable<MetricValue>
}

/** A metric, and the release that deprecated it. */
interface DeclaredMetric {
  readonly metric: Metric | KeptMetric
  readonly deprecatedFrom?: string | undefined
}

/** Metrics that are made when they are first used, or when the registry is read. */
export interface DeferredMetrics {
  /** All of the metrics, in the order of their declarations. */
  all(): Iterable<DeclaredMetric>
}

type MakeCounter = <L extends string = never>(options: MetricOptions<L>) => Counter<L>
type MakeGauge = <L extends string = never>(options: MetricOptions<L> & { collect?: (gauge: Gauge<L>) => void | Promise<void> }) => Gauge<L>
type MakeHistogram = <L extends string = never>(options: HistogramOptions<L>) => Histogram<L>

/** The metrics of one server. Each server in a process has its own. */
export interface Metrics {
  readonly counter: MakeCounter
  readonly gauge: MakeGauge
  readonly histogram: MakeHistogram
  /** Adds a metric whose values are computed while they are printed. */
  keep(metric: KeptMetric): void
  /** Adds metrics that may not be made yet. */
  defer(metrics: DeferredMetrics): void
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>
  /** Like `text`, in UTF-8. */
  bytes(): Promise<Buffer>
  /** All metrics as length-prefixed messages of Prometheus' Protobuf format. */
  protobuf(): Promise<Buffer>
  /** The values of this thread, for another thread that prints the sum. */
  rows(): Promise<MetricRows[]>
  readonly contentType: string
  /** Other metrics of this server, such as those of a library. */
  readonly registry: Registry
}

/** The current release, which decides about deprecated metrics. */
export interface MetricReleases {
  /** `1.25` */
  readonly current: string
  /** True to show the metrics that the current release hides. */
  readonly showsHidden: boolean
}

interface MetricsOptions {
  /** Adds the metrics of the process itself: memory, CPU, event loop. */
  readonly process: boolean
  readonly releases?: MetricReleases
  /** The values of other threads, which are printed combined with the values of this thread. Default: no other threads. */
  readonly others?: () => Promise<readonly (readonly MetricRows[])[]>
  /** Prints the metrics of the whole process in another thread. Default: this thread prints them. */
  readonly printedElsewhere?: () => Promise<Buffer>
}

/** Creates metrics without values. */
export function createMetrics({ process, releases, others, printedElsewhere }: MetricsOptions): Metrics {
  const registry = new Registry()
  let lacksProcess = process
  const keptMetrics = new Map<string, KeptMetric>()
  const pending: DeferredMetrics[] = []
  /** The registry with all declared metrics. Servers of tests declare more than a hundred, and seldom read them. */
  const complete = (): Registry => {
    // The lag of the event loop is measured by a timer of 10 ms, which would wake an idle server without readers of metrics.
    if (lacksProcess) addProcessMetrics(registry)
    lacksProcess = false
    for (const deferred of pending.splice(0))
      for (const { metric, deprecatedFrom } of deferred.all()) {
        // Hidden metrics still count, so that their callers need no check.
        if (!isExposed(deprecatedFrom, releases)) continue
        if ('values' in metric) register(metric)
        else registry.registerMetric(metric)
      }
    return registry
  }
  /** One metric that is made later. The registry shows metrics in the order of their declarations. */
  const deferred = <T extends Metric>({ deprecatedFrom }: { readonly deprecatedFrom?: string }, make: () => T): T => {
    const single = new DeferredMetric(make, deprecatedFrom)
    pending.push(single)
    return new Proxy(single, memberOfMetric) as unknown as T
  }
  const register = (metric: KeptMetric) => {
    const help = printMetricHelp(metric.help)
    const shown = { name: metric.name, help, type: metric.type, aggregator: 'sum' }
    // The registry only asks a metric for its name and its values.
    registry.registerMetric({ ...shown, get: async () => ({ ...shown, values: [...metric.values()] }) } as never)
    keptMetrics.set(metric.name, { ...shown, type: metric.type, values: () => metric.values() })
  }
  const rows = async () => (await complete().getMetricsAsJSON()).map(toRows)
  async function* print() {
    const elsewhere = (await others?.()) ?? []
    if (elsewhere.length === 0) yield* printMetrics(complete(), keptMetrics)
    else yield* printRows(mergeRows([await rows(), ...elsewhere]))
  }
  return {
    counter: (options) => deferred(options, () => makeCounter(options)),
    gauge: (options) => deferred(options, () => makeGauge(options)),
    histogram: (options) => deferred(options, () => makeHistogram(options)),
    keep: (metric) => void pending.push({ all: () => [{ metric }] }),
    defer: (metrics) => void pending.push(metrics),
    text: async () => {
      let text = ''
      for await (const piece of print()) text += piece
      return text
    },
    bytes: async () => {
      if (printedElsewhere !== undefined) return printedElsewhere()
      const pieces: Buffer[] = []
      for await (const piece of print()) pieces.push(Buffer.from(piece))
      return Buffer.concat(pieces)
    },
    protobuf: async () => {
      const elsewhere = (await others?.()) ?? []
      const families = elsewhere.length === 0 ? familiesOf(complete(), keptMetrics) : mergeRows([await rows(), ...elsewhere])
      const pieces: Uint8Array[] = []
      for await (const piece of printFamilies(families)) pieces.push(piece)
      return Buffer.concat(pieces)
    },
    rows,
    contentType: registry.contentType,
    get registry() {
      return complete()
    },
  }
}

function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  // These are gauges with names of counters, and sums of the gauges beside them.
  for (const name of misnamed) registry.removeSingleMetric(name)
}

class DeferredMetric<T extends Metric> implements DeferredMetrics {
  readonly #make: () => T
  readonly #deprecatedFrom: string | undefined
  #made: T | undefined

  constructor(make: () => T, deprecatedFrom: string | undefined) {
    this.#make = make
    this.#deprecatedFrom = deprecatedFrom
  }

  get metric(): T {
    this.#made ??= this.#make()
    return this.#made
  }

  all(): DeclaredMetric[] {
    return [{ metric: this.metric, deprecatedFrom: this.#deprecatedFrom }]
  }
}

const memberOfMetric: ProxyHandler<DeferredMetric<Metric>> = {
  get({ metric }, member) {
    const value: unknown = Reflect.get(metric, member)
    return typeof value === 'function' ? value.bind(metric) : value
  },
}

/** A counter in no registry, like the next two. */
export const makeCounter: MakeCounter = (options) => new Counter(commonOf(options))

export const makeGauge: MakeGauge = ({ collect, ...options }) => {
  const gauge: Gauge<never> = new Gauge({
    ...commonOf(options),
    ...(collect === undefined ? {} : { collect: () => collect(gauge as never) }),
  })
  return gauge as never
}

export const makeHistogram: MakeHistogram = (options) => new Histogram({ ...commonOf(options), buckets: [...options.buckets] })

function commonOf<L extends string>({ name, help, labels, deprecatedFrom, together = 'sum' }: MetricOptions<L>) {
  return {
    name,
    aggregator: aggregators[together],
    help: printMetricHelp(help, deprecatedFrom),
    labelNames: [...(labels ?? [])],
    registers: [],
  }
}

/** The library's names for the combinations. */
const aggregators = { sum: 'sum', largest: 'max' } as const

function toRows({ name, help, type, aggregator, values }: Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]): MetricRows {
  const together = (aggregator as string) === aggregators.largest ? 'largest' : 'sum'
  return { name, help, type: String(type), together, values: values as unknown as MetricValue[] }
}

/** Number of values that are printed before the event loop continues with other work: a long-running server has hundreds of thousands. */
const valuesInARow = 2_000

/** Yields the text of all metrics in pieces; together they equal the registry's own text. */
async function* printMetrics(registry: Registry, kept: ReadonlyMap<string, KeptMetric>): AsyncGenerator<string> {
  let before = ''
  for (const { metric, own } of metricsOf(registry, kept)) {
    yield before
    yield* printMetric(metric, own)
    before = '\n\n'
  }
  yield '\n'
}

async function* familiesOf(registry: Registry, kept: ReadonlyMap<string, KeptMetric>): AsyncGenerator<MetricFamily> {
  for (const { metric, own } of metricsOf(registry, kept)) yield own === undefined ? await metric.get() : { ...own, values: own.values() }
}

/** The metrics of a registry in order. `kept` holds those that store their own values. */
function* metricsOf(registry: Registry, kept: ReadonlyMap<string, KeptMetric>) {
  // The library's types omit the method that a registry calls on a metric.
  for (const metric of registry.getMetricsAsArray()) yield { metric: metric as unknown as ReadMetric, own: kept.get(metric.name) }
}

/** The text of the combined metrics of several threads. */
async function* printRows(merged: AsyncIterable<MetricRows>): AsyncGenerator<string> {
  let before = ''
  for await (const { name, help, type, values } of merged) {
    yield before
    const shown = { name, help, type, values }
    yield* printMetric({ name, get: async () => shown }, undefined)
    before = '\n\n'
  }
  yield '\n'
}

/** The members of a metric that its registry reads. */
interface ReadMetric {
  readonly name: string
  get(): Promise<MetricFamily>
}

async function* printMetric(metric: ReadMetric, kept: KeptMetric | undefined): AsyncGenerator<string> {
  const shown = kept === undefined ? await metric.get() : { ...kept, values: kept.values() }
  let isFirst = true
  for (const values of inRows(shown.values)) {
    const text = await printAtOnce({ ...shown, name: metric.name }, values)
    // Only the first values have the two lines of help and type.
    yield isFirst ? text : text.slice(text.indexOf('\n', text.indexOf('\n') + 1))
    isFirst = false
    await setImmediate()
  }
}

/** The values in rows, each computed on demand; one empty row if there are no values. */
function* inRows(values: Iterable<unknown>): Generator<unknown[]> {
  let row: unknown[] = []
  for (const value of values) {
    if (row.length === valuesInARow) {
      yield row
      row = []
    }
    row.push(value)
  }
  yield row
}

async function printAtOnce(shown: { readonly name: string }, values: readonly unknown[]): Promise<string> {
  const registry = new Registry()
  registry.registerMetric({ ...shown, get: async () => ({ ...shown, values }) } as never)
  return (await registry.metrics()).slice(0, -1)
}

const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Number of releases for which a deprecated metric stays visible. The next release hides it, and in later ones no setting shows it. */
const deprecatedReleases = 3

function isExposed(deprecatedFrom: string | undefined, releases: MetricReleases | undefined): boolean {
  if (deprecatedFrom === undefined || releases === undefined) return true
  const age = minorOf(releases.current) - minorOf(deprecatedFrom)
  return age < deprecatedReleases || (age === deprecatedReleases && releases.showsHidden)
}

function minorOf(release: string): number {
  return Number(release.split('.')[1])
}

/** `[ALPHA] (Deprecated from 1.22) Watches that are open.` A help text without a stability level counts as alpha. */
function printMetricHelp(help: string, deprecatedFrom?: string): string {
  const [, stability = 'ALPHA', text = help] = /^\[(ALPHA|BETA|STABLE)\] (.*)$/s.exec(help) ?? []
  return `[${stability}] ${deprecatedFrom === undefined ? '' : `(Deprecated from ${deprecatedFrom}) `}${text}`
}
