import type { Expr } from '../ast.ts'
import type { ExprBuilder } from '../library.ts'

/** The loop variable of a comprehension that has no loop. */
const unusedVariable = '#unused'

/** The name in an argument that declares a loop variable; reports an error and gives undefined if the argument is not a name. */
export function loopVariable(builder: ExprBuilder, argument: Expr, problem = 'argument must be a simple name'): string | undefined {
  if (argument.kind !== 'ident' || argument.name.startsWith('.')) return builder.fail(problem, argument)
  if (argument.name === builder.accumulator || argument.name === '__result__') {
    return builder.fail('iteration variable overwrites accumulator variable', argument)
  }
  return argument.name
}

/** Binds a value to a name for one expression, by a comprehension without a loop. */
export function bindVariable(builder: ExprBuilder, name: string, value: Expr, body: Expr): Expr {
  return builder.comprehension({
    variable: unusedVariable,
    accumulator: name,
    range: builder.list(),
    init: value,
    condition: builder.constant({ type: 'bool', value: false }),
    step: builder.ident(name),
    result: body,
  })
}
