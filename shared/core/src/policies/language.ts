import type { Environment } from '@orch/cel/environment'
import { patchLibrary } from '@orch/cel/kubernetes'
import { plan } from '@orch/cel/plan'
import { type CelType, printType, types } from '@orch/cel/types'
import { createEnvironment, type ExpressionAge } from '../expressions/libraries.ts'
import { boundedMemo } from '../memo.ts'
import { type LevelText, textSince } from '../meta/level-text.ts'
import { PolicyTypes, policyTypes } from './declared.ts'
import type { OpenApiTypes } from './openapi-types.ts'

/** A planned expression. */
type Program = Extract<ReturnType<typeof plan>, { readonly kind: 'program' }>['program']

/** The variables that expressions read besides the objects and the request. */
export interface PolicyReads {
  readonly namespace: boolean
  readonly authorizer: boolean
}

/** The result of compiling an expression. */
export type Compiled =
  | {
      readonly kind: 'program'
      readonly program: Program
      readonly type: CelType
      readonly text: string
      readonly reads: PolicyReads
    }
  /** `problem` is kube-apiserver's text: `compilation failed: …`. */
  | { readonly kind: 'malformed'; readonly problem: LevelText; readonly text: string }

/** The allowed result types of an expression. */
export type Wanted = readonly CelType[]

/** The context in which expressions are compiled. */
export interface Surroundings {
  readonly hasParams: boolean
  /** False for message expressions, which cannot use the authorizer. */
  readonly hasAuthorizer: boolean
  /** The types of the policy's known variables by name; undefined if there can be none. */
  readonly variables?: ReadonlyMap<string, CelType>
  /** True if expressions make changes. */
  readonly isMutating?: boolean
  /** The types of the object and of the parameters; undefined for any type. */
  readonly declared?: { readonly object: OpenApiTypes; readonly params: OpenApiTypes | undefined }
}

/** Number of environments: one per level, and one for stored expressions. */
const agesMax = 16

/** Environments by the age of expressions. */
const environmentOf = boundedMemo(agesMax, (age: ExpressionAge) => createEnvironment(age))
/** Environments with the additional library of mutating policies. */
const mutatingEnvironmentOf = boundedMemo(agesMax, (age: ExpressionAge) => createEnvironment(age, [patchLibrary]))

/** The environment for a policy's expressions or match conditions; create it once per context. */
export class PolicyLanguage {
  readonly #environment: Environment
  /** Types of the policy's variables; later compilations see added variables. */
  readonly #variables: Map<string, CelType>

  constructor({ hasParams, hasAuthorizer, variables, isMutating = false, declared }: Surroundings, age: ExpressionAge) {
    this.#variables = new Map(variables)
    const object = declared?.object.root ?? types.dyn
    const providers = declared === undefined ? [] : [declared.object, ...(declared.params === undefined ? [] : [declared.params])]
    this.#environment = (isMutating ? mutatingEnvironmentOf : environmentOf)(age).extend({
      variables: {
        object,
        oldObject: object,
        request: policyTypes.request,
        namespaceObject: policyTypes.namespace,
        ...(hasParams ? { params: declared?.params?.root ?? types.dyn } : {}),
        ...(variables === undefined ? {} : { variables: policyTypes.variables }),
        ...(hasAuthorizer ? { authorizer: policyTypes.authorizer, 'authorizer.requestResource': policyTypes.requestResource } : {}),
      },
      provider: new PolicyTypes(this.#variables, isMutating, providers),
    })
  }

  /** Compiles an expression. `wanted` are the allowed result types; empty for any type. */
  compile(text: string, wanted: Wanted = []): Compiled {
    const compiled = this.#environment.compile(text)
    if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}`, text }
    const { ast } = compiled
    if (wanted.length > 0 && !wanted.some((type) => isOfType(type, ast.type))) {
      return { kind: 'malformed', problem: wantedText(wanted, ast.type), text }
    }
    const planned = plan(ast)
    if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}`, text }
    const names = [...ast.references.values()].map((reference) => (reference.kind === 'variable' ? reference.name : ''))
    const reads = { namespace: names.includes('namespaceObject'), authorizer: names.some((name) => /^authorizer\b/.test(name)) }
    return { kind: 'program', program: planned.program, type: ast.type, text, reads }
  }

  /** The type errors of an expression as cel-go prints them; undefined if there are none. */
  problemOf(text: string): string | undefined {
    const compiled = this.#environment.compile(text)
    return compiled.kind === 'invalid' ? compiled.message : undefined
  }

  /** Adds a policy variable. A variable that does not compile has any type, so that only its own error is reported. */
  define(name: string, compiled: Compiled): void {
    this.#variables.set(name, compiled.kind === 'program' ? compiled.type : types.dyn)
  }

  /** The types of the variables so far. */
  get variables(): ReadonlyMap<string, CelType> {
    return this.#variables
  }
}

/** The variables that at least one expression reads. */
export function readsOf(expressions: readonly (Compiled | undefined)[]): PolicyReads {
  const programs = expressions.filter((one) => one?.kind === 'program')
  return { namespace: programs.some(({ reads }) => reads.namespace), authorizer: programs.some(({ reads }) => reads.authorizer) }
}

function isOfType(wanted: CelType, type: CelType): boolean {
  if (wanted.kind === 'object') return type.kind === 'object' && type.name === wanted.name
  if (wanted.kind === 'list') return type.kind === 'list' && isOfType(wanted.element, type.element)
  return wanted.kind === type.kind
}

function wantedText(wanted: Wanted, given: CelType): LevelText {
  const print = (type: CelType) => (type.kind === 'null' ? 'null_type' : printType(type))
  const names = wanted.map(print)
  const text = names.length > 1 ? `one of [${names.join(' ')}]` : names[0]
  return textSince(32, { before: `must evaluate to ${text}`, after: `must evaluate to ${text} but got ${print(given)}` })
}
