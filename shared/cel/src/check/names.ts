import type { Expr, SelectExpr } from '../ast.ts'
import { at } from '../at.ts'
import type { Reference } from '../checked.ts'
import type { FunctionDeclaration } from '../library.ts'
import type { CelType } from '../types.ts'

/** The meaning of a global name, and its type. */
export interface GlobalName {
  readonly type: CelType
  readonly reference: Reference
}

/** The names that an expression may use. */
export interface Names {
  /** The prefix that names are looked up with first: in `a.b`, `x` is `a.b.x`, `a.x` or `x`. */
  readonly container: string
  findGlobal(name: string): GlobalName | undefined
  /** The type of a struct with this name, or the type that the name denotes. */
  findType(name: string): CelType | undefined
  findField(typeName: string, field: string): CelType | undefined
  findFunction(name: string): FunctionDeclaration | undefined
}

/** The first result of `find` among the full names that `name` can mean in the container. */
export function findInContainer<T>(container: string, name: string, find: (candidate: string) => T | undefined): T | undefined {
  if (name.startsWith('.')) return find(name.slice(1))
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
    const found = find(`${prefix}.${name}`)
    if (found !== undefined) return found
  }
  return find(name)
}

/** Maximum number of identifiers in a chain (`a.b.c`) that are looked up as one name. */
const qualifiersMax = 32

/** The dotted name of a chain of selections on an identifier; undefined for any other expression. */
export function chainName(expr: Expr): string | undefined {
  const fields: string[] = []
  let base = expr
  while (base.kind === 'select' && !base.test && fields.length < qualifiersMax) {
    fields.push(base.field)
    base = base.operand
  }
  return base.kind === 'ident' ? [base.name, ...fields.reverse()].join('.') : undefined
}

/** The names `a`, `a.b`, `a.b.c` of a chain `[.c, .b]` on `a`. */
export function beginningsOf(first: string, chain: readonly SelectExpr[]): readonly string[] {
  const names = [first]
  for (let index = chain.length - 1; index >= 0 && names.length < qualifiersMax; index -= 1) {
    const part = at(chain, index)
    if (part.test) break
    names.push(`${names.at(-1)}.${part.field}`)
  }
  return names
}
