import { resourcePrefix, type SharedStore } from '@orch/core/contracts'
import { type Clock, counter, declareMetrics, type Metrics, type Timer } from '@orch/platform'
import { compareWithStore } from './audit.ts'
import { limits } from './limits.ts'
import { resourceLabels } from './resource-labels.ts'
import type { State } from './state.ts'

const table = {
  apiserver_storage_consistency_checks_total: counter(
    '[ALPHA] Comparisons of memory with the store that others write to as well, by resource and by how they ended.',
    ['group', 'resource', 'status'],
  ),
}

/** The compared store and memory, and the callback for differences. */
export interface ConsistencyChecksOptions {
  readonly shared: SharedStore
  readonly state: State
  /** Storage prefixes of the resources that have objects. */
  readonly resources: () => Iterable<string>
  readonly clock: Clock
  readonly metrics: Metrics | undefined
  readonly onError: (error: unknown) => void
}

/** Compares memory with a shared store every five minutes, by keys and revisions, and counts the results by resource. */
export class ConsistencyChecks {
  readonly #options: ConsistencyChecksOptions
  readonly #counter
  readonly #timer: Timer
  #isChecking = false
  #isClosed = false

  constructor(options: ConsistencyChecksOptions) {
    const { clock, metrics } = options
    this.#options = options
    this.#counter = metrics === undefined ? undefined : declareMetrics(metrics, table).apiserver_storage_consistency_checks_total
    this.#timer = clock.every(limits.consistencyCheckMs, () => void this.#checkOnce())
  }

  close(): void {
    this.#isClosed = true
    this.#timer.cancel()
  }

  async #checkOnce(): Promise<void> {
    if (this.#isChecking || this.#options.state.loading !== undefined) return
    this.#isChecking = true
    await this.#check()
    this.#isChecking = false
  }

  async #check(): Promise<void> {
    const { state, shared, resources, onError } = this.#options
    const { revision } = state
    const held = new Set(resources())
    try {
      const found = await compareWithStore(state, shared)
      // While changes are held back, store and memory have different revisions and cannot be compared.
      if (found.revision !== revision) return
      const differing = new Set([...found.changed, ...found.gone].map(({ key }) => resourcePrefix(key)))
      for (const one of new Set([...held, ...differing])) this.#count(one, differing.has(one) ? 'failure' : 'success')
      if (differing.size > 0) onError(new Error(`memory is not as the store at revision ${revision}: ${[...differing].join(', ')}`))
    } catch (error) {
      if (this.#isClosed) return
      for (const one of held) this.#count(one, 'error')
      onError(error)
    }
  }

  #count(prefix: string, status: 'success' | 'failure' | 'error'): void {
    this.#counter?.inc({ ...resourceLabels(prefix), status })
  }
}
