import { type Authorize, Authorizer, ResourceCheck } from '@orch/cel/authorizer'
import { CelError, MapView, Meter, unlimitedMeter } from '@orch/cel/values'
import { viewOf } from '@orch/cel/views'
import { knownReleases } from '../feature-gates.ts'
import { type LevelText, textAt } from '../meta/level-text.ts'
import { policyView } from './declared.ts'
import type { Compiled } from './language.ts'

/** Maximum cost of one expression. */
const expressionCostMax = 1_000_000
/** Maximum total cost of all expressions of one kind, per binding, request and parameter. */
export const policyCostMax = 10_000_000
/** Maximum total cost of all match conditions. */
export const conditionsCostMax = 2_500_000

/** The input of expressions as JSON. An absent value is null. */
export interface PolicyInput {
  readonly object: unknown
  readonly oldObject: unknown
  readonly request: AdmissionRequestInput
  readonly params: unknown
  readonly namespaceObject: unknown
  /** Authorizes for the request's user. */
  readonly authorize: Authorize
}

/** The variable `request`. Empty members are absent. */
export interface AdmissionRequestInput {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly requestKind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly requestResource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly requestSubResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly dryRun: boolean
  readonly options: unknown
}

/** A compiled variable of a policy. */
export interface CompiledVariable {
  readonly name: string
  readonly compiled: Compiled
}

/** The result of an expression. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `isOutOfBudget`: the total budget is exhausted, and no other expression is evaluated. */
  | { readonly kind: 'error'; readonly message: string; readonly isOutOfBudget: boolean }

/** The error of an exhausted budget. */
const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Evaluates expressions for one request. A variable is evaluated once, when first needed. */
export class PolicyEvaluation {
  readonly #variables: Record<string, unknown>
  /** Its cached results hold for all expressions, since the input does not change. */
  readonly #meter = new Meter()
  /** The remaining budget of the current expressions. */
  budget: number
  /** The cost of variables that the current expression was the first to need. */
  #variableCost = 0

  constructor(input: PolicyInput, variables: readonly CompiledVariable[], budget: number) {
    this.budget = budget
    const authorizer = new Authorizer(input.authorize)
    const meter = unlimitedMeter()
    this.#variables = {
      object: input.object ?? null,
      oldObject: input.oldObject ?? null,
      request: viewOf(meter, policyView('request'), input.request),
      params: input.params ?? null,
      namespaceObject: viewOf(meter, policyView('namespace'), input.namespaceObject ?? null),
      authorizer,
      'authorizer.requestResource': requestCheck(authorizer, input.request),
      variables: variables.length === 0 ? noVariables : new VariablesView(variables, (meter, variable) => this.#valueOf(meter, variable)),
    }
  }

  /** Evaluates an expression within the budget. */
  evaluate(compiled: Compiled): Outcome {
    if (compiled.kind === 'malformed')
      return { kind: 'error', message: `compilation error: ${defaultText(compiled.problem)}`, isOutOfBudget: false }
    this.#variableCost = 0
    this.#meter.work = 0
    const result = compiled.program.evaluate(this.#variables, { costLimit: expressionCostMax, meter: this.#meter })
    const cost = result.cost + this.#variableCost
    if (cost > this.budget) {
      this.budget = -1
      return { kind: 'error', message: outOfBudget, isOutOfBudget: true }
    }
    this.budget -= cost
    if (result.kind === 'value') return result
    return { kind: 'error', message: `expression '${compiled.text}' resulted in error: ${result.message}`, isOutOfBudget: false }
  }

  #valueOf(meter: Meter, { name, compiled }: CompiledVariable): unknown {
    if (compiled.kind === 'malformed')
      return new CelError(`composited variable "${name}" fails to compile: ${defaultText(compiled.problem)}`)
    const result = compiled.program.evaluate(this.#variables, { costLimit: expressionCostMax, meter })
    this.#variableCost += result.cost
    if (result.kind === 'value') return result.value
    return new CelError(`composited variable "${name}" fails to evaluate: ${result.message}`)
  }
}

/** The variables of a policy, each evaluated when first needed. */
class VariablesView extends MapView {
  readonly #compiled: readonly CompiledVariable[]
  readonly #evaluate: (meter: Meter, variable: CompiledVariable) => unknown
  readonly #values = new Map<unknown, unknown>()

  constructor(compiled: readonly CompiledVariable[], evaluate: (meter: Meter, variable: CompiledVariable) => unknown) {
    super()
    this.#compiled = compiled
    this.#evaluate = evaluate
  }

  override size(): number {
    return this.#compiled.length
  }

  override get(meter: Meter, key: unknown): unknown {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const variable = this.#compiled.find(({ name }) => name === key)
    if (variable === undefined) return undefined
    const value = this.#evaluate(meter, variable)
    this.#values.set(key, value)
    return value
  }

  override *keys(): Iterable<unknown> {
    for (const { name } of this.#compiled) yield name
  }
}

const noVariables = new VariablesView([], () => undefined)

function requestCheck({ content: { authorize } }: Authorizer, request: AdmissionRequestInput): unknown {
  const { requestSubResource: subresource = '', namespace = '', name = '' } = request
  const { group, resource } = request.requestResource
  return new ResourceCheck({ authorize, question: { kind: 'resource', group, resource, subresource, namespace, name } })
}

/** The text at the default level, since an evaluation has no level. */
function defaultText(text: LevelText): string {
  return textAt(text, knownReleases.byDefault)
}
