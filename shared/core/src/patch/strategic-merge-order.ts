import { printLoosely } from '../apply/go-text.ts'
import { jsonEqual } from '../json/equal.ts'
import { isJsonObject, memberOf } from '../json/member.ts'
import { BadPatch, isDeletion, orderPrefix } from './strategic-merge-directives.ts'

/** A merged list, and the two orders that it has to respect. */
export interface Ordering {
  readonly items: readonly unknown[]
  /** As the patch wants it. */
  readonly order: readonly unknown[]
  /** As the live list has it. */
  readonly live: readonly unknown[]
  readonly mergeKey: string | undefined
}

/**
 * Items that the patch names come in its order. The others keep the live order among themselves, and one stays before
 * an item of the patch that it stood before in the live list.
 *
 *   live 1 2 9 3 4   order 2 1 4 3   →   2 1 9 4 3
 */
export function inOrder({ items, order, live, mergeKey }: Ordering): unknown[] {
  const place = (list: readonly unknown[], item: unknown) => list.findIndex((other) => isSameItem(other, item, mergeKey))
  const named = items.filter((item) => place(order, item) >= 0).sort((a, b) => place(order, a) - place(order, b))
  const others = items.filter((item) => place(order, item) < 0).sort((a, b) => place(live, a) - place(live, b))
  const result: unknown[] = []
  let next = 0
  for (const item of named) {
    const limit = place(live, item)
    while (next < others.length && limit >= 0 && place(live, others[next]) < limit) result.push(others[next++])
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

/** The patch's own items must come in the order that it asks for. */
export function requireOrder(items: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const kept = items.filter((item) => !isDeletion(item))
  let next = 0
  for (const wanted of order) if (next < kept.length && isSameItem(kept[next], wanted, mergeKey)) next++
  if (next === kept.length || order.length === 0) return
  throw new BadPatch(`The order in patch list:\n${printLoosely(items)}\n doesn't match ${orderPrefix} list:\n${printLoosely(order)}\n`)
}

/**
 * The live order once the patch has deleted items by key: new items take the places that became free at the end.
 *
 *   live 1 2 4   delete 1, add 3   →   2 4 3        live 1 2   add 3   →   1 2
 */
export function placesAfter(live: readonly unknown[], patch: readonly unknown[], mergeKey: string | undefined): readonly unknown[] {
  if (mergeKey === undefined) return live
  const isIn = (list: readonly unknown[], item: unknown) => list.some((other) => isSameItem(other, item, mergeKey))
  const deleted = patch.filter(isDeletion)
  if (deleted.length === 0) return live
  const left = live.filter((item) => !isIn(deleted, item))
  const fresh = patch.filter((item) => !isDeletion(item) && !isIn(left, item))
  return [...left, ...fresh].slice(0, live.length)
}

function isSameItem(left: unknown, right: unknown, mergeKey: string | undefined): boolean {
  if (mergeKey === undefined || !isJsonObject(left) || !isJsonObject(right)) return jsonEqual(left, right)
  return jsonEqual(memberOf(left, mergeKey), memberOf(right, mergeKey))
}
