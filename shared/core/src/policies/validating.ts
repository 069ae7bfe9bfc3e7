import { at } from '@orch/cel/at'
import { types } from '@orch/cel/types'
import type { Steps } from '../steps.ts'
import { type CompiledCondition, type ConditionsReport, compileConditions, reportConditions } from './conditions.ts'
import { type CompiledVariable, type Outcome, PolicyEvaluation, type PolicyInput, policyCostMax } from './evaluation.ts'
import { type Compiled, PolicyLanguage, type PolicyReads, readsOf } from './language.ts'
import type { ValidatingPolicySpec, ValidationSpec } from './spec.ts'
import { compileVariables } from './variables.ts'

const messageBytesMax = 5 * 1024
const annotationBytesMax = 10 * 1024

interface CompiledValidation {
  readonly spec: ValidationSpec
  readonly expression: Compiled
  readonly message: Compiled | undefined
}

/** A compiled ValidatingAdmissionPolicy. */
export interface CompiledPolicy {
  readonly isFailing: boolean
  readonly conditions: readonly CompiledCondition[]
  readonly variables: readonly CompiledVariable[]
  readonly validations: readonly CompiledValidation[]
  readonly annotations: readonly { readonly key: string; readonly value: Compiled }[]
  readonly reads: PolicyReads
}

/** Compiles a stored policy. Expressions that do not compile fail at evaluation. */
export function compileValidatingPolicy(spec: ValidatingPolicySpec): CompiledPolicy {
  const hasParams = spec.paramKind !== undefined
  const { language, variables } = compileVariables(spec)
  const messages = new PolicyLanguage({ hasParams, hasAuthorizer: false, variables: language.variables }, 'stored')
  const conditions = compileConditions(spec.matchConditions, hasParams)
  const validations = (spec.validations ?? []).map((one) => ({
    spec: one,
    expression: language.compile(one.expression ?? '', [types.bool]),
    message: one.messageExpression ? messages.compile(one.messageExpression, [types.string]) : undefined,
  }))
  const annotations = (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
    key,
    value: language.compile(valueExpression, [types.string, types.null]),
  }))
  const expressions = [
    ...[...conditions, ...variables].map(({ compiled }) => compiled),
    ...validations.flatMap(({ expression, message }) => [expression, message]),
    ...annotations.map(({ value }) => value),
  ]
  return {
    isFailing: spec.failurePolicy !== 'Ignore',
    conditions,
    variables,
    validations,
    annotations,
    reads: readsOf(expressions),
  }
}

/** The decision of one validation, or an error that concerns all. */
export interface PolicyDecision {
  readonly isDenied: boolean
  /** True for an evaluation error, to which the failure policy applies. */
  readonly isError: boolean
  readonly message: string
  readonly reason: string
  /** The index of the validation; 0 for an error that concerns all. */
  readonly index: number
  /** The duration of evaluating its expression. */
  readonly elapsedMs: number
}

/** An annotation of the audit event. */
interface PolicyAnnotation {
  readonly key: string
  readonly value: string
}

/** The result of a policy for a request. */
export interface PolicyFindings {
  /** Empty if the match conditions are not met. */
  readonly decisions: readonly PolicyDecision[]
  readonly annotations: readonly PolicyAnnotation[]
  /** Undefined if the policy has no match conditions. */
  readonly conditions?: ConditionsReport
}

/** Evaluates a policy for a request, with at most one parameter object, in a step for each expression. `now` measures durations. */
export function* evaluatePolicy(policy: CompiledPolicy, input: PolicyInput, now: () => number = () => 0): Steps<PolicyFindings> {
  if (policy.conditions.length === 0) return yield* evaluateValidations(policy, input, now)
  const { outcome, report } = yield* reportConditions(policy.conditions, input, now)
  if (outcome.kind === 'met') return { ...(yield* evaluateValidations(policy, input, now)), conditions: report }
  const isFailed = outcome.kind === 'failed' && policy.isFailing
  return { ...(isFailed ? failed(policy, outcome.message, report.elapsedMs) : nothing), conditions: report }
}

const nothing: PolicyFindings = { decisions: [], annotations: [] }

function failed({ isFailing }: CompiledPolicy, message: string, elapsedMs: number): PolicyFindings {
  return { decisions: [{ isDenied: isFailing, isError: true, message, reason: '', index: 0, elapsedMs }], annotations: [] }
}

function* evaluateValidations(policy: CompiledPolicy, input: PolicyInput, now: () => number): Steps<PolicyFindings> {
  const evaluation = new PolicyEvaluation(input, policy.variables, policyCostMax)
  const outcomes: { readonly outcome: Outcome; readonly elapsedMs: number }[] = []
  for (const { expression } of policy.validations) {
    const beganMs = now()
    const outcome = evaluation.evaluate(expression)
    const elapsedMs = now() - beganMs
    if (outcome.kind === 'error' && outcome.isOutOfBudget) return failed(policy, outcome.message, elapsedMs)
    outcomes.push({ outcome, elapsedMs })
    yield
  }
  // Messages use the remaining budget of the validations.
  const decisions: PolicyDecision[] = []
  for (const [index, validation] of policy.validations.entries()) {
    const { outcome, elapsedMs } = at(outcomes, index)
    decisions.push(decide(validation, outcome, { evaluation, policy, index, elapsedMs }))
    yield
  }
  evaluation.budget = policyCostMax
  return yield* annotate(policy, decisions, evaluation)
}

interface Deciding {
  readonly evaluation: PolicyEvaluation
  readonly policy: CompiledPolicy
  readonly index: number
  readonly elapsedMs: number
}

function decide({ spec, message }: CompiledValidation, outcome: Outcome, { evaluation, policy, ...place }: Deciding): PolicyDecision {
  if (outcome.kind === 'error') return { isDenied: policy.isFailing, isError: true, message: outcome.message, reason: '', ...place }
  if (outcome.value === true) return { isDenied: false, isError: false, message: '', reason: '', ...place }
  const told = message === undefined ? undefined : evaluation.evaluate(message)
  if (told?.kind === 'error' && told.isOutOfBudget) {
    return { isDenied: policy.isFailing, isError: true, message: `failed messageExpression: ${told.message}`, reason: '', ...place }
  }
  const text = told?.kind === 'value' ? usable(told.value) : ''
  const own = (spec.message ?? '').trim()
  const fallback = own === '' ? `failed expression: ${(spec.expression ?? '').trim()}` : own
  return { isDenied: true, isError: false, message: text === '' ? fallback : text, reason: spec.reason ?? 'Invalid', ...place }
}

function usable(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.trim()
  return text.includes('\n') || new TextEncoder().encode(text).length > messageBytesMax ? '' : text
}

function* annotate(policy: CompiledPolicy, decisions: readonly PolicyDecision[], evaluation: PolicyEvaluation): Steps<PolicyFindings> {
  const annotations: PolicyAnnotation[] = []
  for (const [index, { key, value }] of policy.annotations.entries()) {
    const outcome = evaluation.evaluate(value)
    yield
    if (outcome.kind === 'error') {
      const error = { isDenied: policy.isFailing, isError: true, message: outcome.message, reason: '', index, elapsedMs: 0 }
      return { decisions: [...decisions, error], annotations }
    }
    if (typeof outcome.value !== 'string') continue
    const text = outcome.value.trim()
    if (text !== '') annotations.push({ key, value: cut(text, annotationBytesMax) })
  }
  return { decisions, annotations }
}

/** Truncates a text to a number of bytes, without splitting a character. */
function cut(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= bytesMax) return text
  return new TextDecoder().decode(bytes.subarray(0, bytesMax)).replace(/\uFFFD$/, '')
}
