import { types } from '@orch/cel/types'
import { type CompiledCondition, compileConditions, meetConditions } from './conditions.ts'
import { type CompiledVariable, type Outcome, PolicyEvaluation, type PolicyInput, policyCostMax } from './evaluation.ts'
import { type Compiled, PolicyLanguage } from './language.ts'
import type { ValidatingPolicySpec, ValidationSpec } from './spec.ts'
import { compileVariables } from './variables.ts'

const messageBytesMax = 5 * 1024
const annotationBytesMax = 10 * 1024

interface CompiledValidation {
  readonly spec: ValidationSpec
  readonly expression: Compiled
  readonly message: Compiled | undefined
}

/** A ValidatingAdmissionPolicy, ready to be evaluated. */
export interface CompiledPolicy {
  readonly isFailing: boolean
  readonly conditions: readonly CompiledCondition[]
  readonly variables: readonly CompiledVariable[]
  readonly validations: readonly CompiledValidation[]
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[]
}

/** Makes a stored policy ready. Expressions that do not compile fail when they are evaluated. */
export function compileValidatingPolicy(spec: ValidatingPolicySpec): CompiledPolicy {
  const hasParams = spec.paramKind !== undefined
  const { language, variables } = compileVariables(spec)
  const messages = new PolicyLanguage({ hasParams, hasAuthorizer: false, variables: language.variables }, 'stored')
  return {
    isFailing: spec.failurePolicy !== 'Ignore',
    conditions: compileConditions(spec.matchConditions, hasParams),
    variables,
    validations: (spec.validations ?? []).map((one) => ({
      spec: one,
      expression: language.compile(one.expression ?? '', [types.bool]),
      message: one.messageExpression ? messages.compile(one.messageExpression, [types.string]) : undefined,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      value: language.compile(valueExpression, [types.string, types.null, types.dyn]),
    })),
  }
}

/** What one validation, or an error that concerns all of them, demands. */
export interface PolicyDecision {
  readonly isDenied: boolean
  /** An error of evaluation, as the failure policy takes it. */
  readonly isError: boolean
  readonly message: string
  readonly reason: string
  /** Place of the validation; 0 for an error that concerns all. */
  readonly index: number
}

/** An annotation for the audit event. */
interface PolicyAnnotation {
  readonly key: string
  readonly value: string
}

/** What a policy says to a request. */
export interface PolicyFindings {
  /** Empty where the match conditions are not met. */
  readonly decisions: readonly PolicyDecision[]
  readonly annotations: readonly PolicyAnnotation[]
}

const nothing: PolicyFindings = { decisions: [], annotations: [] }

/** Evaluates a policy on a request, with one object of parameters at most. */
export function evaluatePolicy(policy: CompiledPolicy, input: PolicyInput): PolicyFindings {
  const failed = (message: string): PolicyFindings => ({
    decisions: [{ isDenied: policy.isFailing, isError: true, message, reason: '', index: 0 }],
    annotations: [],
  })
  if (policy.conditions.length > 0) {
    const met = meetConditions(policy.conditions, input)
    if (met.kind === 'unmet') return nothing
    if (met.kind === 'failed') return policy.isFailing ? failed(met.message) : nothing
  }
  const evaluation = new PolicyEvaluation(input, policy.variables, policyCostMax)
  const outcomes: Outcome[] = []
  for (const { expression } of policy.validations) {
    const outcome = evaluation.evaluate(expression)
    if (outcome.kind === 'error' && outcome.isOutOfBudget) return failed(outcome.message)
    outcomes.push(outcome)
  }
  // Messages use what validations have left.
  const decisions = policy.validations.map((validation, index) => decide(validation, outcomes[index]!, { evaluation, policy, index }))
  evaluation.budget = policyCostMax
  return annotate(policy, decisions, evaluation)
}

interface Deciding {
  readonly evaluation: PolicyEvaluation
  readonly policy: CompiledPolicy
  readonly index: number
}

function decide({ spec, message }: CompiledValidation, outcome: Outcome, { evaluation, policy, index }: Deciding): PolicyDecision {
  if (outcome.kind === 'error') return { isDenied: policy.isFailing, isError: true, message: outcome.message, reason: '', index }
  if (outcome.value === true) return { isDenied: false, isError: false, message: '', reason: '', index }
  const told = message === undefined ? undefined : evaluation.evaluate(message)
  if (told?.kind === 'error' && told.isOutOfBudget) {
    return { isDenied: policy.isFailing, isError: true, message: `failed messageExpression: ${told.message}`, reason: '', index }
  }
  const text = told?.kind === 'value' ? usable(told.value) : ''
  const own = (spec.message ?? '').trim()
  const fallback = own === '' ? `failed expression: ${(spec.expression ?? '').trim()}` : own
  return { isDenied: true, isError: false, message: text === '' ? fallback : text, reason: spec.reason ?? 'Invalid', index }
}

function usable(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.trim()
  return text.includes('\n') || new TextEncoder().encode(text).length > messageBytesMax ? '' : text
}

function annotate(policy: CompiledPolicy, decisions: readonly PolicyDecision[], evaluation: PolicyEvaluation): PolicyFindings {
  const annotations: PolicyAnnotation[] = []
  for (const [index, { key, value }] of policy.annotations.entries()) {
    const outcome = evaluation.evaluate(value)
    if (outcome.kind === 'error') {
      const error = { isDenied: policy.isFailing, isError: true, message: outcome.message, reason: '', index }
      return { decisions: [...decisions, error], annotations }
    }
    if (typeof outcome.value !== 'string') continue
    const text = outcome.value.trim()
    if (text !== '') annotations.push({ key, value: cut(text, annotationBytesMax) })
  }
  return { decisions, annotations }
}

/** A text of so many bytes at most, without half a character at its end. */
function cut(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= bytesMax) return text
  return new TextDecoder().decode(bytes.subarray(0, bytesMax)).replace(/\uFFFD$/, '')
}
