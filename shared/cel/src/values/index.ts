/** The values of expressions, with their readers and comparisons. */
export { isList, isMap, itemsOf, mapGet } from './collections.ts'
export { jsonOf } from './json.ts'
export { compileRegex, type Regex } from './regex.ts'
export { CelError, type Kind, MapView, none, some, type Value } from './values.ts'
