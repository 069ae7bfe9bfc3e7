import type { MetricCount } from '@orch/core/contracts'

type Labels = MetricCount['labels']

/**
 * Counts whose labels are made once for each owner, such as a binding: within one process the gateway finds a series by the very labels,
 * without hashing them.
 */
export class KeptCounts {
  readonly #byMetric = new Map<string, WeakMap<object, Map<string, MetricCount>>>()

  /** One more of a metric. `key` tells the labels of an owner apart. */
  one(name: string, owner: object, key: string, labels: () => Labels): MetricCount {
    // Look-ups by texts that are there already: no text is made of them.
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
