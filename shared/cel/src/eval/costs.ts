import { NamedFormat } from '../libraries/named-formats.ts'
import { isList, isMap, listAt, listSize, mapGet, mapKeys, mapSize } from '../values/collections.ts'
import type { Meter } from '../values/meter.ts'
import { utf8Length } from '../values/text.ts'
import { isInt, Opaque, Optional, type Value } from '../values/values.ts'

/** The cost of a call besides its arguments, from the first two of them; `result` is present only for functions that `needsResult` names. */
export type CallCost = (meter: Meter, a: Value, b: Value, result: Value) => number

const perElement = 0.1
const perRegexCharacter = 0.25
const listCost = 10
const accessCheckCost = 350_000
const selectorUnit = 50

/** The size of a value as costs count it. */
function sizeOf(meter: Meter, value: Value): number {
  if (typeof value === 'string') return meter.codePointCount(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.length
  if (isList(value)) return listSize(value)
  if (value instanceof Opaque) return value.size
  if (value instanceof Optional) return value.hasValue ? sizeOf(meter, value.value) : 1
  return isMap(value) ? mapSize(meter, value) : 1
}

function traversal(meter: Meter, value: Value): number {
  return Math.ceil(sizeOf(meter, value) * perElement)
}

function isEmpty(meter: Meter, value: Value): boolean {
  return typeof value === 'object' && value !== null ? sizeOf(meter, value) === 0 : value === ''
}

/** Counting stops here; no cost limit allows more parts. */
const partsMax = 2_000_000

function allParts(meter: Meter, value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * perElement)
  if (value instanceof Uint8Array) return Math.floor(value.length * perElement)
  if (isList(value)) {
    let cost = 0
    const size = listSize(value)
    for (let index = 0; index < size && cost <= partsMax; index++) cost += allParts(meter, listAt(meter, value, index))
    return cost
  }
  if (!isMap(value)) return 1
  let cost = 0
  for (const key of mapKeys(meter, value)) {
    cost += allParts(meter, key) + allParts(meter, mapGet(meter, value, key))
    if (cost > partsMax) break
  }
  return cost
}

function regexCost(meter: Meter, text: Value, pattern: Value): number {
  return Math.ceil((1 + sizeOf(meter, text)) * perElement) * Math.ceil(sizeOf(meter, pattern) * perRegexCharacter)
}

const ofReceiver: CallCost = (meter, text) => traversal(meter, text)
const smaller: CallCost = (meter, a, b) => {
  if (typeof a === 'number' || typeof a === 'boolean') return isEmpty(meter, b) ? 0 : 1
  return Math.ceil(Math.min(sizeOf(meter, a), sizeOf(meter, b)) * perElement)
}

const selector: CallCost = (meter, _, text) => {
  const size = sizeOf(meter, text)
  return listCost + Math.ceil(size * perElement) + Math.ceil(Math.ceil(size * 0.5) * selectorUnit)
}
const parts: CallCost = (meter, value) => allParts(meter, value)

function allocating(factor: number, size: number): number {
  return Math.floor(factor * size) + 1 + listCost
}

const selfCompare =
  (index: 0 | 1): CallCost =>
  (meter, a, b) => {
    const list = index === 0 ? a : b
    const size = sizeOf(meter, list)
    const first = size === 0 || !isList(list) ? undefined : listAt(meter, list, 0)
    const isText = typeof first === 'string' || first instanceof Uint8Array
    return allocating(isText ? 2 + perElement : 2, size * size)
  }

/** Costs by function, for all overloads. */
const byFunction: Readonly<Record<string, CallCost>> = {
  check: () => accessCheckCost,
  fieldSelector: selector,
  labelSelector: selector,
  isSorted: parts,
  sum: parts,
  min: parts,
  max: parts,
  indexOf: parts,
  lastIndexOf: parts,
  includes: parts,
  url: ofReceiver,
  lowerAscii: ofReceiver,
  upperAscii: ofReceiver,
  substring: ofReceiver,
  trim: ofReceiver,
  'jsonpatch.escapeKey': ofReceiver,
  replace: (meter, text) => Math.ceil(sizeOf(meter, text) * 2 * perElement),
  split: (meter, text) => Math.ceil(sizeOf(meter, text) * 2 * perElement),
  join: (meter, _, __, result) => Math.ceil(sizeOf(meter, result) * 2 * perElement),
  find: (meter, text, pattern) => regexCost(meter, text, pattern),
  findAll: (meter, text, pattern) => regexCost(meter, text, pattern),
  cidr: ofReceiver,
  isIP: ofReceiver,
  isCIDR: ofReceiver,
  quantity: ofReceiver,
  isQuantity: ofReceiver,
  semver: ofReceiver,
  isSemver: ofReceiver,
  ip: (meter, value) => (typeof value === 'string' ? traversal(meter, value) : 1),
  'ip.isCanonical': (meter, text) => Math.ceil(sizeOf(meter, text) * 2 * perElement),
  containsIP: (meter, cidr, other) => {
    const size = sizeOf(meter, cidr)
    return Math.ceil((size + size) * perElement) + (typeof other === 'string' ? traversal(meter, other) : 0)
  },
  containsCIDR: (meter, cidr, other) => {
    const size = sizeOf(meter, cidr)
    const compared = Math.ceil((size + size) * perElement) + Math.ceil(size * perElement) + 1
    return compared + (typeof other === 'string' ? traversal(meter, other) : 0)
  },
  validate: (meter, format, text) =>
    format instanceof NamedFormat ? Math.ceil((1 + sizeOf(meter, text)) * perElement) * Math.ceil(format.regexSize * perRegexCharacter) : 1,
  '_==_': (meter, a, b, result) => (a instanceof Opaque ? 1 : smaller(meter, a, b, result)),
  '_!=_': smaller,
  'sets.contains': (meter, a, b) => sizeOf(meter, a) * sizeOf(meter, b) + 1,
  'sets.intersects': (meter, a, b) => sizeOf(meter, a) * sizeOf(meter, b) + 1,
  'sets.equivalent': (meter, a, b) => 2 * sizeOf(meter, a) * sizeOf(meter, b) + 1,
  slice: (meter, _, __, result) => allocating(1, sizeOf(meter, result)),
  flatten: (meter, list, depth) => allocating(isInt(depth) ? Number(depth) : 1, sizeOf(meter, list)),
  'lists.range': (_meter, size) => allocating(1, isInt(size) && size >= 0 ? Number(size) : 1),
  reverse: (meter, value) => (isList(value) ? allocating(1, sizeOf(meter, value)) : 1),
  distinct: selfCompare(0),
  sort: selfCompare(0),
  '@sortByAssociatedKeys': selfCompare(1),
  'strings.quote': ofReceiver,
  format: ofReceiver,
}

const product: CallCost = (meter, text, part) => traversal(meter, text) * traversal(meter, part)
const joined: CallCost = (meter, a, b) => Math.ceil((sizeOf(meter, a) + sizeOf(meter, b)) * perElement)
const ofArgument: CallCost = (meter, _, part) => traversal(meter, part)

/** Costs by overload. A call whose overload is chosen at evaluation costs 1 instead. */
const byOverload: Readonly<Record<string, CallCost>> = {
  starts_with_string: ofArgument,
  ends_with_string: ofArgument,
  string_to_bytes: ofReceiver,
  bytes_to_string: ofReceiver,
  in_list: (meter, _, list) => sizeOf(meter, list),
  less_string: smaller,
  less_equals_string: smaller,
  greater_string: smaller,
  greater_equals_string: smaller,
  less_bytes: smaller,
  less_equals_bytes: smaller,
  greater_bytes: smaller,
  greater_equals_bytes: smaller,
  add_string: joined,
  add_bytes: joined,
  matches: (meter, text, pattern) => regexCost(meter, text, pattern),
  matches_string: (meter, text, pattern) => regexCost(meter, text, pattern),
  contains_string: product,
}

const needing: ReadonlySet<string> = new Set(['join', 'slice'])

/** The cost of a call beside its arguments; undefined where it is 1. */
export function costOf(name: string, overload: string): CallCost | undefined {
  if (Object.hasOwn(byFunction, name)) return byFunction[name]
  return Object.hasOwn(byOverload, overload) ? byOverload[overload] : undefined
}

/** True if the cost depends on the result of the call. */
export function needsResult(name: string): boolean {
  return needing.has(name)
}
