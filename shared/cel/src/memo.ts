/**
 * A pure function of an object that does not change: its result is kept for as long as the object; undefined is not kept. `make` may take
 * more than the object: the result kept is that of the first call, so that the rest may not change it.
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

/** As `memo`, of a key that is compared by its value, such as a text. At most `entriesMax` results are kept; the next one replaces all. */
export function boundedMemo<K, V>(entriesMax: number, make: (key: K) => V): (key: K) => V
export function boundedMemo<K, V, C>(entriesMax: number, make: (key: K, context: C) => V): (key: K, context: C) => V
export function boundedMemo<K, V, C>(entriesMax: number, make: (key: K, context: C) => V): (key: K, context: C) => V {
  const kept = new Map<K, V>()
  return (key, context) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key, context)
    if (kept.size >= entriesMax) kept.clear()
    kept.set(key, made)
    return made
  }
}
