import { printLoosely } from '../apply/go-text.ts'
import { isJsonObject, memberOf } from '../json/member.ts'
import { printJson } from '../json/print.ts'
import { BadPatch, isDeletion, orderPrefix } from './strategic-merge-directives.ts'

/** A merged list, and the two orders that it must follow. */
export interface Ordering {
  readonly items: readonly unknown[]
  /** The order in the patch. */
  readonly order: readonly unknown[]
  /** The order in the live list. */
  readonly live: readonly unknown[]
  readonly mergeKey: string | undefined
}

/**
 * Items that the patch names have its order. Other items keep their live order, and such an item stays before
 * an item of the patch that followed it in the live list.
 *
 *   live 1 2 9 3 4   order 2 1 4 3   →   2 1 9 4 3
 */
export function inOrder({ items, order, live, mergeKey }: Ordering): unknown[] {
  const wanted = firstPlaces(order, mergeKey)
  const present = firstPlaces(live, mergeKey)
  const placed = items.map((item) => {
    const identity = identityOf(item, mergeKey)
    return { item, wanted: wanted.get(identity), live: present.get(identity) ?? -1 }
  })
  const named = placed.filter((place) => place.wanted !== undefined).sort((a, b) => (a.wanted as number) - (b.wanted as number))
  const others = placed.filter((place) => place.wanted === undefined).sort((a, b) => a.live - b.live)
  const result: unknown[] = []
  let next = 0
  for (const place of named) {
    for (let other = others[next]; other !== undefined && other.live < place.live; other = others[next]) {
      result.push(other.item)
      next++
    }
    result.push(place.item)
  }
  return [...result, ...others.slice(next).map(({ item }) => item)]
}

/** The first index of each item. */
export function firstPlaces(list: readonly unknown[], mergeKey: string | undefined): Map<string, number> {
  const places = new Map<string, number>()
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, mergeKey)
    if (!places.has(identity)) places.set(identity, index)
  }
  return places
}

/** Checks that the patch's own items have the order that it asks for. */
export function requireOrder(items: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const kept = items.filter((item) => !isDeletion(item))
  let next = 0
  for (const wanted of order) if (next < kept.length && identityOf(kept[next], mergeKey) === identityOf(wanted, mergeKey)) next++
  if (next === kept.length || order.length === 0) return
  throw new BadPatch(`The order in patch list:\n${printLoosely(items)}\n doesn't match ${orderPrefix} list:\n${printLoosely(order)}\n`)
}

/**
 * The live order after the patch has deleted items by key: new items take the free positions at the end.
 *
 *   live 1 2 4   delete 1, add 3   →   2 4 3        live 1 2   add 3   →   1 2
 */
export function placesAfter(live: readonly unknown[], patch: readonly unknown[], mergeKey: string | undefined): readonly unknown[] {
  if (mergeKey === undefined) return live
  const deleted = patch.filter(isDeletion)
  if (deleted.length === 0) return live
  const left = withoutItems(live, deleted, mergeKey)
  const known = new Set(left.map((item) => identityOf(item, mergeKey)))
  const fresh = patch.filter((item) => !isDeletion(item) && !known.has(identityOf(item, mergeKey)))
  return [...left, ...fresh].slice(0, live.length)
}

/** The list without items of the other list. */
export function withoutItems<Item>(list: readonly Item[], others: readonly unknown[], mergeKey?: string): Item[] {
  const gone = new Set(others.map((item) => identityOf(item, mergeKey)))
  return list.filter((item) => !gone.has(identityOf(item, mergeKey)))
}

/** The identity of an item in a merge: its key, or its whole value. */
export function identityOf(item: unknown, mergeKey: string | undefined): string {
  const value = mergeKey !== undefined && isJsonObject(item) ? memberOf(item, mergeKey) : item
  return typeof value === 'object' ? printJson(value, { hasBigIntegers: true }) : `${typeof value} ${value}`
}
