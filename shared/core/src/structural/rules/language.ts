import { Environment } from '@orch/cel/environment'
import { estimateCost } from '@orch/cel/estimate'
import { kubernetesLibraries } from '@orch/cel/kubernetes'
import type { Bounds } from '@orch/cel/library'
import { plan } from '@orch/cel/plan'
import { type CelType, optionalOf, types } from '@orch/cel/types'
import type { DeclaredTypes } from './declared.ts'

/** A planned expression. */
export type Program = Extract<ReturnType<typeof plan>, { readonly kind: 'program' }>['program']

/** An expression that can be evaluated. */
export interface Expression {
  readonly kind: 'expression'
  readonly type: CelType
  readonly program: Program
  /** The variables that it reads. */
  readonly variables: ReadonlySet<string>
  /** What one evaluation may cost. */
  estimate(): Bounds
}

/** An expression that does not compile. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly problem: string
}

const environment = new Environment({ libraries: kubernetesLibraries })

/** Compiles an expression about `self`, and about the value that it replaces where there is one. */
export function compileExpression(text: string, declared: DeclaredTypes, oldSelf: 'value' | 'optional'): Expression | Malformed {
  const self = declared.self?.type ?? types.dyn
  const variables = { self, oldSelf: oldSelf === 'optional' ? optionalOf(self) : self }
  const compiled = environment.extend({ variables, provider: declared }).compile(text)
  if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}` }
  const { ast } = compiled
  const planned = plan(ast)
  if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}` }
  const names = [...ast.references.values()].flatMap((reference) => (reference.kind === 'variable' ? [reference.name] : []))
  return {
    kind: 'expression',
    type: ast.type,
    program: planned.program,
    variables: new Set(names),
    estimate: () => estimateCost(ast, { estimateSize: (path) => declared.sizeAt(path) }),
  }
}
