import { compareText } from './path-element.ts'

/** Maximum printed depth of a value, since printing is recursive and the call stack is limited. */
const printedDepthMax = 100

/** A value as Go prints it with `%v`: `map[a:1 b:[x y]]`, `<nil>`. */
export function printLoosely(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value !== 'object') return String(value)
  if (depth === printedDepthMax) return '...'
  if (Array.isArray(value)) return `[${value.map((item) => printLoosely(item, depth + 1)).join(' ')}]`
  const members = membersOf(value).map(([key, member]) => `${key}:${printLoosely(member, depth + 1)}`)
  return `map[${members.join(' ')}]`
}

/** A value as Go prints it with `%#v`: quoted strings, containers with their types. */
export function printAsSource(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  if (depth === printedDepthMax) return '...'
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => printAsSource(item, depth + 1)).join(', ')}}`
  const members = membersOf(value).map(([key, member]) => `${JSON.stringify(key)}:${printAsSource(member, depth + 1)}`)
  return `map[string]interface {}{${members.join(', ')}}`
}

function membersOf(object: object): [string, unknown][] {
  return Object.entries(object).sort(([left], [right]) => compareText(left, right))
}

/** The Go type of a JSON value, for messages. */
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
