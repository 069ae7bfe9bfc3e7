import { at } from '@orch/cel/at'
import { types } from '@orch/cel/types'
import { type Steps, timed } from '../steps.ts'
import { type CompiledVariable, conditionsCostMax, PolicyEvaluation, type PolicyInput } from './evaluation.ts'
import { type Compiled, PolicyLanguage } from './language.ts'
import type { MatchConditionSpec } from './spec.ts'

/** A compiled match condition. */
export interface CompiledCondition {
  readonly name: string
  readonly compiled: Compiled
}

/** The combined result of all conditions. */
export type ConditionsOutcome =
  | { readonly kind: 'met'; readonly errors: number }
  /** The first false condition. */
  | { readonly kind: 'unmet'; readonly condition: string; readonly errors: number }
  /** No condition is false, but some failed: the failure policy decides. */
  | { readonly kind: 'failed'; readonly message: string; readonly errors: number }

/** Compiles match conditions. Those of webhooks have no parameters. */
export function compileConditions(conditions: readonly MatchConditionSpec[] = [], hasParams = false): readonly CompiledCondition[] {
  if (conditions.length === 0) return []
  const language = new PolicyLanguage({ hasParams, hasAuthorizer: true }, 'stored')
  return conditions.map(({ name = '', expression = '' }) => ({ name, compiled: language.compile(expression, [types.bool]) }))
}

const noVariables: readonly CompiledVariable[] = []

/** Results of conditions for metrics. */
export interface ConditionsReport {
  /** True if a condition is false. */
  readonly isExcluded: boolean
  readonly errors: number
  readonly elapsedMs: number
}

/** Like `meetConditions`, with counts. */
export function* reportConditions(
  conditions: readonly CompiledCondition[],
  input: PolicyInput,
  now: () => number,
): Steps<{ readonly outcome: ConditionsOutcome; readonly report: ConditionsReport }> {
  const { result: outcome, elapsedMs } = yield* timed(meetConditions(conditions, input), now)
  return { outcome, report: { isExcluded: outcome.kind === 'unmet', errors: outcome.errors, elapsedMs } }
}

/** Evaluates match conditions, each in a step. A false condition decides, whatever the errors of others. */
export function* meetConditions(conditions: readonly CompiledCondition[], input: PolicyInput): Steps<ConditionsOutcome> {
  const evaluation = new PolicyEvaluation(input, noVariables, conditionsCostMax)
  const messages: string[] = []
  for (const { name, compiled } of conditions) {
    const outcome = evaluation.evaluate(compiled)
    if (outcome.kind === 'error') {
      if (outcome.isOutOfBudget) return { kind: 'failed', message: outcome.message, errors: messages.length + 1 }
      messages.push(outcome.message)
    } else if (outcome.value !== true) return { kind: 'unmet', condition: name, errors: messages.length }
    yield
  }
  if (messages.length === 0) return { kind: 'met', errors: 0 }
  return { kind: 'failed', message: messages.length === 1 ? at(messages, 0) : `[${messages.join(', ')}]`, errors: messages.length }
}
