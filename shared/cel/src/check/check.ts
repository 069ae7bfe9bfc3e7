import type { Expr } from '../ast.ts'
import type { Steps } from '../large.ts'
import { Checker, type CheckOptions, type CheckResult } from './checker.ts'
import type { Names } from './names.ts'
import { TypesTooLarge } from './solver.ts'

/** Finds the types of an expression and the meaning of its names. */
export function check(text: string, expr: Expr, names: Names, options: CheckOptions): CheckResult {
  try {
    const checker = new Checker(names, options)
    return checker.finish(text, expr, checker.check(expr))
  } catch (error) {
    return tooLarge(error)
  }
}

/** Like `check`, but pauses after every few thousand parts. `large` holds the large parts of the expression. */
export function* checkInSteps(
  text: string,
  { expr, large }: { readonly expr: Expr; readonly large: ReadonlySet<Expr> },
  names: Names,
  options: CheckOptions,
): Steps<CheckResult> {
  try {
    const checker = new Checker(names, options, large)
    const type = large.has(expr) ? yield* checker.checkLarge(expr) : checker.check(expr)
    yield
    return checker.finish(text, expr, type)
  } catch (error) {
    return tooLarge(error)
  }
}

function tooLarge(error: unknown): CheckResult {
  if (!(error instanceof TypesTooLarge)) throw error
  return { kind: 'invalid', issues: [{ offset: undefined, message: error.message }] }
}
