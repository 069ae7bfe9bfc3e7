import { declareMetrics, type Metrics, type MetricTable } from '@orch/platform'
import { resourceLabels } from './resource-labels.ts'

const table = {
  apiserver_watch_cache_consistent_read_total: {
    type: 'counter',
    help: '[ALPHA] Reads of the newest state of a store that others write to as well, by resource, whether they were answered, and whether from the store.',
    labels: ['group', 'resource', 'success', 'fallback'],
    isHot: true,
  },
} as const satisfies MetricTable

/** The result of a latest read. */
export interface ConsistentRead {
  readonly isAnswered: boolean
  /** Memory did not reach the newest revision in time. */
  readonly isFromStore: boolean
}

/** Counts latest reads of a shared store. */
export class ConsistentReads {
  readonly #counter

  constructor(metrics: Metrics | undefined) {
    this.#counter = metrics === undefined ? undefined : declareMetrics(metrics, table).apiserver_watch_cache_consistent_read_total
  }

  /** Counts a read of a key, such as `core/pods/default/a`, or of a prefix. */
  add(prefix: string, { isAnswered, isFromStore }: ConsistentRead): void {
    if (this.#counter === undefined) return
    const labels = { ...resourceLabels(prefix), success: String(isAnswered), fallback: String(isFromStore) }
    this.#counter.series(labels).add(1)
  }
}
