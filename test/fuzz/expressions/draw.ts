/** A whole number in [0, bound). */
export type Draw = (bound: number) => number

/** A random source that gives the same numbers for the same seed. */
export function createDraw(seed: number): Draw {
  let state = seed | 0
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * bound)
  }
}

/** A random item. */
export function pick<Item>(draw: Draw, items: readonly Item[]): Item {
  const item = items[draw(items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}
