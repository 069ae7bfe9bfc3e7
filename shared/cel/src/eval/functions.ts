import { type Implementation, type Implementations, metered, of, onList, type Run } from '../implementation.ts'
import { authorizerFunctions } from '../libraries/authorizer.ts'
import { type FormatStyle, formatText } from '../libraries/format-text.ts'
import { ipFunctions } from '../libraries/ip.ts'
import { isIn, listFunctions } from '../libraries/lists.ts'
import { formatFunctions } from '../libraries/named-formats.ts'
import { compareTo, Quantity, quantityFunctions } from '../libraries/quantity.ts'
import { compareVersions, Semver, semverFunctions } from '../libraries/semver.ts'
import { reverseText, textFunctions } from '../libraries/strings.ts'
import { urlFunctions } from '../libraries/urls.ts'
import { add, divide, modulo, multiply, negate, subtract } from '../values/arithmetic.ts'
import { CelMap, isList, isMap, itemsOf, type ListValue, mapGet, mapKeys } from '../values/collections.ts'
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

function ordering(decide: (order: number) => boolean): Implementation {
  return of(2, (a, b) => {
    if (typeof a === 'number' && typeof b === 'number' && !Number.isNaN(a - b)) return decide(a - b)
    const order = compare(a, b)
    if (order === undefined) return false
    return order instanceof CelError ? order : decide(order)
  })
}

function contained(meter: Meter, item: Value, container: Value): Value {
  if (isList(container)) return isIn(meter, item, container)
  return isMap(container) ? mapGet(meter, container, item) !== undefined : noSuchOverload()
}

type RegexUse = (regex: Regex, text: string, meter: Meter, limit: Value) => Value

const regexUses: Readonly<Record<string, RegexUse>> = {
  matches: (regex, text, meter) => regex.test(text, meter),
  find: (regex, text, meter) => regex.findAll(text, 1, meter)[0] ?? '',
  findAll: (regex, text, meter, limit = -1) => (isInt(limit) ? regex.findAll(text, Number(limit), meter) : noSuchOverload()),
}

/** A function of texts and patterns, or of texts for a pattern that is already compiled. */
export function withPattern(name: string, known?: Regex): Run {
  const use = regexUses[name]
  return (meter, text, pattern, limit) => {
    if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
    const regex = known ?? regexOf(meter, pattern)
    return regex instanceof CelError ? regex : (use?.(regex, text, meter, limit) ?? noSuchOverload())
  }
}

/** A part of a time in a zone, or of a span in whole units. */
function timePart(ofTime: (date: Date) => number, nsPerUnit?: bigint): Implementation {
  return metered([1, 2], (meter, value, zone = '') => {
    if (value instanceof Duration && nsPerUnit !== undefined && zone === '') return Number(value.ns / nsPerUnit)
    if (!(value instanceof Timestamp) || typeof zone !== 'string') return noSuchOverload()
    const date = inZone(meter, value, zone)
    return date instanceof CelError ? date : ofTime(date)
  })
}

function dayOfYear(date: Date): number {
  const start = new Date(0)
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000)
}

/** An order of quantities and of versions. */
function opaqueOrder(decide: (order: number) => Value): Implementation {
  return of(2, (a, b) => {
    const order = a instanceof Quantity ? compareTo(a, b) : a instanceof Semver ? compareVersions(a, b) : noSuchOverload()
    return typeof order === 'number' ? decide(order) : order
  })
}

function onOptional(use: (optional: Optional) => Value): Implementation {
  return of(1, (optional) => (optional instanceof Optional ? use(optional) : noSuchOverload()))
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

const declared: Implementations = {
  '_==_': metered(2, equal),
  '_!=_': metered(2, (meter, a, b) => {
    const same = equal(meter, a, b)
    return same instanceof CelError ? same : !same
  }),
  '_<_': ordering((order) => order < 0),
  '_<=_': ordering((order) => order <= 0),
  '_>_': ordering((order) => order > 0),
  '_>=_': ordering((order) => order >= 0),
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
  matches: metered(2, withPattern('matches')),
  find: metered(2, withPattern('find')),
  findAll: metered([2, 3], withPattern('findAll')),
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
  getFullYear: timePart((date) => date.getUTCFullYear()),
  getMonth: timePart((date) => date.getUTCMonth()),
  getDate: timePart((date) => date.getUTCDate()),
  getDayOfMonth: timePart((date) => date.getUTCDate() - 1),
  getDayOfWeek: timePart((date) => date.getUTCDay()),
  getDayOfYear: timePart(dayOfYear),
  getHours: timePart((date) => date.getUTCHours(), 3_600_000_000_000n),
  getMinutes: timePart((date) => date.getUTCMinutes(), 60_000_000_000n),
  getSeconds: timePart((date) => date.getUTCSeconds(), 1_000_000_000n),
  getMilliseconds: timePart((date) => date.getUTCMilliseconds(), 1_000_000n),

  ...textFunctions,
  reverse: metered(1, (meter, value) =>
    typeof value === 'string' ? reverseText(meter, value) : isList(value) ? [...itemsOf(meter, value)].reverse() : noSuchOverload(),
  ),
  ...listFunctions,
  ...urlFunctions,
  ...quantityFunctions,
  isLessThan: opaqueOrder((order) => order < 0),
  isGreaterThan: opaqueOrder((order) => order > 0),
  compareTo: opaqueOrder((order) => order),
  ...semverFunctions,
  ...ipFunctions,
  ...formatFunctions,
  ...authorizerFunctions,

  'optional.of': of(1, some),
  'optional.ofNonZeroValue': metered(1, (meter, value) => (isZero(meter, value) ? none : some(value))),
  'optional.none': of(0, () => none),
  hasValue: onOptional((optional) => optional.hasValue),
  value: onOptional((optional) => (optional.hasValue ? optional.value : new CelError('optional.none() dereference'))),
  'optional.unwrap': onList(1, unwrapAll),
  unwrapOpt: onList(1, unwrapAll),

  'cel.@mapInsert': metered([2, 3], mapInsert),
  '@mapInsert': metered([2, 3], mapInsert),
}

function unwrapAll(meter: Meter, list: ListValue): Value {
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
