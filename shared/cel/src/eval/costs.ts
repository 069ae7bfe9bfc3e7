import { NamedFormat } from '../libraries/named-formats.ts'
import { isList, isMap, listAt, listSize, mapGet, mapKeys, mapSize } from '../values/collections.ts'
import { codePointCount, utf8Length } from '../values/text.ts'
import { isInt, Opaque, Optional, type Value } from '../values/values.ts'

/** The cost of a call besides its arguments, from the first two of them; `result` is present only for functions that `needsResult` names. */
export type CallCost = (a: Value, b: Value, result: Value) => number

const perElement = 0.1
const perRegexCharacter = 0.25
const listCost = 10
const accessCheckCost = 350_000
const selectorUnit = 50

/** The size of a value as costs count it. */
function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePointCount(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.length
  if (isList(value)) return listSize(value)
  if (value instanceof Opaque) return value.size
  if (value instanceof Optional) return value.hasValue ? sizeOf(value.value) : 1
  return isMap(value) ? mapSize(value) : 1
}

function traversal(value: Value): number {
  return Math.ceil(sizeOf(value) * perElement)
}

function isEmpty(value: Value): boolean {
  return typeof value === 'object' && value !== null ? sizeOf(value) === 0 : value === ''
}

/** More parts than any limit of a call allows are not counted to their end. */
const partsMax = 2_000_000

/** The parts of a value, each once. */
function allParts(value: Value): number {
  if (typeof value === 'string') return Math.floor(utf8Length(value) * perElement)
  if (value instanceof Uint8Array) return Math.floor(value.length * perElement)
  if (isList(value)) {
    let cost = 0
    const size = listSize(value)
    for (let index = 0; index < size && cost <= partsMax; index++) cost += allParts(listAt(value, index))
    return cost
  }
  if (!isMap(value)) return 1
  let cost = 0
  for (const key of mapKeys(value)) {
    cost += allParts(key) + allParts(mapGet(value, key))
    if (cost > partsMax) break
  }
  return cost
}

function regexCost(text: Value, pattern: Value): number {
  return Math.ceil((1 + sizeOf(text)) * perElement) * Math.ceil(sizeOf(pattern) * perRegexCharacter)
}

const ofReceiver: CallCost = (text) => traversal(text)
const smaller: CallCost = (a, b) => {
  if (typeof a === 'number' || typeof a === 'boolean') return isEmpty(b) ? 0 : 1
  return Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * perElement)
}

const selector: CallCost = (_, text) => {
  const size = sizeOf(text)
  return listCost + Math.ceil(size * perElement) + Math.ceil(Math.ceil(size * 0.5) * selectorUnit)
}
const parts: CallCost = (value) => allParts(value)

function allocating(factor: number, size: number): number {
  return Math.floor(factor * size) + 1 + listCost
}

const selfCompare =
  (index: 0 | 1): CallCost =>
  (a, b) => {
    const list = index === 0 ? a : b
    const size = sizeOf(list)
    const first = size === 0 || !isList(list) ? undefined : listAt(list, 0)
    const isText = typeof first === 'string' || first instanceof Uint8Array
    return allocating(isText ? 2 + perElement : 2, size * size)
  }

/** Costs by function, whichever overload was chosen. */
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
  replace: (text) => Math.ceil(sizeOf(text) * 2 * perElement),
  split: (text) => Math.ceil(sizeOf(text) * 2 * perElement),
  join: (_, __, result) => Math.ceil(sizeOf(result) * 2 * perElement),
  find: (text, pattern) => regexCost(text, pattern),
  findAll: (text, pattern) => regexCost(text, pattern),
  cidr: ofReceiver,
  isIP: ofReceiver,
  isCIDR: ofReceiver,
  quantity: ofReceiver,
  isQuantity: ofReceiver,
  semver: ofReceiver,
  isSemver: ofReceiver,
  ip: (value) => (typeof value === 'string' ? traversal(value) : 1),
  'ip.isCanonical': (text) => Math.ceil(sizeOf(text) * 2 * perElement),
  containsIP: (cidr, other) => {
    const size = sizeOf(cidr)
    return Math.ceil((size + size) * perElement) + (typeof other === 'string' ? traversal(other) : 0)
  },
  containsCIDR: (cidr, other) => {
    const size = sizeOf(cidr)
    const compared = Math.ceil((size + size) * perElement) + Math.ceil(size * perElement) + 1
    return compared + (typeof other === 'string' ? traversal(other) : 0)
  },
  validate: (format, text) =>
    format instanceof NamedFormat ? Math.ceil((1 + sizeOf(text)) * perElement) * Math.ceil(format.regexSize * perRegexCharacter) : 1,
  '_==_': (a, b, result) => (a instanceof Opaque ? 1 : smaller(a, b, result)),
  '_!=_': smaller,
  'sets.contains': (a, b) => sizeOf(a) * sizeOf(b) + 1,
  'sets.intersects': (a, b) => sizeOf(a) * sizeOf(b) + 1,
  'sets.equivalent': (a, b) => 2 * sizeOf(a) * sizeOf(b) + 1,
  slice: (_, __, result) => allocating(1, sizeOf(result)),
  flatten: (list, depth) => allocating(isInt(depth) ? Number(depth) : 1, sizeOf(list)),
  'lists.range': (size) => allocating(1, isInt(size) && size >= 0 ? Number(size) : 1),
  reverse: (value) => (isList(value) ? allocating(1, sizeOf(value)) : 1),
  distinct: selfCompare(0),
  sort: selfCompare(0),
  '@sortByAssociatedKeys': selfCompare(1),
  'strings.quote': ofReceiver,
  format: ofReceiver,
}

const product: CallCost = (text, part) => traversal(text) * traversal(part)
const joined: CallCost = (a, b) => Math.ceil((sizeOf(a) + sizeOf(b)) * perElement)
const ofArgument: CallCost = (_, part) => traversal(part)

/** Costs of overloads; a call whose overload is chosen at evaluation alone costs 1 instead. */
const byOverload: Readonly<Record<string, CallCost>> = {
  starts_with_string: ofArgument,
  ends_with_string: ofArgument,
  string_to_bytes: ofReceiver,
  bytes_to_string: ofReceiver,
  in_list: (_, list) => sizeOf(list),
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
  matches: (text, pattern) => regexCost(text, pattern),
  matches_string: (text, pattern) => regexCost(text, pattern),
  contains_string: product,
}

const needing: ReadonlySet<string> = new Set(['join', 'slice'])

/** The cost of a call beside its arguments; undefined where it is 1. */
export function costOf(name: string, overload: string): CallCost | undefined {
  if (Object.hasOwn(byFunction, name)) return byFunction[name]
  return Object.hasOwn(byOverload, overload) ? byOverload[overload] : undefined
}

/** True if the cost is known after the call alone. */
export function needsResult(name: string): boolean {
  return needing.has(name)
}
