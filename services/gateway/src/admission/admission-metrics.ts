import type { AdmissionStep, MetricCount } from '@orch/core/contracts'
import {
  type Clock,
  type CountedHistogram,
  type CountedNumber,
  type CountedNumbers,
  type CountedSeries,
  declareMetrics,
  hotCounter,
  hotHistogram,
  type Log,
  type Metrics,
} from '@orch/platform'

/** The metrics of admission, under the names that dashboards query. */
export type AdmissionMetrics = ReturnType<typeof createAdmissionMetrics>

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** Maximum age of the values in quantiles. */
const summaryAgeMsMax = 5 * 60 * 60 * 1000

const stepLabels = ['type', 'operation', 'rejected'] as const
const partLabels = ['name', ...stepLabels] as const
const duration = <L extends string>(help: string, labels: readonly L[]) => hotHistogram(help, buckets, labels)

const durationTable = {
  apiserver_admission_step_admission_duration_seconds: duration('[STABLE] Time of all plugins of one phase, by operation.', stepLabels),
  apiserver_admission_controller_admission_duration_seconds: duration('[STABLE] Time of one plugin, by phase and operation.', partLabels),
  apiserver_admission_webhook_admission_duration_seconds: duration('[STABLE] Time of one webhook, by phase and operation.', partLabels),
}

/** The counters and histograms of plugins, with their labels. */
const countTable = {
  apiserver_admission_webhook_rejection_count: hotCounter(
    '[ALPHA] Requests that a webhook refused, or that were refused because a call of it failed.',
  ),
  apiserver_admission_webhook_fail_open_count: hotCounter('[ALPHA] Calls of webhooks that failed and were ignored.'),
  apiserver_admission_webhook_request_total: hotCounter('[ALPHA] Calls of webhooks, by the code of the answer.'),
  apiserver_validating_admission_policy_check_total: hotCounter(
    '[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
  ),
  apiserver_validating_admission_policy_check_duration_seconds: hotHistogram(
    '[BETA] Time of single validations of policies, by policy, binding and enforcement action.',
    [0.0000005, 0.001, 0.01, 0.1, 1],
  ),
  apiserver_mutating_admission_policy_check_total: hotCounter('[ALPHA] Changes of mutating policies, by policy, binding and error.'),
  apiserver_mutating_admission_policy_check_duration_seconds: hotHistogram(
    '[ALPHA] Time of single changes of mutating policies, by policy, binding and error.',
    [0.0000005, 0.001, 0.01, 0.1, 1],
  ),
  apiserver_admission_match_condition_evaluation_seconds: hotHistogram(
    '[ALPHA] Time of the match conditions of a webhook or a policy, by its name and kind, and by operation and type.',
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  ),
  apiserver_admission_match_condition_evaluation_errors_total: hotCounter(
    '[ALPHA] Match conditions that could not be evaluated, by the webhook or policy that has them, operation and type.',
  ),
  apiserver_admission_match_condition_exclusions_total: hotCounter(
    '[ALPHA] Requests that match conditions excluded, by the webhook or policy that has them, operation and type.',
  ),
  pod_security_evaluations_total: hotCounter('[ALPHA] Pods and templates that were checked against a level.'),
  pod_security_exemptions_total: hotCounter('[ALPHA] Requests that are exempt from pod security.'),
  pod_security_errors_total: hotCounter('[ALPHA] Failed checks of a pod against a level.'),
}

/** The observer for series beyond the bound, which drops values. */
const unobserved: Observer = { observe: () => {} }

interface Observer {
  observe(value: number): void
}

type Phase = 'mutate' | 'validate'

/** The series of one phase, operation and outcome. */
interface StepSeries {
  readonly whole: Observer
  readonly plugins: Map<string, Observer>
  readonly webhooks: Map<string, Observer>
}

/** Accepted and rejected, by operation. */
type Kinds = Readonly<Record<Phase, readonly [Map<string, StepSeries>, Map<string, StepSeries>]>>

/** The names of steps in the metrics, with a separate name for webhooks. */
const stepTypes = { mutate: 'admit', validate: 'validate' } as const
const webhookTypes = { mutate: 'admit', validate: 'validating' } as const

/** Declares the metrics of admission. */
export function createAdmissionMetrics(metrics: Metrics, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
  const summary = createCountedSummary(metrics, {
    name: 'apiserver_admission_step_admission_duration_seconds_summary',
    help: '[ALPHA] Quantiles of the time of all plugins of one phase in the last five hours, by operation.',
    quantiles: [0.5, 0.9, 0.99],
    ageMsMax: summaryAgeMsMax,
    clock,
  })
  const {
    apiserver_admission_step_admission_duration_seconds: steps,
    apiserver_admission_controller_admission_duration_seconds: plugins,
    apiserver_admission_webhook_admission_duration_seconds: webhooks,
  } = declareMetrics(metrics, durationTable)
  const counters = declareMetrics(metrics, countTable)
  const counted: Readonly<Partial<Record<string, CountedNumbers | CountedHistogram>>> = counters
  for (const request_operation of ['create', 'update'])
    for (const resource of ['controller', 'pod'])
      counters.pod_security_exemptions_total.series({ request_operation, resource, subresource: '' }).add(0)
  // Within one process a plugin passes the same labels object again.
  const countedBefore = new WeakMap<MetricCount['labels'], { readonly name: string; readonly series: CountedNumber | CountedSeries }>()
  // Lookups by existing strings replace prom-client's hashing of labels.
  let seriesCount = 0
  const kinds: Kinds = { mutate: [new Map(), new Map()], validate: [new Map(), new Map()] }
  const kindOf = (phase: Phase, operation: string, isRejected: boolean): StepSeries => {
    const byOperation = kinds[phase][isRejected ? 1 : 0]
    let known = byOperation.get(operation)
    if (known === undefined) {
      const labels = { type: stepTypes[phase], operation, rejected: String(isRejected) }
      known = { whole: all([steps.series(labels), summary.series(labels)]), plugins: new Map(), webhooks: new Map() }
      byOperation.set(operation, known)
    }
    return known
  }
  const begin = (kind: StepSeries, phase: Phase, operation: string, { plugin, webhook, isRejected }: AdmissionStep): Observer => {
    // Webhooks are added and removed at any time, with names that clients choose.
    if (seriesCount >= seriesMax) return unobserved
    seriesCount += 1
    const labels = { operation, rejected: String(isRejected) }
    const isPlugin = webhook === ''
    const series = isPlugin
      ? plugins.series({ name: plugin, type: stepTypes[phase], ...labels })
      : webhooks.series({ name: webhook, type: webhookTypes[phase], ...labels })
    if (isPlugin) kind.plugins.set(plugin, series)
    else kind.webhooks.set(webhook, series)
    return series
  }
  return {
    /** One phase of one write. */
    step(phase: Phase, operation: string, isRejected: boolean, durationMs: number) {
      kindOf(phase, operation, isRejected).whole.observe(durationMs / 1000)
    },
    /** Observes the durations of plugins and webhooks. */
    plugins(phase: Phase, operation: string, steps: readonly AdmissionStep[]) {
      let accepted: StepSeries | undefined
      for (const step of steps) {
        if (!step.isRejected) accepted ??= kindOf(phase, operation, false)
        const kind = accepted === undefined || step.isRejected ? kindOf(phase, operation, true) : accepted
        const known = step.webhook === '' ? kind.plugins.get(step.plugin) : kind.webhooks.get(step.webhook)
        const series = known ?? begin(kind, phase, operation, step)
        series.observe(step.durationMs / 1000)
      }
    },
    /** Counts a metric of a plugin. */
    count({ name, labels, value }: MetricCount) {
      const known = countedBefore.get(labels)
      const series = known?.name === name ? known.series : counted[name]?.series(labels)
      if (series === undefined) {
        log.warn({ metric: name }, 'admission counts what is no metric of a gateway')
        return
      }
      if (known?.name !== name) countedBefore.set(labels, { name, series })
      if ('add' in series) series.add(value)
      else series.observe(value)
    },
  }
}

function all(observers: readonly Observer[]): Observer {
  return {
    observe(value) {
      for (const observer of observers) observer.observe(value)
    },
  }
}

/** Maximum number of cached series: some operations of each plugin, and hundreds of webhooks. */
const seriesMax = 10_000

/** One combination of labels. */
interface SummarySeries {
  observe(value: number): void
}

export interface SummaryOptions {
  readonly name: string
  readonly help: string
  readonly quantiles: readonly number[]
  /** Quantiles cover values up to this age; sum and count cover all. */
  readonly ageMsMax: number
  readonly clock: Clock
}

/** Smaller values count as this one, and values beyond the last bucket as that bucket. */
const valueMin = 1e-6
/** Relative error of a quantile. */
const growth = 1.05
const bucketCount = 420
/** Number of parts of the window: old observations are dropped a fifth at a time. */
const spanCount = 5

interface Span {
  readonly number: number
  readonly counts: Uint32Array
}

interface Kept {
  readonly labels: Readonly<Record<string, string>>
  /** Newest last. */
  readonly spans: Span[]
  sum: number
  count: number
}

/** A summary of values observed a few times in one request: values are counted by size, and quantiles computed when they are read. */
export function createCountedSummary(metrics: Metrics, { name, help, quantiles, ageMsMax, clock }: SummaryOptions) {
  const all: Kept[] = []
  const spanNow = () => Math.floor((clock.monotonic() * spanCount) / ageMsMax)
  metrics.keep({ name, help, type: 'summary', values: () => all.flatMap((kept) => valuesOf(name, quantiles, kept, spanNow())) })
  return {
    /** Called once for each combination of labels; the observer caches the result. */
    series(labels: Readonly<Record<string, string>>): SummarySeries {
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

/** The middle value of a bucket. */
function valueIn(bucket: number): number {
  return bucket === 0 ? valueMin : valueMin * growth ** (bucket - 0.5)
}

function valuesOf(name: string, quantiles: readonly number[], { labels, spans, sum, count }: Kept, now: number) {
  const recent = spans.filter(({ number }) => number > now - spanCount)
  const found = quantiles.map((quantile) => ({ labels: { quantile, ...labels }, value: quantileOf(recent, quantile) }))
  return [...found, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}

/** NaN without recent observations. */
function quantileOf(spans: readonly Span[], quantile: number): number {
  const total = spans.reduce((sum, { counts }) => counts.reduce((part, count) => part + count, sum), 0)
  let missing = Math.max(1, Math.ceil(total * quantile))
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    for (const { counts } of spans) missing -= counts[bucket] ?? 0
    if (missing <= 0) return valueIn(bucket)
  }
  return Number.NaN
}
