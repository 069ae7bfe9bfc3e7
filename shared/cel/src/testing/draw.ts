/** A whole number in [0, bound). */
export type Draw = (bound: number) => number

/** The same numbers from the same seed. */
export function createDraw(seed: number): Draw {
  let state = seed | 0
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * bound)
  }
}

/** One of several. */
export function pick<Item>(draw: Draw, items: readonly Item[]): Item {
  const item = items[draw(items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}
