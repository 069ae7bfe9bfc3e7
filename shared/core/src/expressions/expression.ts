import { type Expr, operators, subexpressions } from '@orch/cel/ast'
import { Environment } from '@orch/cel/environment'
import { kubernetesLibraries } from '@orch/cel/kubernetes'
import { plan } from '@orch/cel/plan'
import { type CelType, objectOf, type TypeProvider, types } from '@orch/cel/types'
import { isList, itemsOf, unlimitedMeter } from '@orch/cel/values'

/** A compiled expression. */
export interface Expression<Input> {
  readonly kind: 'expression'
  readonly text: string
  /** The fields that it selects from its variable. */
  readonly fields: ReadonlySet<string>
  evaluate(input: Input): Outcome
}

/** An expression that does not compile. `problem` begins as in kube-apiserver: `compilation failed: …`. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly problem: string
}

/** The result of an expression: texts and booleans as such, lists as arrays, other values as CEL values. */
type Outcome = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'error'; readonly message: string }

/** The expected result: `condition` is a boolean. */
export type Purpose = 'value' | 'condition'

/** The cost limit of an evaluation; kube-apiserver has none here. */
const costMax = 1_000_000

/** The declaration of an expression's variable. */
export interface Place<Input> {
  readonly variable: string
  readonly type: CelType
  /** Provides the object types of the variable's type. */
  readonly provider?: TypeProvider
  /** Converts the variable to JSON. */
  readonly toValue: (input: Input) => unknown
}

/** Object types with their fields, by name. */
export function typesNamed(named: Readonly<Record<string, Readonly<Record<string, CelType>>>>): TypeProvider {
  return {
    findType: (name) => (Object.hasOwn(named, name) ? objectOf(name) : undefined),
    findField: (name, field) => (Object.hasOwn(named[name] ?? {}, field) ? named[name]?.[field] : undefined),
  }
}

const environment = new Environment({ libraries: kubernetesLibraries, escapedFields: true })

/** Compiles expressions with the same variable; create it once for all of them. */
export class ExpressionCompiler<Input> {
  readonly #place: Place<Input>
  readonly #environment: Environment

  constructor(place: Place<Input>) {
    this.#place = place
    const { variable, type, provider } = place
    this.#environment = environment.extend({ variables: { [variable]: type }, ...(provider === undefined ? {} : { provider }) })
  }

  compile(text: string, purpose: Purpose): Expression<Input> | Malformed {
    const { variable, toValue } = this.#place
    const compiled = this.#environment.compile(text)
    if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}` }
    const { ast } = compiled
    if (purpose === 'condition' && ast.type.kind !== types.bool.kind) return { kind: 'malformed', problem: 'must evaluate to bool' }
    const planned = plan(ast)
    if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}` }
    const { program } = planned
    const fields = new Set<string>()
    collectFields(ast.expr, variable, fields)
    return {
      kind: 'expression',
      text,
      fields,
      evaluate(input) {
        const result = program.evaluate({ [variable]: toValue(input) }, { costLimit: costMax })
        if (result.kind !== 'value') return { kind: 'error', message: result.message }
        return { kind: 'value', value: isList(result.value) ? [...itemsOf(unlimitedMeter(), result.value)] : result.value }
      },
    }
  }
}

/** Collects fields selected from the variable itself: `claims.a`, `has(claims.a)` and `claims.?a`, not `claims['a']`. */
function collectFields(expr: Expr, variable: string, found: Set<string>): void {
  if (expr.kind === 'select' && isVariable(expr.operand, variable)) found.add(expr.field)
  if (expr.kind === 'call' && expr.name === operators.optionalSelect && isVariable(expr.args[0], variable)) {
    const field = expr.args[1]
    if (field?.kind === 'constant' && field.constant.type === 'string') found.add(field.constant.value)
  }
  for (const part of subexpressions(expr)) collectFields(part, variable, found)
}

function isVariable(expr: Expr | undefined, variable: string): boolean {
  return expr?.kind === 'ident' && expr.name === variable
}
