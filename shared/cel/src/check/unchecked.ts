import type { CallExpr, Expr, SelectExpr } from '../ast.ts'
import type { CheckedAst, Reference } from '../checked.ts'
import { types } from '../types.ts'
import { findInContainer, type Names } from './names.ts'

/** Resolves the names of an expression without types. A call may mean any overload of its function. */
export function resolveUnchecked(text: string, expr: Expr, names: Names): CheckedAst {
  const references = new Map<number, Reference>()
  new Resolver(names, references).visit(expr, new Set())
  return { text, expr, type: types.dyn, types: new Map(), references }
}

class Resolver {
  readonly #names: Names
  readonly #references: Map<number, Reference>

  constructor(names: Names, references: Map<number, Reference>) {
    this.#names = names
    this.#references = references
  }

  visit(expr: Expr, locals: ReadonlySet<string>): void {
    switch (expr.kind) {
      case 'constant':
        return
      case 'ident':
        if (locals.has(expr.name)) this.#references.set(expr.id, { kind: 'variable', name: expr.name, isLocal: true })
        else this.#global(expr.id, expr.name)
        return
      case 'select':
        this.#select(expr, locals)
        return
      case 'call':
        this.#call(expr, locals)
        return
      case 'list':
        for (const element of expr.elements) this.visit(element, locals)
        return
      case 'map':
        for (const { key, value } of expr.entries) {
          this.visit(key, locals)
          this.visit(value, locals)
        }
        return
      case 'struct': {
        const type = findInContainer(this.#names.container, expr.typeName, (candidate) => this.#names.findType(candidate))
        if (type !== undefined) this.#references.set(expr.id, { kind: 'type', type })
        for (const { value } of expr.fields) this.visit(value, locals)
        return
      }
      case 'comprehension': {
        this.visit(expr.range, locals)
        this.visit(expr.init, locals)
        const accumulated = new Set(locals).add(expr.accumulator)
        const inside = new Set(accumulated).add(expr.variable)
        if (expr.variable2 !== undefined) inside.add(expr.variable2)
        this.visit(expr.condition, inside)
        this.visit(expr.step, inside)
        this.visit(expr.result, accumulated)
      }
    }
  }

  #select(expr: SelectExpr, locals: ReadonlySet<string>): void {
    const name = expr.test ? undefined : qualifiedName(expr, locals)
    if (name !== undefined && this.#global(expr.id, name)) return
    this.visit(expr.operand, locals)
  }

  #global(id: number, name: string): boolean {
    const found = findInContainer(this.#names.container, name, (candidate) => this.#names.findGlobal(candidate))
    if (found !== undefined) this.#references.set(id, found.reference)
    return found !== undefined
  }

  #call(expr: CallExpr, locals: ReadonlySet<string>): void {
    const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target, locals)
    const isQualified = prefix !== undefined && this.#function(expr, `${prefix}.${expr.name}`, true)
    if (!isQualified) {
      this.#function(expr, expr.name, false)
      if (expr.target !== undefined) this.visit(expr.target, locals)
    }
    for (const argument of expr.args) this.visit(argument, locals)
  }

  #function(expr: CallExpr, name: string, isQualified: boolean): boolean {
    const found = findInContainer(this.#names.container, name, (candidate) => this.#names.findFunction(candidate))
    if (found === undefined) return false
    const isMember = expr.target !== undefined && !isQualified
    const count = expr.args.length + (isMember ? 1 : 0)
    const overloads = found.overloads.filter(({ member, parameters }) => member === isMember && parameters.length === count)
    this.#references.set(expr.id, { kind: 'function', name: found.name, isQualified, overloads })
    return true
  }
}

/** The dotted name of a chain of selections on an identifier that is no local variable. */
function qualifiedName(expr: Expr, locals: ReadonlySet<string>): string | undefined {
  const fields: string[] = []
  let base = expr
  while (base.kind === 'select' && !base.test) {
    fields.push(base.field)
    base = base.operand
  }
  return base.kind === 'ident' && !locals.has(base.name) ? [base.name, ...fields.reverse()].join('.') : undefined
}
