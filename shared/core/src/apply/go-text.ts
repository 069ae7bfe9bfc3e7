import { isJsonObject } from '../json/member.ts'
import { compareText } from './path-element.ts'

/** A value as messages that clients know show it: `map[a:1 b:[x y]]`, `<nil>`. */
export function printLoosely(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(printLoosely).join(' ')}]`
  if (!isJsonObject(value)) return String(value)
  const keys = Object.keys(value).sort(compareText)
  return `map[${keys.map((key) => `${key}:${printLoosely(value[key])}`).join(' ')}]`
}

/** A value as it would stand in a program: texts in quotes, containers with their types. */
export function printAsSource(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(printAsSource).join(', ')}}`
  if (!isJsonObject(value)) return String(value)
  const keys = Object.keys(value).sort(compareText)
  return `map[string]interface {}{${keys.map((key) => `${JSON.stringify(key)}:${printAsSource(value[key])}`).join(', ')}}`
}

/** The type of a JSON value in the words of those messages. */
export function looseTypeName(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    case 'bigint':
      return 'int64'
    default:
      return 'map[string]interface {}'
  }
}
