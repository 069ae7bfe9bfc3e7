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

/** The bounds that end an evaluation before its result. */
export type EvaluationBounds = NonNullable<Parameters<Program['evaluate']>[1]>

/** An expression that can be evaluated. */
export interface Expression {
  readonly kind: 'expression'
  readonly type: CelType
  readonly program: Program
  /** The variables that it reads. */
  readonly variables: ReadonlySet<string>
  /** The estimated cost of one evaluation. */
  estimate(): Steps<Bounds>
}

/** An expression that does not compile. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly problem: string
}

/** One environment for each level, and that of stored expressions. */
const agesMax = 16

/** The environment of expressions by their age. */
const environmentOf = boundedMemo(agesMax, (age: ExpressionAge) => createEnvironment(age))

/** Options of compiling an expression. */
export interface CompileOptions {
  readonly oldSelf: 'value' | 'optional'
  readonly age: ExpressionAge
}

/** Compiles an expression about `self`, and about the value that it replaces where there is one. */
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
