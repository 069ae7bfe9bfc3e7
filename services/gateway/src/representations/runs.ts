import { crc32 } from 'node:zlib'
import { at } from '@orch/core/json'

/** Consecutive items of a list, joined. */
export interface Run<T> {
  readonly items: readonly T[]
}

/** A list, and the runs that it was divided into. */
export interface JoinedList<T, R extends Run<T>> {
  readonly items: readonly T[]
  readonly runs: readonly R[]
}

/** The joining of a list. */
export interface Joining<T, R extends Run<T>> {
  /** True if an item ends a run, independent of its neighbours. */
  readonly isEnd: (item: T) => boolean
  readonly join: (items: readonly T[]) => R
}

/**
 * Divides a list into runs, and takes over the runs of an earlier list that have the same items. Whether a run ends at an item depends on
 * that item alone, so that an insertion or removal changes only the runs around it.
 *
 *   a b | c d e | f      d becomes D:      a b | c D e | f      joined: c D e
 */
export function runsOf<T, R extends Run<T>>(items: readonly T[], last: JoinedList<T, R>, { isEnd, join }: Joining<T, R>): R[] {
  const { front, back } = sameEnds(items, last.items)
  // The last run ended with the earlier list, and may be longer now.
  const before = runsWithin(last.runs.slice(0, -1), front)
  let behind = runsWithin(last.runs.toReversed(), back).reverse()
  const newest = items[items.length - itemsIn(behind) - 1]
  // New items before the next run belong to it, unless the last of them ends a run.
  if (newest !== undefined && !isEnd(newest)) behind = behind.slice(1)
  const end = items.length - itemsIn(behind)
  const byFirst = new Map(last.runs.map((run) => [run.items[0], run]))
  const between: R[] = []
  let from = itemsIn(before)
  for (let index = from; index < end; index++) {
    if (index < end - 1 && !isEnd(at(items, index))) continue
    const known = byFirst.get(items[from])
    const ofRun = items.slice(from, index + 1)
    between.push(known !== undefined && isSame(known.items, ofRun) ? known : join(ofRun))
    from = index + 1
  }
  return [...before, ...between, ...behind]
}

/** The number of items that two lists have in common at their front, and of the others at their back. */
function sameEnds<T>(items: readonly T[], before: readonly T[]): { readonly front: number; readonly back: number } {
  const shorter = Math.min(items.length, before.length)
  let front = 0
  while (front < shorter && items[front] === before[front]) front++
  let back = 0
  while (back < shorter - front && items[items.length - 1 - back] === before[before.length - 1 - back]) back++
  return { front, back }
}

function isSame<T>(items: readonly T[], others: readonly T[]): boolean {
  return items.length === others.length && items.every((item, index) => item === others[index])
}

/** The first runs with this number of items or fewer. */
function runsWithin<R extends Run<unknown>>(runs: readonly R[], itemsMax: number): R[] {
  let count = 0
  const behind = runs.findIndex(({ items }) => {
    count += items.length
    return count > itemsMax
  })
  return behind < 0 ? [...runs] : runs.slice(0, behind)
}

function itemsIn(runs: readonly Run<unknown>[]): number {
  return runs.reduce((sum, { items }) => sum + items.length, 0)
}

/** True if an item with this content ends a run: one of 32 does on average. */
export function isEndOfRun(content: Uint8Array | string): boolean {
  return (crc32(content) & 31) === 0
}
