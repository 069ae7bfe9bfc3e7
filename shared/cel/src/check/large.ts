import type { Expr } from '../ast.ts'

/** Parts of an expression that are worked on in a row: then the work may pause. */
export const partsPerStep = 3_000

/** Parts that consist of more parts than these are worked on one part after the other. */
const largeSize = 1_000

/** Work that may pause where it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

/** The parts of an expression that are large themselves. */
export function largeParts(expr: Expr, size = largeSize): ReadonlySet<Expr> {
  const large = new Set<Expr>()
  measure(expr, { size, large })
  return large
}

/** The number of parts of an expression, itself among them. */
function measure(expr: Expr, found: { readonly size: number; readonly large: Set<Expr> }): number {
  let size = 1
  switch (expr.kind) {
    case 'constant':
    case 'ident':
      return size
    case 'select':
      size += measure(expr.operand, found)
      break
    case 'call':
      if (expr.target !== undefined) size += measure(expr.target, found)
      for (const argument of expr.args) size += measure(argument, found)
      break
    case 'list':
      for (const element of expr.elements) size += measure(element, found)
      break
    case 'map':
      for (const { key, value } of expr.entries) size += measure(key, found) + measure(value, found)
      break
    case 'struct':
      for (const { value } of expr.fields) size += measure(value, found)
      break
    case 'comprehension':
      size += measure(expr.range, found) + measure(expr.init, found) + measure(expr.condition, found)
      size += measure(expr.step, found) + measure(expr.result, found)
      break
  }
  if (size > found.size) found.large.add(expr)
  return size
}
