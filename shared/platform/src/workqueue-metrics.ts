import { lazily, memo } from '@orch/core/memo'
import type { Clock } from './clock.ts'
import type { CountedNumber, CountedSeries } from './counted-metrics.ts'
import { counter, declareMetrics, gauge, hotCounter, hotHistogram, type MetricsOf } from './metric-table.ts'
import type { Metrics } from './metrics.ts'

const decades = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10]

const table = {
  workqueue_adds_total: hotCounter('Keys added to the queue, by queue.', ['name']),
  workqueue_depth: gauge('Waiting keys, by queue.', ['name']),
  workqueue_queue_duration_seconds: hotHistogram('Waiting time of keys in seconds, by queue.', decades, ['name']),
  workqueue_work_duration_seconds: hotHistogram('Processing time of a key in seconds, by queue.', decades, ['name']),
  workqueue_retries_total: counter('Keys retried after a pause, by queue.', ['name']),
  workqueue_unfinished_work_seconds: gauge('Sum of the seconds since the processing of each key in progress began, by queue.', ['name']),
  workqueue_longest_running_processor_seconds: gauge(
    'Seconds since the processing of the oldest key in progress began, by queue.',
    ['name'],
    { together: 'largest' },
  ),
}

/** The counts of one queue. Times are monotonic milliseconds. */
export class QueueCounts {
  readonly name: string
  /** Made for the first key, as most queues of a test's server never have one. */
  readonly #series: () => { readonly adds: CountedNumber; readonly waited: CountedSeries; readonly worked: CountedSeries }
  readonly #retries: MetricsOf<typeof table>['workqueue_retries_total']
  readonly #clock: Clock
  readonly #waitingSince = new Map<string, number>()
  readonly #workingSince = new Map<string, number>()

  constructor(name: string, declared: MetricsOf<typeof table>, clock: Clock) {
    this.name = name
    this.#series = lazily(() => ({
      adds: declared.workqueue_adds_total.series({ name }),
      waited: declared.workqueue_queue_duration_seconds.series({ name }),
      worked: declared.workqueue_work_duration_seconds.series({ name }),
    }))
    this.#retries = declared.workqueue_retries_total
    this.#clock = clock
  }

  /** Counts a key that begins to wait. */
  added(key: string): void {
    if (this.#waitingSince.has(key)) return
    this.#waitingSince.set(key, this.#clock.monotonic())
    this.#series().adds.add(1)
  }

  /** Counts a key whose work begins. */
  begun(key: string): void {
    const now = this.#clock.monotonic()
    this.#series().waited.observe((now - (this.#waitingSince.get(key) ?? now)) / 1000)
    this.#waitingSince.delete(key)
    this.#workingSince.set(key, now)
  }

  /** Counts a key whose work has ended, successfully or not. */
  ended(key: string): void {
    const now = this.#clock.monotonic()
    this.#series().worked.observe((now - (this.#workingSince.get(key) ?? now)) / 1000)
    this.#workingSince.delete(key)
  }

  /** Counts that no key waits any more. */
  emptied(): void {
    this.#waitingSince.clear()
  }

  /** Counts a key that will be retried later. */
  retried(): void {
    this.#retries.inc({ name: this.name })
  }

  get depth(): number {
    return this.#waitingSince.size
  }

  /** Seconds since the work on each key in progress began. */
  workingSeconds(): number[] {
    const now = this.#clock.monotonic()
    return [...this.#workingSince.values()].map((since) => (now - since) / 1000)
  }
}

/** The metrics of the queues of one process, with the names that Kubernetes' controllers use. */
export class WorkqueueMetrics {
  readonly #queues = new Map<string, QueueCounts>()
  readonly #declared: MetricsOf<typeof table>
  readonly #clock: Clock

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#declared = declareMetrics(metrics, table, {
      workqueue_depth: (gauge) => this.#set(gauge, ({ depth }) => depth),
      workqueue_unfinished_work_seconds: (gauge) =>
        this.#set(gauge, (queue) => queue.workingSeconds().reduce((sum, seconds) => sum + seconds, 0)),
      workqueue_longest_running_processor_seconds: (gauge) => this.#set(gauge, (queue) => Math.max(0, ...queue.workingSeconds())),
    })
  }

  /** Metrics for a new queue. Queues that are open at the same time must have different names. */
  open(name: string): QueueCounts {
    const counts = new QueueCounts(name, this.#declared, this.#clock)
    this.#queues.set(name, counts)
    return counts
  }

  #set(gauge: { set(labels: { readonly name: string }, value: number): void }, measure: (queue: QueueCounts) => number): void {
    for (const queue of this.#queues.values()) gauge.set({ name: queue.name }, measure(queue))
  }
}

/** The metrics of all queues of a server: a gateway and controllers may be in one process. */
export const workqueueMetricsOf = memo((metrics: Metrics, clock: Clock) => new WorkqueueMetrics(metrics, clock))
