import { goQuote } from '../json/go-quote.ts'
import { yamlLimits } from './limits.ts'
import { keyText, type Scalar } from './scalar.ts'

/** A key as Go's `%#v` prints it. */
export function keySyntax(key: Scalar): string {
  return typeof key.value === 'string' ? goQuote(key.value) : keyText(key)
}

/** A value as Go's `%#v` prints it where its type is open. */
export function goSyntax(value: unknown, depth = 0): string {
  if (value === null) return depth > 0 ? 'interface {}(nil)' : '<nil>'
  if (typeof value !== 'object') return typeof value === 'string' ? goQuote(value) : String(value)
  if (depth === yamlLimits.keyDepthMax) return '...'
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, depth + 1)).join(', ')}}`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `map[interface {}]interface {}{${members.map(([key, inner]) => `${goQuote(key)}:${goSyntax(inner, depth + 1)}`).join(', ')}}`
}
