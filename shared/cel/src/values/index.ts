/** The values of expressions, with their readers and comparisons. */
export { isList, isMap, itemsOf, mapGet, mapKeys } from './collections.ts'
export { jsonOf } from './json.ts'
export { Meter, unlimitedMeter, WorkExceeded } from './meter.ts'
export { compileRegex, type Regex, weightOfRegex } from './regex.ts'
export { CelError, type Kind, MapView, none, some, type Value } from './values.ts'
