/** The values that expressions compute with, and what reads and compares them. */
export { isList, isMap, itemsOf, mapGet } from './collections.ts'
export { jsonOf } from './json.ts'
export { compileRegex, type Regex } from './regex.ts'
export { CelError, type Kind, MapView, none, some, type Value } from './values.ts'
