import { type Implementation, type Implementations, metered, of, onList } from '../implementation.ts'
import { add } from '../values/arithmetic.ts'
import { isList, itemsOf, type ListValue, listAt, listSize } from '../values/collections.ts'
import { compare, equal, haveSameType } from '../values/equal.ts'
import type { Meter } from '../values/meter.ts'
import { CelError, Duration, isInt, kindOf, none, noSuchOverload, some, type Value } from '../values/values.ts'
import { indexOfText, lastIndexOfText } from './strings.ts'

function isSorted(meter: Meter, list: ListValue): Value {
  const size = listSize(list)
  for (let index = 1; index < size; index++) {
    const order = compare(listAt(meter, list, index - 1), listAt(meter, list, index))
    if (order instanceof CelError) return order
    if (order !== undefined && order > 0) return false
  }
  return true
}

function sum(meter: Meter, list: ListValue): Value {
  const items = itemsOf(meter, list)
  let total: Value = items.length === 0 ? 0 : items[0]
  for (let index = 1; index < items.length; index++) {
    total = add(meter, total, items[index])
    if (total instanceof CelError) return total
  }
  return total instanceof Duration || kindOf(total) !== 'string' ? total : noSuchOverload()
}

/** `list.min()` with a sign of 1, `list.max()` with -1. */
function extreme(meter: Meter, list: ListValue, sign: 1 | -1): Value {
  const items = itemsOf(meter, list)
  if (items.length === 0) return new CelError(`${sign === 1 ? 'min' : 'max'} called on empty list`)
  let found = items[0]
  for (let index = 1; index < items.length; index++) {
    const order = compare(items[index], found)
    if (order instanceof CelError) return order
    if (order !== undefined && order * sign < 0) found = items[index]
  }
  return found
}

/** `list.indexOf(item)` and `text.indexOf(part, from?)`. */
function indexOf(meter: Meter, target: Value, sought: Value, from?: Value): Value {
  if (typeof target === 'string') return typeof sought === 'string' ? indexOfText(meter, target, sought, from) : noSuchOverload()
  if (!isList(target) || from !== undefined) return noSuchOverload()
  const size = listSize(target)
  for (let index = 0; index < size; index++) if (equal(meter, listAt(meter, target, index), sought) === true) return index
  return -1
}

/** `list.lastIndexOf(item)` and `text.lastIndexOf(part, from?)`. */
function lastIndexOf(meter: Meter, target: Value, sought: Value, from?: Value): Value {
  if (typeof target === 'string') return typeof sought === 'string' ? lastIndexOfText(meter, target, sought, from) : noSuchOverload()
  if (!isList(target) || from !== undefined) return noSuchOverload()
  for (let index = listSize(target) - 1; index >= 0; index--) if (equal(meter, listAt(meter, target, index), sought) === true) return index
  return -1
}

function slice(meter: Meter, list: ListValue, start: Value, end: Value): Value {
  if (!isInt(start) || !isInt(end)) return noSuchOverload()
  if (start < 0 || end < 0) return new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end) return new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  const size = listSize(list)
  if (end > size) return new CelError(`cannot slice(${start}, ${end}), list is length ${size}`)
  return itemsOf(meter, list).slice(Number(start), Number(end))
}

function flatten(meter: Meter, list: ListValue, depth: Value = 1): Value {
  if (!isInt(depth)) return noSuchOverload()
  if (depth < 0) return new CelError('level must be non-negative')
  let flat = itemsOf(meter, list)
  for (let level = 0; level < depth; level++) {
    if (!flat.some(isList)) break
    for (const item of flat) meter.addWork(isList(item) ? listSize(item) : 1)
    flat = flat.flatMap((item) => (isList(item) ? itemsOf(meter, item) : [item]))
  }
  return flat
}

/** A list in the order of another list of the same size. */
function sortByKeys(meter: Meter, list: ListValue, keyList: Value): Value {
  if (!isList(keyList)) return noSuchOverload()
  const items = itemsOf(meter, list)
  const keys = itemsOf(meter, keyList)
  if (items.length !== keys.length) {
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${items.length} and ${keys.length} elements respectively`,
    )
  }
  const [first] = keys
  if (items.length === 0) return list
  if (compare(first, first) instanceof CelError) return new CelError('list elements must be comparable')
  if (!keys.every((key) => haveSameType(key, first))) return new CelError('list elements must have the same type')
  const order = keys.map((_, index) => index)
  order.sort((a, b) => {
    const found = compare(keys[a], keys[b])
    return typeof found === 'number' ? found : 0
  })
  return order.map((index) => items[index])
}

/** `list.distinct()`: the first of each group of equal items. */
function distinct(meter: Meter, list: ListValue): Value {
  const found: Value[] = []
  const texts = new Set<Value>()
  for (const item of itemsOf(meter, list)) {
    if (typeof item === 'string') {
      if (!texts.has(item)) found.push(item)
      texts.add(item)
    } else if (!found.some((other) => equal(meter, item, other) === true)) found.push(item)
  }
  return found
}

const rangeMax = 10_000_000

function range(size: Value): Value {
  if (!isInt(size)) return noSuchOverload()
  if (size < 0) return new CelError(`lists.range: size must be non-negative, got ${size}`)
  if (size > rangeMax) return new CelError(`lists.range: size ${size} exceeds maximum allowed (${rangeMax})`)
  return Array.from({ length: Number(size) }, (_, index) => index)
}

/** True if an item is in a list. */
export function isIn(meter: Meter, item: Value, list: Value): Value {
  const size = listSize(list)
  for (let index = 0; index < size; index++) {
    const same = equal(meter, listAt(meter, list, index), item)
    if (same === true) return true
  }
  return false
}

/** True if the list contains each item of the sublist. */
function contains(meter: Meter, list: ListValue, sublist: ListValue): boolean {
  return itemsOf(meter, sublist).every((item) => isIn(meter, item, list) === true)
}

function onLists(decide: (meter: Meter, a: ListValue, b: ListValue) => boolean): Implementation {
  return onList(2, (meter, a, b) => (isList(b) ? decide(meter, a, b) : noSuchOverload()))
}

/** The functions of lists, and those of lists and texts. */
export const listFunctions: Implementations = {
  indexOf: metered([2, 3], indexOf),
  lastIndexOf: metered([2, 3], lastIndexOf),
  isSorted: onList(1, isSorted),
  sum: onList(1, sum),
  min: onList(1, (meter, list) => extreme(meter, list, 1)),
  max: onList(1, (meter, list) => extreme(meter, list, -1)),
  // A value that is not a list includes only itself.
  includes: metered(2, (meter, target, sought) => (isList(target) ? isIn(meter, sought, target) : equal(meter, target, sought))),
  slice: onList(3, slice),
  flatten: onList([1, 2], flatten),
  sort: onList(1, (meter, list) => sortByKeys(meter, list, list)),
  '@sortByAssociatedKeys': onList(2, sortByKeys),
  distinct: onList(1, distinct),
  'lists.range': of(1, range),
  first: onList(1, (meter, list) => (listSize(list) === 0 ? none : some(listAt(meter, list, 0)))),
  last: onList(1, (meter, list) => (listSize(list) === 0 ? none : some(listAt(meter, list, listSize(list) - 1)))),
  'sets.contains': onLists(contains),
  'sets.intersects': onLists((meter, a, b) => itemsOf(meter, a).some((item) => isIn(meter, item, b) === true)),
  'sets.equivalent': onLists((meter, a, b) => contains(meter, a, b) && contains(meter, b, a)),
}
