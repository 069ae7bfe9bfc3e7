/**
 * Memoizes a pure function of an immutable object. A result lives as long as the object; undefined is not cached. If `make` depends on
 * more than the object, the cached result is still that of the first call.
 */
export function memo<K extends object, V>(make: (key: K) => V): (key: K) => V
export function memo<K extends object, V, C>(make: (key: K, context: C) => V): (key: K, context: C) => V
export function memo<K extends object, V, C>(make: (key: K, context: C) => V): (key: K, context: C) => V {
  const kept = new WeakMap<K, V>()
  return (key, context) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key, context)
    kept.set(key, made)
    return made
  }
}

/** Maximum weight of the results of one cache. */
const weightMax = 1_000_000

/**
 * Like `memo`, for a key that is compared by value, such as a text. Holds up to `entriesMax` results, whose total weight is at most a million. The
 * weight of a result is the length of its texts, or the value of `weigh`. A full cache is cleared.
 */
export function boundedMemo<K, V>(entriesMax: number, make: (key: K) => V, weigh?: (key: K, made: V) => number): (key: K) => V
export function boundedMemo<K, V, C>(entriesMax: number, make: (key: K, context: C) => V): (key: K, context: C) => V
export function boundedMemo<K, V, C>(
  entriesMax: number,
  make: (key: K, context: C) => V,
  weigh: (key: K, made: V) => number = lengthOf,
): (key: K, context: C) => V {
  const kept = new Map<K, V>()
  let weight = 0
  return (key, context) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key, context)
    const added = weigh(key, made)
    if (kept.size >= entriesMax || weight + added > weightMax) {
      kept.clear()
      weight = 0
    }
    kept.set(key, made)
    weight += added
    return made
  }
}

function lengthOf(key: unknown): number {
  return typeof key === 'string' ? key.length : 0
}

/** A Map or a WeakMap. */
interface Entries<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** Returns the value of a key. Creates and stores it if the map has none. */
export function getOrMake<K, V>(entries: Entries<K, V>, key: K, make: () => NoInfer<V>): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const made = make()
  entries.set(key, made)
  return made
}

/** Calls `make` once, when the result is first needed. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
