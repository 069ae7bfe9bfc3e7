import { setImmediate } from 'node:timers/promises'

/** Items that are worked on at the same time: some milliseconds where the server that is asked is this process. */
export const groupSize = 32

/** Does something for each item, a few at a time. Between groups others have their turn: an object may name ten thousand owners. */
export async function inGroups<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (let from = 0; from < items.length; from += groupSize) {
    if (from > 0) await setImmediate()
    const group = items.slice(from, from + groupSize)
    done.push(...(await Promise.all(group.map((item, index) => work(item, from + index)))))
  }
  return done
}
