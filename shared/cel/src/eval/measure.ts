import { isList, isMap, listSize, mapSize } from '../values/collections.ts'
import { equal } from '../values/equal.ts'
import type { Meter } from '../values/meter.ts'
import { Duration, doubleOf, kindOf, noSuchOverload, Optional, Timestamp, type Value } from '../values/values.ts'

/** `size(x)`. */
export function size(meter: Meter, value: Value): Value {
  if (typeof value === 'string') return meter.codePointCount(value)
  if (value instanceof Uint8Array) return value.length
  if (isList(value)) return listSize(value)
  return isMap(value) ? mapSize(meter, value) : noSuchOverload()
}

/** The first moment of the year 1, which is Go's zero time. */
const firstMoment = -62_135_596_800_000_000_000n

/** True if a value is the zero value of its type. */
export function isZero(meter: Meter, value: Value): boolean {
  switch (kindOf(value)) {
    case 'null':
      return true
    case 'bool':
      return value === false
    case 'int':
    case 'uint':
      return equal(meter, value, 0) === true
    case 'double':
      return doubleOf(value) === 0
    case 'string':
    case 'bytes':
    case 'list':
    case 'map':
      return size(meter, value) === 0
    case 'duration':
      return value instanceof Duration && value.ns === 0n
    case 'timestamp':
      return value instanceof Timestamp && value.ns === firstMoment
    case 'optional':
      return value instanceof Optional && !value.hasValue
    default:
      return false
  }
}
