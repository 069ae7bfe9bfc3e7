/** The values that expressions compute with, and what reads and compares them. */
export { CelMap, isList, isMap, itemsOf, listAt, listSize, mapGet, mapKeys, mapSize } from './collections.ts'
export { convertToString } from './convert.ts'
export { compare, equal } from './equal.ts'
export { compileRegex, type Regex } from './regex.ts'
export { codePointCount } from './text.ts'
export { parseDate, parseDuration, parseTimestamp, printDuration, printTimestamp } from './time.ts'
export {
  Boxed,
  CelError,
  Double,
  Duration,
  type Kind,
  kindOf,
  ListView,
  MapView,
  none,
  Opaque,
  Optional,
  some,
  Timestamp,
  TypeValue,
  toDouble,
  toInt,
  typeNameOf,
  Uint,
  type Value,
} from './values.ts'
