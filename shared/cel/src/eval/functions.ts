import { check, decisionPart, groupCheck, pathCheck, resourceCheck, serviceAccountCheck, withPart } from '../libraries/authorizer.ts'
import { type FormatStyle, formatText } from '../libraries/format-text.ts'
import {
  containsCidr,
  containsIp,
  family,
  isCanonical,
  isCidr,
  isGlobalUnicast,
  isIp,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isUnspecified,
  masked,
  prefixLength,
  toCidr,
  toIp,
} from '../libraries/ip.ts'
import {
  distinct,
  extreme,
  flatten,
  includes,
  indexOf,
  isIn,
  isSorted,
  lastIndexOf,
  range,
  setContains,
  setEquivalent,
  setIntersects,
  slice,
  sort,
  sortByKeys,
  sum,
} from '../libraries/lists.ts'
import { formatNames, formatOf, namedFormat, validate } from '../libraries/named-formats.ts'
import {
  addQuantity,
  asApproximateFloat,
  asInteger,
  compareTo,
  isInteger,
  isQuantity,
  parseQuantity,
  Quantity,
  signOf,
} from '../libraries/quantity.ts'
import { compareVersions, isSemver, parseSemver, Semver, versionNumber } from '../libraries/semver.ts'
import {
  charAt,
  escapeKey,
  join,
  lowerAscii,
  quote,
  replace,
  reverseText,
  split,
  substring,
  trim,
  upperAscii,
} from '../libraries/strings.ts'
import { isUrl, parseUrl, Url } from '../libraries/urls.ts'
import { add, divide, modulo, multiply, negate, subtract } from '../values/arithmetic.ts'
import { CelMap, isList, isMap, itemsOf, listAt, listSize, mapGet, mapKeys } from '../values/collections.ts'
import {
  convertToBool,
  convertToBytes,
  convertToDouble,
  convertToDuration,
  convertToInt,
  convertToString,
  convertToTimestamp,
  convertToType,
  convertToUint,
} from '../values/convert.ts'
import { compare, equal } from '../values/equal.ts'
import type { Meter } from '../values/meter.ts'
import { type Regex, regexOf } from '../values/regex.ts'
import { inZone } from '../values/time.ts'
import { CelError, Duration, isInt, none, noSuchOverload, Optional, some, Timestamp, TypeValue, type Value } from '../values/values.ts'
import { isZero, size } from './measure.ts'

/** A function of the language: its receiver, if any, is the first argument. It returns an error value for undeclared arguments. */
export type Run = (meter: Meter, ...args: Value[]) => Value

/** Like `Run`, for a function whose cost covers all its work. */
type Pure = (...args: Value[]) => Value

function ordering(decide: (order: number) => boolean): Pure {
  return (a, b) => {
    if (typeof a === 'number' && typeof b === 'number' && !Number.isNaN(a - b)) return decide(a - b)
    const order = compare(a, b)
    if (order === undefined) return false
    return order instanceof CelError ? order : decide(order)
  }
}

function contained(meter: Meter, item: Value, container: Value): Value {
  if (isList(container)) return isIn(meter, item, container)
  return isMap(container) ? mapGet(meter, container, item) !== undefined : noSuchOverload()
}

function onTexts(decide: (text: string, part: string) => boolean): Pure {
  return (text, part) => (typeof text === 'string' && typeof part === 'string' ? decide(text, part) : noSuchOverload())
}

type RegexUse = (regex: Regex, text: string, limit: Value) => Value

const regexUses: Readonly<Record<string, RegexUse>> = {
  matches: (regex, text) => regex.test(text),
  find: (regex, text) => regex.find(text) ?? '',
  findAll: (regex, text, limit = -1) => (isInt(limit) ? regex.findAll(text, Number(limit)) : noSuchOverload()),
}

function withRegex(use: RegexUse | undefined): Run {
  return (meter, text, pattern, limit) => {
    if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
    const regex = regexOf(meter, pattern)
    return regex instanceof CelError ? regex : (use?.(regex, text, limit) ?? noSuchOverload())
  }
}

/** A function of texts and patterns for a pattern that is already compiled. */
export function withPattern(name: string, regex: Regex): Run {
  const use = regexUses[name]
  return (_meter, text, _pattern, limit) => (typeof text === 'string' ? (use?.(regex, text, limit) ?? noSuchOverload()) : noSuchOverload())
}

/** A part of a time in a zone, or of a span in whole units. */
function timePart(ofTime: (date: Date) => number, nsPerUnit?: bigint): Run {
  return (meter, value, zone = '') => {
    if (value instanceof Duration && nsPerUnit !== undefined && zone === '') return Number(value.ns / nsPerUnit)
    if (!(value instanceof Timestamp) || typeof zone !== 'string') return noSuchOverload()
    const date = inZone(meter, value, zone)
    return date instanceof CelError ? date : ofTime(date)
  }
}

function dayOfYear(date: Date): number {
  const start = new Date(0)
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000)
}

function onUrl(read: (url: Url) => Value): Pure {
  return (url) => (url instanceof Url ? read(url) : noSuchOverload())
}

/** An order of quantities and of versions. */
function opaqueOrder(decide: (order: number) => Value): Pure {
  return (a, b) => {
    const order = a instanceof Quantity ? compareTo(a, b) : a instanceof Semver ? compareVersions(a, b) : noSuchOverload()
    return typeof order === 'number' ? decide(order) : order
  }
}

function onOptional(use: (optional: Optional, other: Value) => Value): Pure {
  return (optional, other) => (optional instanceof Optional ? use(optional, other) : noSuchOverload())
}

function mapInsert(meter: Meter, map: Value, key: Value, value: Value): Value {
  if (!isMap(map)) return noSuchOverload()
  const made = map instanceof CelMap ? map : copyOf(meter, map)
  if (value !== undefined) return made.add(key, value) ?? made
  for (const each of mapKeys(meter, key)) {
    const refused = made.add(each, mapGet(meter, key, each))
    if (refused !== undefined) return new CelError(`insert failed: key ${String(each)} already exists`)
  }
  return made
}

function copyOf(meter: Meter, map: Value): CelMap {
  const made = new CelMap()
  for (const key of mapKeys(meter, map)) made.add(key, mapGet(meter, map, key))
  return made
}

/** The implementation of a function, and the numbers of arguments that it accepts, the receiver included. */
interface Declared {
  readonly arity: readonly number[]
  readonly run: Run
}

function metered(arity: number | readonly number[], run: Run): Declared {
  return { arity: typeof arity === 'number' ? [arity] : arity, run }
}

function of(arity: number | readonly number[], run: Pure): Declared {
  return metered(arity, (_meter, a, b, c) => run(a, b, c))
}

const declared: Readonly<Record<string, Declared>> = {
  '_==_': metered(2, equal),
  '_!=_': metered(2, (meter, a, b) => {
    const same = equal(meter, a, b)
    return same instanceof CelError ? same : !same
  }),
  '_<_': of(
    2,
    ordering((order) => order < 0),
  ),
  '_<=_': of(
    2,
    ordering((order) => order <= 0),
  ),
  '_>_': of(
    2,
    ordering((order) => order > 0),
  ),
  '_>=_': of(
    2,
    ordering((order) => order >= 0),
  ),
  '_+_': metered(2, add),
  '_-_': of(2, subtract),
  '_*_': of(2, multiply),
  '_/_': of(2, divide),
  '_%_': of(2, modulo),
  '-_': of(1, negate),
  '!_': of(1, (value) => (typeof value === 'boolean' ? !value : noSuchOverload())),
  '@in': metered(2, contained),
  _in_: metered(2, contained),
  in: metered(2, contained),
  size: metered(1, size),
  contains: of(
    2,
    onTexts((text, part) => text.includes(part)),
  ),
  startsWith: of(
    2,
    onTexts((text, part) => text.startsWith(part)),
  ),
  endsWith: of(
    2,
    onTexts((text, part) => text.endsWith(part)),
  ),
  matches: metered(2, withRegex(regexUses['matches'])),
  find: metered(2, withRegex(regexUses['find'])),
  findAll: metered([2, 3], withRegex(regexUses['findAll'])),
  bool: of(1, convertToBool),
  bytes: of(1, convertToBytes),
  double: metered(1, convertToDouble),
  duration: metered(1, convertToDuration),
  dyn: of(1, (value) => value),
  int: of(1, convertToInt),
  string: of(1, convertToString),
  timestamp: metered(1, convertToTimestamp),
  type: of(1, convertToType),
  uint: of(1, convertToUint),
  getFullYear: metered(
    [1, 2],
    timePart((date) => date.getUTCFullYear()),
  ),
  getMonth: metered(
    [1, 2],
    timePart((date) => date.getUTCMonth()),
  ),
  getDate: metered(
    [1, 2],
    timePart((date) => date.getUTCDate()),
  ),
  getDayOfMonth: metered(
    [1, 2],
    timePart((date) => date.getUTCDate() - 1),
  ),
  getDayOfWeek: metered(
    [1, 2],
    timePart((date) => date.getUTCDay()),
  ),
  getDayOfYear: metered([1, 2], timePart(dayOfYear)),
  getHours: metered(
    [1, 2],
    timePart((date) => date.getUTCHours(), 3_600_000_000_000n),
  ),
  getMinutes: metered(
    [1, 2],
    timePart((date) => date.getUTCMinutes(), 60_000_000_000n),
  ),
  getSeconds: metered(
    [1, 2],
    timePart((date) => date.getUTCSeconds(), 1_000_000_000n),
  ),
  getMilliseconds: metered(
    [1, 2],
    timePart((date) => date.getUTCMilliseconds(), 1_000_000n),
  ),

  charAt: metered(2, charAt),
  indexOf: metered([2, 3], indexOf),
  lastIndexOf: metered([2, 3], lastIndexOf),
  join: metered([1, 2], join),
  lowerAscii: of(1, lowerAscii),
  upperAscii: of(1, upperAscii),
  replace: metered([3, 4], replace),
  split: of([2, 3], split),
  substring: metered([2, 3], substring),
  trim: of(1, trim),
  reverse: metered(1, (meter, value) =>
    typeof value === 'string' ? reverseText(meter, value) : isList(value) ? [...itemsOf(meter, value)].reverse() : noSuchOverload(),
  ),
  'strings.quote': of(1, quote),
  'jsonpatch.escapeKey': of(1, escapeKey),

  isSorted: metered(1, isSorted),
  sum: metered(1, (meter, list) => sum(meter, list)),
  min: metered(1, (meter, list) => extreme(meter, list, 1)),
  max: metered(1, (meter, list) => extreme(meter, list, -1)),
  includes: metered(2, includes),
  slice: metered(3, slice),
  flatten: metered([1, 2], flatten),
  sort: metered(1, sort),
  '@sortByAssociatedKeys': metered(2, sortByKeys),
  distinct: metered(1, distinct),
  'lists.range': of(1, range),
  first: metered(1, (meter, list) => (isList(list) ? (listSize(list) === 0 ? none : some(listAt(meter, list, 0))) : noSuchOverload())),
  last: metered(1, (meter, list) =>
    isList(list) ? (listSize(list) === 0 ? none : some(listAt(meter, list, listSize(list) - 1))) : noSuchOverload(),
  ),
  'sets.contains': metered(2, setContains),
  'sets.intersects': metered(2, setIntersects),
  'sets.equivalent': metered(2, setEquivalent),

  url: of(1, parseUrl),
  isURL: of(1, isUrl),
  getScheme: of(
    1,
    onUrl((url) => url.scheme),
  ),
  getHost: of(
    1,
    onUrl((url) => url.host),
  ),
  getHostname: of(
    1,
    onUrl((url) => url.hostname),
  ),
  getPort: of(
    1,
    onUrl((url) => url.port),
  ),
  getEscapedPath: of(
    1,
    onUrl((url) => url.escapedPath),
  ),
  getQuery: of(
    1,
    onUrl((url) => url.query),
  ),

  quantity: of(1, parseQuantity),
  isQuantity: of(1, isQuantity),
  sign: of(1, signOf),
  isInteger: of(1, isInteger),
  asInteger: of(1, asInteger),
  asApproximateFloat: of(1, asApproximateFloat),
  add: of(2, (a, b) => addQuantity(a, b, 1)),
  sub: of(2, (a, b) => addQuantity(a, b, -1)),
  isLessThan: of(
    2,
    opaqueOrder((order) => order < 0),
  ),
  isGreaterThan: of(
    2,
    opaqueOrder((order) => order > 0),
  ),
  compareTo: of(
    2,
    opaqueOrder((order) => order),
  ),

  semver: of([1, 2], parseSemver),
  isSemver: of([1, 2], isSemver),
  major: of(1, (version) => versionNumber(version, 0)),
  minor: of(1, (version) => versionNumber(version, 1)),
  patch: of(1, (version) => versionNumber(version, 2)),

  ip: of(1, toIp),
  isIP: of(1, isIp),
  'ip.isCanonical': of(1, isCanonical),
  family: of(1, family),
  isUnspecified: of(1, isUnspecified),
  isLoopback: of(1, isLoopback),
  isLinkLocalMulticast: of(1, isLinkLocalMulticast),
  isLinkLocalUnicast: of(1, isLinkLocalUnicast),
  isGlobalUnicast: of(1, isGlobalUnicast),
  cidr: of(1, toCidr),
  isCIDR: of(1, isCidr),
  containsIP: of(2, containsIp),
  containsCIDR: of(2, containsCidr),
  prefixLength: of(1, prefixLength),
  masked: of(1, masked),

  'format.named': of(1, namedFormat),
  ...Object.fromEntries(formatNames.map((name) => [`format.${name}`, of(0, () => formatOf(name))])),
  validate: metered(2, validate),

  path: of(2, pathCheck),
  group: of(2, groupCheck),
  serviceAccount: of(3, serviceAccountCheck),
  resource: of(2, resourceCheck),
  subresource: of(2, (value, text) => withPart(value, 'subresource', text)),
  namespace: of(2, (value, text) => withPart(value, 'namespace', text)),
  name: of(2, (value, text) => withPart(value, 'name', text)),
  fieldSelector: of(2, (value, text) => withPart(value, 'fieldSelector', text)),
  labelSelector: of(2, (value, text) => withPart(value, 'labelSelector', text)),
  check: of(2, check),
  allowed: of(1, (decision) => decisionPart(decision, 'allowed')),
  reason: of(1, (decision) => decisionPart(decision, 'reason')),
  errored: of(1, (decision) => decisionPart(decision, 'errored')),
  error: of(1, (decision) => decisionPart(decision, 'error')),

  'optional.of': of(1, some),
  'optional.ofNonZeroValue': metered(1, (meter, value) => (isZero(meter, value) ? none : some(value))),
  'optional.none': of(0, () => none),
  hasValue: of(
    1,
    onOptional((optional) => optional.hasValue),
  ),
  value: of(
    1,
    onOptional((optional) => (optional.hasValue ? optional.value : new CelError('optional.none() dereference'))),
  ),
  'optional.unwrap': metered(1, unwrapAll),
  unwrapOpt: metered(1, unwrapAll),

  'cel.@mapInsert': metered([2, 3], mapInsert),
  '@mapInsert': metered([2, 3], mapInsert),
}

function unwrapAll(meter: Meter, list: Value): Value {
  if (!isList(list)) return noSuchOverload()
  return itemsOf(meter, list).flatMap((item) => (item instanceof Optional ? (item.hasValue ? [item.value] : []) : [item]))
}

/** The implementation of a function for a number of arguments; undefined if the function has no such form. */
export function functionOf(name: string, arity: number, style: FormatStyle): Run | undefined {
  if (name === 'format' && arity === 2) return (meter, text, args) => formatText(meter, text, args, style)
  const found = Object.hasOwn(declared, name) ? declared[name] : undefined
  return found?.arity.includes(arity) === true ? found.run : undefined
}

/** Types that expressions name. */
export const typeConstants: ReadonlyMap<string, TypeValue> = new Map(
  [
    'bool',
    'bytes',
    'double',
    'int',
    'uint',
    'string',
    'list',
    'map',
    'null_type',
    'type',
    'optional_type',
    'google.protobuf.Duration',
    'google.protobuf.Timestamp',
    'net.IP',
    'net.CIDR',
    'kubernetes.URL',
    'kubernetes.Quantity',
    'kubernetes.Semver',
    'kubernetes.NamedFormat',
  ].map((name) => [name, new TypeValue(name)]),
)
