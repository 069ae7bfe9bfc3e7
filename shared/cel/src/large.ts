import { type Expr, subexpressions } from './ast.ts'

/** Parts of an expression that are worked on in a row: then the work may pause. */
export const partsPerStep = 3_000

/** Parts that consist of more parts than these are worked on one part after the other. */
const largeSize = 1_000

/** Work that may pause where it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

/** The large parts of an expression that is processed at once: none. */
export const noneLarge: ReadonlySet<Expr> = new Set()

/** The parts of an expression that are large themselves. */
export function largeParts(expr: Expr, size = largeSize): ReadonlySet<Expr> {
  const large = new Set<Expr>()
  measure(expr, { size, large })
  return large
}

/** The number of parts of an expression, itself among them. */
function measure(expr: Expr, found: { readonly size: number; readonly large: Set<Expr> }): number {
  let size = 1
  for (const part of subexpressions(expr)) size += measure(part, found)
  if (size > found.size) found.large.add(expr)
  return size
}
