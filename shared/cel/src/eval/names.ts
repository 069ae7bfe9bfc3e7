import type { Expr } from '../ast.ts'
import { functionOf } from './functions.ts'

/** Full names that a name may mean within a namespace, the innermost first. */
export function candidates(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)]
  const names: string[] = []
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.'))))
    names.push(`${prefix}.${name}`)
  return [...names, name]
}

/** The dotted name of a chain of selections on an identifier; undefined for any other expression. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

const namespaces = new Set(['optional', 'strings', 'lists', 'sets', 'ip', 'cidr', 'format', 'jsonpatch', 'cel'])

/** True if a function has a name of more than one part. */
export function isNamespaced(name: string, arity: number): boolean {
  return namespaces.has(name.split('.')[0] ?? '') && functionOf(name, arity, 'version2') !== undefined
}

/** The field name in a constant expression. */
export function fieldName(expr: Expr): string {
  return expr.kind === 'constant' && expr.constant.type === 'string' ? expr.constant.value : ''
}
