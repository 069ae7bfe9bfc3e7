/**
 * A pure function of an object that does not change: its result is kept for as long as the object; undefined is not kept. `make` may take
 * more than the object: the result kept is that of the first call, so that the rest may not change it.
 */
export function memo<K extends object, V, C = void>(make: (key: K, context: C) => V): (key: K, context: C) => V {
  const kept = new WeakMap<K, V>()
  return (key, context) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key, context)
    kept.set(key, made)
    return made
  }
}
