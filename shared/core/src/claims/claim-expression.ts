import type { Expr } from '@orch/cel/ast'
import { Environment } from '@orch/cel/environment'
import { kubernetesLibraries } from '@orch/cel/kubernetes'
import { plan } from '@orch/cel/plan'
import { type CelType, listOf, mapOf, objectOf, type TypeProvider, types } from '@orch/cel/types'
import { isList, itemsOf } from '@orch/cel/values'
import type { User } from '../contracts/index.ts'

/** An expression that is ready to be evaluated. */
export interface ClaimExpression<Input> {
  readonly kind: 'expression'
  readonly text: string
  /** Names of the claims that it selects from `claims`. */
  readonly claims: ReadonlySet<string>
  evaluate(input: Input): ClaimOutcome
}

/** An expression that does not compile. `problem` begins as in kube-apiserver: `compilation failed: …`. */
export interface Malformed {
  readonly kind: 'malformed'
  readonly problem: string
}

/** What an expression comes to: texts and truth values as they are, lists as arrays, other values as values of CEL. */
type ClaimOutcome = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'error'; readonly message: string }

/** Claims of a token. */
type Claims = Readonly<Record<string, unknown>>

/** What one evaluation may cost; kube-apiserver sets no bound here. */
const costMax = 1_000_000

const userName = 'kubernetes.UserInfo'
const { string, dyn, bool } = types
const userFields: Readonly<Record<string, CelType>> = {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
}

const userTypes: TypeProvider = {
  findType: (name) => (name === userName ? objectOf(userName) : undefined),
  findField: (type, field) => (type === userName && Object.hasOwn(userFields, field) ? userFields[field] : undefined),
}

const environment = new Environment({ libraries: kubernetesLibraries })
const ofClaims = environment.extend({ variables: { claims: mapOf(string, dyn) } })
const ofUser = environment.extend({ variables: { user: objectOf(userName) }, provider: userTypes })

/** What an expression must give: `condition` is true or false. */
export type Purpose = 'value' | 'condition'

/** Compiles an expression about the variable `claims`. */
export function compileClaims(text: string, purpose: Purpose): ClaimExpression<Claims> | Malformed {
  return compile<Claims>(ofClaims, { text, purpose, toVariables: (claims) => ({ claims }) })
}

/** Compiles a condition about the variable `user`. */
export function compileUser(text: string): ClaimExpression<User> | Malformed {
  const toVariables = ({ name, uid, groups, extra }: User) => ({ user: { username: name, uid, groups, extra } })
  return compile<User>(ofUser, { text, purpose: 'condition', toVariables })
}

interface Compiling<Input> {
  readonly text: string
  readonly purpose: Purpose
  readonly toVariables: (input: Input) => Readonly<Record<string, unknown>>
}

function compile<Input>(language: Environment, { text, purpose, toVariables }: Compiling<Input>): ClaimExpression<Input> | Malformed {
  const compiled = language.compile(text)
  if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}` }
  const { ast } = compiled
  if (purpose === 'condition' && ast.type.kind !== bool.kind) return { kind: 'malformed', problem: 'must evaluate to bool' }
  const planned = plan(ast)
  if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}` }
  const { program } = planned
  const claims = new Set<string>()
  collectClaims(ast.expr, claims)
  return {
    kind: 'expression',
    text,
    claims,
    evaluate(input) {
      const result = program.evaluate(toVariables(input), { costLimit: costMax })
      if (result.kind !== 'value') return { kind: 'error', message: result.message }
      return { kind: 'value', value: isList(result.value) ? [...itemsOf(result.value)] : result.value }
    },
  }
}

/** Adds the fields that are selected from `claims` itself: `claims.a`, `has(claims.a)` and `claims.?a`, not `claims['a']`. */
function collectClaims(expr: Expr, found: Set<string>): void {
  if (expr.kind === 'select' && isClaims(expr.operand)) found.add(expr.field)
  if (expr.kind === 'call' && expr.name === '_?._' && isClaims(expr.args[0])) {
    const field = expr.args[1]
    if (field?.kind === 'constant' && field.constant.type === 'string') found.add(field.constant.value)
  }
  for (const part of partsOf(expr)) collectClaims(part, found)
}

function isClaims(expr: Expr | undefined): boolean {
  return expr?.kind === 'ident' && expr.name === 'claims'
}

function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'constant':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
  }
}
