import { type Expr, operators } from '../ast.ts'
import type { ComprehensionParts, ExprBuilder } from '../library.ts'

/** The body of a loop over a list or map; the caller chooses the range and the variables. */
export type LoopBody = Omit<ComprehensionParts, 'variable' | 'variable2' | 'range'>

/** True unless the predicate is false for an element. */
export function allOf(builder: ExprBuilder, predicate: Expr): LoopBody {
  return {
    init: builder.constant({ type: 'bool', value: true }),
    condition: builder.call(operators.notStrictlyFalse, accumulated(builder)),
    step: builder.call(operators.and, accumulated(builder), predicate),
    result: accumulated(builder),
  }
}

/** True if the predicate is true for an element. */
export function existsOf(builder: ExprBuilder, predicate: Expr): LoopBody {
  return {
    init: builder.constant({ type: 'bool', value: false }),
    condition: builder.call(operators.notStrictlyFalse, builder.call(operators.not, accumulated(builder))),
    step: builder.call(operators.or, accumulated(builder), predicate),
    result: accumulated(builder),
  }
}

/** True if the predicate is true for exactly one element. */
export function existsOneOf(builder: ExprBuilder, predicate: Expr): LoopBody {
  const one = () => builder.constant({ type: 'int', value: 1n })
  return {
    init: builder.constant({ type: 'int', value: 0n }),
    condition: always(builder),
    step: onlyIf(builder, predicate, builder.call(operators.add, accumulated(builder), one())),
    result: builder.call(operators.equals, accumulated(builder), one()),
  }
}

/** A list with one item for each element that passes the filter. */
export function listOfEach(builder: ExprBuilder, filter: Expr | undefined, element: Expr): LoopBody {
  const step = builder.call(operators.add, accumulated(builder), builder.list(element))
  return { init: builder.list(), condition: always(builder), step: onlyIf(builder, filter, step), result: accumulated(builder) }
}

/** A map to which each element that passes the filter adds the arguments of `insert`. */
export function mapOfEach(builder: ExprBuilder, filter: Expr | undefined, insert: string, ...inserted: readonly Expr[]): LoopBody {
  const step = builder.call(insert, accumulated(builder), ...inserted)
  return { init: builder.map(), condition: always(builder), step: onlyIf(builder, filter, step), result: accumulated(builder) }
}

function onlyIf(builder: ExprBuilder, filter: Expr | undefined, step: Expr): Expr {
  return filter === undefined ? step : builder.call(operators.conditional, filter, step, accumulated(builder))
}

function always(builder: ExprBuilder): Expr {
  return builder.constant({ type: 'bool', value: true })
}

function accumulated(builder: ExprBuilder): Expr {
  return builder.ident(builder.accumulator)
}
