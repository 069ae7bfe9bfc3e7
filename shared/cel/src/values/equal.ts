import { isList, isMap, listAt, listSize, mapGet, mapKeys, mapSize } from './collections.ts'
import { compareBytes, compareTexts } from './text.ts'
import {
  CelError,
  Duration,
  ListView,
  MapView,
  noSuchOverload,
  numberOf,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  typeNameOf,
  type Value,
} from './values.ts'
import { addWork, remembered, rememberedSizeMin } from './work.ts'

/** Work is counted so many items at a time. */
const itemsPerCount = 64
/** The work of finding an entry of a map, in steps: large objects are hash tables beyond the processor's caches. */
const entrySteps = 6
const entryStepsOfLarge = 32
const largeSize = 1_000

/** Deeper nesting than any literal or stored object has. */
const depthMax = 1000

/** Compares two values like `==`; numbers compare by value over their kinds. An error if they cannot be compared. */
export function equal(left: Value, right: Value): boolean | CelError {
  if (typeof left === 'string' || typeof left === 'boolean') return left === right
  if (typeof left === 'number' && typeof right === 'number') return left === right
  return equalAt(left, right, 0)
}

function equalAt(left: Value, right: Value, depth: number): boolean | CelError {
  if (typeof left === 'number' && typeof right === 'number') return left === right
  if (depth > depthMax) return new CelError('values are nested too deeply to be compared')
  const a = numberOf(left)
  if (a !== undefined) {
    const b = numberOf(right)
    return b !== undefined && compareNumbers(a, b) === 0
  }
  switch (typeof left) {
    case 'string':
    case 'boolean':
      return left === right
    case 'object':
      return left === null ? right === null : equalObjects(left, right, depth)
    default:
      return left === right
  }
}

function equalObjects(left: object, right: Value, depth: number): boolean | CelError {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (isList(left)) return isList(right) && equalLists(left, right, depth)
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0
  if (left instanceof Duration) return right instanceof Duration && left.ns === right.ns
  if (left instanceof Timestamp) return right instanceof Timestamp && left.ns === right.ns
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name
  if (left instanceof Opaque) return right instanceof Opaque && left.typeName === right.typeName && left.equals(right)
  if (left instanceof Optional) {
    if (!(right instanceof Optional) || left.hasValue !== right.hasValue) return false
    return left.hasValue ? equalAt(left.value, right.value, depth + 1) : true
  }
  return isMap(left) && isMap(right) && equalMaps(left, right, depth)
}

function equalLists(left: object, right: object, depth: number): boolean | CelError {
  const size = listSize(left)
  if (size <= rememberedSizeMin) return compareLists(left, right, size, depth)
  return remembered(left, right, () => compareLists(left, right, size, depth))
}

function compareLists(left: object, right: object, size: number, depth: number): boolean | CelError {
  const byRule =
    (left instanceof ListView ? left.isEqual(right) : undefined) ?? (right instanceof ListView ? right.isEqual(left) : undefined)
  if (byRule !== undefined) return byRule instanceof CelError ? byRule : byRule === true
  if (size !== listSize(right)) return false
  for (let index = 0; index < size; index++) {
    if (index % itemsPerCount === 0) addWork(Math.min(itemsPerCount, size - index))
    const same = equalAt(listAt(left, index), listAt(right, index), depth + 1)
    if (same !== true) return same
  }
  return true
}

function equalMaps(left: object, right: object, depth: number): boolean | CelError {
  const size = mapSize(left)
  if (size <= rememberedSizeMin) return compareMaps(left, right, size, depth)
  return remembered(left, right, () => compareMaps(left, right, size, depth))
}

function compareMaps(left: object, right: object, size: number, depth: number): boolean | CelError {
  const byRule = (left instanceof MapView ? left.isEqual(right) : undefined) ?? (right instanceof MapView ? right.isEqual(left) : undefined)
  if (byRule !== undefined) return byRule instanceof CelError ? byRule : byRule === true
  if (size !== mapSize(right)) return false
  const steps = size > largeSize ? entryStepsOfLarge : entrySteps
  if (!(left instanceof MapView) && !(right instanceof MapView)) return equalJson(left, right, steps, depth)
  for (const key of mapKeys(left)) {
    addWork(steps)
    const other = mapGet(right, key)
    if (other === undefined) return false
    const same = equalAt(mapGet(left, key), other, depth + 1)
    if (same !== true) return same
  }
  return true
}

/** Two plain objects with as many properties. */
function equalJson(left: object, right: object, steps: number, depth: number): boolean | CelError {
  // Values from JSON hold no NaN, the only value that is not equal to itself.
  if (left === right) return true
  const a = left as Readonly<Record<string, unknown>>
  const b = right as Readonly<Record<string, unknown>>
  for (const key in a) {
    if (!Object.hasOwn(b, key)) return false
    addWork(steps)
    const same = equalAt(a[key], b[key], depth + 1)
    if (same !== true) return same
  }
  return true
}

/** Negative, zero or positive; undefined where NaN takes part; an error where the two have no order. */
export function compare(left: Value, right: Value): number | undefined | CelError {
  const a = numberOf(left)
  if (a !== undefined) {
    const b = numberOf(right)
    return b === undefined ? noSuchOverload() : compareNumbers(a, b)
  }
  if (typeof left === 'string') return typeof right === 'string' ? compareTexts(left, right) : noSuchOverload()
  if (typeof left === 'boolean') return typeof right === 'boolean' ? Number(left) - Number(right) : noSuchOverload()
  if (left instanceof Uint8Array) return right instanceof Uint8Array ? compareBytes(left, right) : noSuchOverload()
  if (left instanceof Duration && right instanceof Duration) return order(left.ns, right.ns)
  if (left instanceof Timestamp && right instanceof Timestamp) return order(left.ns, right.ns)
  return noSuchOverload()
}

/** An int beside a double is compared as a double, though that may round it. */
function compareNumbers(a: number | bigint, b: number | bigint): number | undefined {
  if (typeof a !== typeof b) return compareNumbers(Number(a), Number(b))
  if (a < b) return -1
  if (a > b) return 1
  return a === b ? 0 : undefined
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** True if both values have one type, so that the lists of both are sorted the same way. */
export function haveSameType(left: Value, right: Value): boolean {
  return typeNameOf(left) === typeNameOf(right)
}
