import { isLong } from '@orch/cel/environment'
import { estimateCost, estimateCostInSteps } from '@orch/cel/estimate'
import type { Bounds } from '@orch/cel/library'
import { plan, planInSteps } from '@orch/cel/plan'
import { type CelType, optionalOf, types } from '@orch/cel/types'
import { createEnvironment, type ExpressionAge } from '../../expressions/libraries.ts'
import { boundedMemo } from '../../memo.ts'
import type { Steps } from '../../steps.ts'
import type { DeclaredTypes } from './declared.ts'

/** A planned expression. */
export type Program = Extract<ReturnType<typeof plan>, { readonly kind: 'program' }>['program']

/** The limits that end an evaluation early. */
export type EvaluationBounds = NonNullable<Parameters<Program['evaluate']>[1]>

/** A compiled expression. */
export interface Expression {
  readonly kind: 'expression'
  readonly type: CelType
  readonly program: Program
  /** The variables that the expression reads. */
  readonly variables: ReadonlySet<string>
  /** The estimated cost of one evaluation. */
  estimate(): Steps<Bounds>
}

/** An expression that does not compile. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly problem: string
}

/** Number of environments: one per level, and one for stored expressions. */
const agesMax = 16

/** Environments by the age of expressions. */
const environmentOf = boundedMemo(agesMax, (age: ExpressionAge) => createEnvironment(age))

/** Options for compiling an expression. */
export interface CompileOptions {
  readonly oldSelf: 'value' | 'optional'
  readonly age: ExpressionAge
}

/** Compiles an expression on `self`, and on `oldSelf` if there is an old value. */
export function* compileExpression(text: string, declared: DeclaredTypes, { oldSelf, age }: CompileOptions): Steps<Expression | Malformed> {
  const self = declared.self?.type ?? types.dyn
  const variables = { self, oldSelf: oldSelf === 'optional' ? optionalOf(self) : self }
  const compiled = yield* environmentOf(age).extend({ variables, provider: declared }).compileInSteps(text)
  if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}` }
  const { ast } = compiled
  if (isLong(text)) yield
  const planned = isLong(text) ? yield* planInSteps(ast) : plan(ast)
  if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}` }
  if (isLong(text)) yield
  const names = new Set<string>()
  for (const reference of ast.references.values()) if (reference.kind === 'variable') names.add(reference.name)
  return {
    kind: 'expression',
    type: ast.type,
    program: planned.program,
    variables: names,
    *estimate() {
      const hints = { estimateSize: (path: readonly string[]) => declared.sizeAt(path) }
      return isLong(text) ? yield* estimateCostInSteps(ast, hints) : estimateCost(ast, hints)
    },
  }
}
