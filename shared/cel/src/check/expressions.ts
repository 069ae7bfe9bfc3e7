import type { Expr } from '../ast.ts'

/** The parts of an expression that are expressions, in the order of the text. */
export function subexpressions(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'constant':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
  }
}

/** Visits an expression and all its parts, each before its own parts. */
export function walk(expr: Expr, visit: (part: Expr) => void): void {
  const waiting = [expr]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    visit(part)
    const inner = subexpressions(part)
    for (let index = inner.length - 1; index >= 0; index -= 1) waiting.push(inner[index]!)
  }
}
