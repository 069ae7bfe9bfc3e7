import type { MetricCount } from '@orch/core/contracts'

type Labels = MetricCount['labels']

/**
 * Counts whose labels are created once for each owner, such as a binding: within one process the gateway then finds a series by the labels object,
 * without hashing.
 */
export class KeptCounts {
  readonly #byMetric = new Map<string, WeakMap<object, Map<string, MetricCount>>>()

  /** Increments a metric. `key` distinguishes the labels of an owner. */
  one(name: string, owner: object, key: string, labels: () => Labels): MetricCount {
    // Looks up existing strings, so that no string is built.
    const owners = entryOf(this.#byMetric, name, () => new WeakMap<object, Map<string, MetricCount>>())
    const ofOwner = entryOf(owners, owner, () => new Map<string, MetricCount>())
    return entryOf(ofOwner, key, () => ({ name, labels: labels(), value: 1 }))
  }
}

interface Entries<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

function entryOf<K, V>(entries: Entries<K, V>, key: K, make: () => V): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const made = make()
  entries.set(key, made)
  return made
}
