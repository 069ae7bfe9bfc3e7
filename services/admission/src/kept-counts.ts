import type { MetricCount } from '@orch/core/contracts'
import { getOrMake } from '@orch/core/memo'

/**
 * Counts whose labels are created once for each owner, such as a binding: within one process the gateway then finds a series by the labels object,
 * without hashing.
 */
export class KeptCounts {
  readonly #byMetric = new Map<string, WeakMap<object, Map<string, MetricCount>>>()

  /** Increments a metric. `key` distinguishes the labels of an owner. */
  one(name: string, owner: object, key: string, labels: () => MetricCount['labels']): MetricCount {
    // Looks up existing strings, so that no string is built.
    const owners = getOrMake(this.#byMetric, name, () => new WeakMap<object, Map<string, MetricCount>>())
    const ofOwner = getOrMake(owners, owner, () => new Map<string, MetricCount>())
    return getOrMake(ofOwner, key, () => ({ name, labels: labels(), value: 1 }))
  }
}
