import { isList, isMap, itemsOf, mapGet, mapKeys } from './collections.ts'
import { unlimitedMeter } from './meter.ts'
import { printDuration, printTimestamp } from './time.ts'
import { Double, Duration, Optional, Timestamp, Uint, type Value } from './values.ts'

/** A value as JSON: all numbers as numbers, bytes as base64, times as texts. A value without a JSON form becomes null. */
export function jsonOf(value: Value, meter = unlimitedMeter()): unknown {
  if (value instanceof Optional) return value.hasValue ? jsonOf(value.value, meter) : null
  if (value instanceof Double) return value.value
  if (value instanceof Uint) return Number(value.value)
  if (value instanceof Timestamp) return printTimestamp(value)
  if (value instanceof Duration) return printDuration(value)
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
  if (isList(value)) return itemsOf(meter, value).map((item) => jsonOf(item, meter))
  if (!isMap(value)) return typeof value === 'object' ? null : value
  return Object.fromEntries([...mapKeys(meter, value)].map((key) => [String(key), jsonOf(mapGet(meter, value, key), meter)]))
}
