import { type Expr, subexpressions } from './ast.ts'

/** Number of parts that are processed between two pauses. */
export const partsPerStep = 3_000

/** A part with more subexpressions than this is processed one subexpression at a time. */
const largeSize = 1_000

/** Work that may pause where it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

/** The large parts of an expression that is processed without pauses: none. */
export const noneLarge: ReadonlySet<Expr> = new Set()

/** The large parts of an expression. */
export function largeParts(expr: Expr, size = largeSize): ReadonlySet<Expr> {
  const large = new Set<Expr>()
  measure(expr, { size, large })
  return large
}

/** The number of parts of an expression, including itself. */
function measure(expr: Expr, found: { readonly size: number; readonly large: Set<Expr> }): number {
  let size = 1
  for (const part of subexpressions(expr)) size += measure(part, found)
  if (size > found.size) found.large.add(expr)
  return size
}
