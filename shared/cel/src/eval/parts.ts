import type { Expr } from '../ast.ts'
import type { Value } from '../values/values.ts'
import type { Step } from './program.ts'

/** A planned part. `resolve` is `step` without the unit that reading an attribute costs. */
export interface PlannedPart {
  readonly step: Step
  readonly kind: 'constant' | 'attribute' | 'conditional' | 'other'
  readonly value?: Value
  readonly resolve?: Step
}

/** A local name and its slot. With `init`, the first read fills the slot. */
export interface Local {
  readonly name: string
  readonly slot: number
  readonly init?: Step
}

/** Plans the parts of an expression. */
export interface PartPlanner {
  /** True if constant lists, maps and conversions are made once and cost nothing. */
  readonly isFolded: boolean
  plan(expr: Expr): PlannedPart
  /** Returns an unused slot. */
  newSlot(): number
  /** Plans parts in which local names refer to slots. */
  within<Result>(locals: readonly Local[], use: () => Result): Result
}

/** A part with a constant value. */
export function constant(value: Value): PlannedPart {
  return { step: () => value, kind: 'constant', value }
}

/** A part that is evaluated each time and is no attribute. */
export function other(step: Step): PlannedPart {
  return { step, kind: 'other' }
}
