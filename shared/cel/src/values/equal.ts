import { isList, isMap, listAt, listSize, mapGet, mapKeys, mapSize } from './collections.ts'
import type { Meter, Source } from './meter.ts'
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

/** Results of comparing values with more items than this are cached. */
const rememberedSizeMin = 64
/** Work is counted in batches of this many items. */
const itemsPerCount = 64
/** The work of finding an entry of a map, in steps: large objects are hash tables beyond the processor's caches. */
const entrySteps = 6
const entryStepsOfLarge = 32
const largeSize = 1_000

/** Maximum nesting of compared values, above that of any literal or stored object. */
const depthMax = 1000

/** Compares two values like `==`; numbers compare by value over their kinds. An error if they cannot be compared. */
export function equal(meter: Meter, left: Value, right: Value): boolean | CelError {
  if (typeof left === 'string' || typeof left === 'boolean') return left === right
  if (typeof left === 'number' && typeof right === 'number') return left === right
  return equalAt(meter, left, right, 0)
}

function equalAt(meter: Meter, left: Value, right: Value, depth: number): boolean | CelError {
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
      return left === null ? right === null : equalObjects(meter, left, right, depth)
    default:
      return left === right
  }
}

function equalObjects(meter: Meter, left: object, right: Value, depth: number): boolean | CelError {
  if (left instanceof CelError) return left
  if (right instanceof CelError) return right
  if (isList(left)) return isList(right) && equalLists(meter, left, right, depth)
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareBytes(left, right) === 0
  if (left instanceof Duration) return right instanceof Duration && left.ns === right.ns
  if (left instanceof Timestamp) return right instanceof Timestamp && left.ns === right.ns
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name
  if (left instanceof Opaque) return right instanceof Opaque && left.typeName === right.typeName && left.equals(right)
  if (left instanceof Optional) {
    if (!(right instanceof Optional) || left.hasValue !== right.hasValue) return false
    return left.hasValue ? equalAt(meter, left.value, right.value, depth + 1) : true
  }
  return isMap(left) && isMap(right) && equalMaps(meter, left, right, depth)
}

function equalLists(meter: Meter, left: object, right: object, depth: number): boolean | CelError {
  if (listSize(left) <= rememberedSizeMin) return compareLists(meter, left, right, depth)
  return remembered(meter, left, right, () => compareLists(meter, left, right, depth))
}

function compareLists(meter: Meter, left: object, right: object, depth: number): boolean | CelError {
  const byRule =
    (left instanceof ListView ? left.isEqual(meter, right) : undefined) ??
    (right instanceof ListView ? right.isEqual(meter, left) : undefined)
  if (byRule !== undefined) return byRule instanceof CelError ? byRule : byRule === true
  const size = listSize(left)
  if (size !== listSize(right)) return false
  for (let index = 0; index < size; index++) {
    if (index % itemsPerCount === 0) meter.addWork(Math.min(itemsPerCount, size - index))
    const same = equalAt(meter, listAt(meter, left, index), listAt(meter, right, index), depth + 1)
    if (same !== true) return same
  }
  return true
}

function equalMaps(meter: Meter, left: object, right: object, depth: number): boolean | CelError {
  if (mapSize(meter, left) <= rememberedSizeMin) return compareMaps(meter, left, right, depth)
  return remembered(meter, left, right, () => compareMaps(meter, left, right, depth))
}

function compareMaps(meter: Meter, left: object, right: object, depth: number): boolean | CelError {
  const byRule =
    (left instanceof MapView ? left.isEqual(meter, right) : undefined) ??
    (right instanceof MapView ? right.isEqual(meter, left) : undefined)
  if (byRule !== undefined) return byRule instanceof CelError ? byRule : byRule === true
  if (mapSize(meter, left) !== mapSize(meter, right)) return false
  if (!(left instanceof MapView) && !(right instanceof MapView)) return equalJson(meter, left, right, depth)
  const steps = stepsPerEntry(meter, right)
  for (const key of mapKeys(meter, left)) {
    meter.addWork(steps)
    const other = mapGet(meter, right, key)
    if (other === undefined) return false
    const same = equalAt(meter, mapGet(meter, left, key), other, depth + 1)
    if (same !== true) return same
  }
  return true
}

function remembered(meter: Meter, left: object, right: object, compare: () => boolean | CelError): boolean | CelError {
  const [ours, theirs] = [sourceOf(left), sourceOf(right)]
  return ours === undefined || theirs === undefined ? compare() : meter.remembered(ours, theirs, compare)
}

const asItIs = {}

function sourceOf(value: object): Source | undefined {
  return value instanceof ListView || value instanceof MapView ? value.source : { json: value, rule: asItIs }
}

function stepsPerEntry(meter: Meter, map: object): number {
  return mapSize(meter, map) > largeSize ? entryStepsOfLarge : entrySteps
}

/** Compares two plain objects with the same number of properties. */
function equalJson(meter: Meter, left: object, right: object, depth: number): boolean | CelError {
  // Values from JSON hold no NaN, the only value that is not equal to itself.
  if (left === right) return true
  const a = left as Readonly<Record<string, unknown>>
  const b = right as Readonly<Record<string, unknown>>
  const steps = stepsPerEntry(meter, right)
  for (const key in a) {
    if (!Object.hasOwn(b, key)) return false
    meter.addWork(steps)
    const same = equalAt(meter, a[key], b[key], depth + 1)
    if (same !== true) return same
  }
  return true
}

/** Negative, zero or positive; undefined if one side is NaN; an error if the values cannot be ordered. */
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

/** An int and a double are compared as doubles, although that may round the int. */
function compareNumbers(a: number | bigint, b: number | bigint): number | undefined {
  if (typeof a !== typeof b) return compareNumbers(Number(a), Number(b))
  if (a < b) return -1
  if (a > b) return 1
  return a === b ? 0 : undefined
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** True if both values have the same type, so that lists of either type are sorted the same way. */
export function haveSameType(left: Value, right: Value): boolean {
  return typeNameOf(left) === typeNameOf(right)
}
