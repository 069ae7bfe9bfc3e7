import type { Attributes, CallContext } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { StatusError } from '@orch/core/meta'
import {
  type AdmissionRequestInput,
  type CompiledPolicy,
  type ConditionsReport,
  compileValidatingPolicy,
  evaluatePolicy,
  type ValidatingPolicySpec,
} from '@orch/core/policies'
import { requireType } from '@orch/core/schema'
import type { Steps } from '@orch/core/steps'
import { type Pause, pauses, runWithPauses } from '@orch/platform'
import type { RequestVersion } from '../matching/equivalents.ts'
import type { Match } from '../matching/match.ts'
import { AskedAccesses, requestInputOf, type SeenRequest } from '../matching/request-input.ts'
import { allowed, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { readNamespace, unlessUnconverted } from '../webhooks/plugin-parts.ts'
import type { BoundPolicy, PolicyBinding, PolicyKind } from './bound-policies.ts'
import { CheckCounts } from './check-counts.ts'
import { Findings, verdictOf } from './findings.ts'
import { matchResources, needsFor } from './match-resources.ts'
import { PolicyPlugin } from './policy-plugin.ts'

/** ValidatingAdmissionPolicy: policies in CEL that may refuse, warn and annotate. */
export function validatingAdmissionPolicy(needs: PluginNeeds): Plugin {
  return new ValidatingPolicies(needs)
}

type Bound = BoundPolicy<ValidatingPolicySpec, CompiledPolicy>

const kind: PolicyKind<ValidatingPolicySpec, CompiledPolicy> = {
  plugin: 'ValidatingAdmissionPolicy',
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
  phase: 'validate',
  specOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicy', object).spec ?? {},
  bindingOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicyBinding', object).spec ?? {},
  compile: compileValidatingPolicy,
}

/** One request, with its facts for all policies. */
interface PolicyRequest {
  readonly attributes: Attributes
  readonly context: CallContext
  readonly needs: ReturnType<typeof needsFor>
  /** The object for the last policy. */
  input: { readonly asVersion: RequestVersion; readonly value: AdmissionRequestInput } | undefined
  /** Loaded when a policy needs it. */
  namespace: Promise<unknown> | undefined
  /** The findings of policies without authorization checks. */
  readonly findings: Map<Bound, Findings>
  /** Yields between policies: they may be many, and each may take long. */
  readonly pause: Pause
}

class ValidatingPolicies extends PolicyPlugin<ValidatingPolicySpec, CompiledPolicy> implements Plugin {
  readonly #checks = new CheckCounts()
  /** Requests that wait for answers of the authorizer; within one process they return with the same attributes object. */
  readonly #asking = new WeakMap<Attributes, PolicyRequest>()

  constructor(needs: PluginNeeds) {
    super(kind, needs)
  }

  validate(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict> {
    if (this.isPassedOver(attributes)) return allowed
    const { isReady, ready } = this.policies
    return isReady ? this.#validate(attributes, inquiry) : ready.then(() => this.#validate(attributes, inquiry))
  }

  #validate(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict> {
    const accesses = new AskedAccesses(inquiry)
    const request = this.#asking.get(attributes) ?? this.#begin(attributes, inquiry)
    const all: Findings[] = []
    const waiting = inTurn(this.policies.about(attributes), (bound) => {
      const known = request.findings.get(bound)
      const findings = known ?? new Findings(this.#checks)
      all.push(findings)
      if (known !== undefined) return undefined
      const unknown = accesses.unknownCount
      return after(this.#evaluate(bound, { request, accesses, findings }), () => {
        if (accesses.unknownCount === unknown) request.findings.set(bound, findings)
      })
    })
    const conclude = () => {
      const { question } = accesses
      if (question === undefined) return verdictOf(attributes, all, this.needs.catalogue.names)
      this.#asking.set(attributes, request)
      return question
    }
    return waiting === undefined ? conclude() : waiting.then(conclude)
  }

  #begin(attributes: Attributes, { context }: Inquiry): PolicyRequest {
    const needs = needsFor(attributes, this.match)
    return { attributes, context, needs, input: undefined, namespace: undefined, findings: new Map(), pause: pauses() }
  }

  #evaluate(bound: Bound, evaluation: Evaluation): void | Promise<void> {
    const { attributes, needs } = evaluation.request
    const match = matchResources(bound.policy.matched, attributes, needs)
    return match instanceof Promise
      ? match.then((found) => this.#evaluateMatched(bound, evaluation, found))
      : this.#evaluateMatched(bound, evaluation, match)
  }

  #evaluateMatched(bound: Bound, evaluation: Evaluation, match: Match): void | Promise<void> {
    const { request, findings } = evaluation
    if (match.kind === 'undecided') findings.misconfigured(bound.policy, undefined, match.error.status.message ?? '')
    if (match.kind !== 'called') return undefined
    const { attributes, needs } = request
    const { asVersion } = match
    const { object, oldObject } = attributes
    if (asVersion === needs.own)
      return this.#evaluateBindings(bound, evaluation, { attributes, own: needs.own, asVersion, object, oldObject })
    return this.#evaluateConverted(bound, evaluation, asVersion)
  }

  async #evaluateConverted(bound: Bound, evaluation: Evaluation, asVersion: RequestVersion): Promise<void> {
    const { attributes, needs, context } = evaluation.request
    const { own } = needs
    const convert = async (object: unknown) => this.converter.convert(object, own, asVersion, context)
    const converted = await unlessUnconverted(async () => ({
      object: await convert(attributes.object),
      oldObject: await convert(attributes.oldObject),
    }))
    if (converted instanceof StatusError) evaluation.findings.misconfigured(bound.policy, undefined, converted.message)
    else await this.#evaluateBindings(bound, evaluation, { attributes, own, asVersion, ...converted })
  }

  #evaluateBindings({ policy, bindings }: Bound, evaluation: Evaluation, seen: SeenRequest): void | Promise<void> {
    return inTurn(bindings, (binding) => {
      const evaluating = { ...evaluation, policy, binding, seen }
      const hasParams = policy.spec.paramKind != null && binding.spec.paramRef != null
      const mayWait = binding.matched !== undefined || hasParams || policy.compiled.reads.namespace
      return mayWait ? this.#evaluateLater(evaluating) : this.#decide(evaluating, withoutParams, null)
    })
  }

  /** Inputs that are read first: labels of the namespace, parameters, the namespace itself. */
  async #evaluateLater(evaluating: Evaluating): Promise<void> {
    const { policy, binding, request, seen, findings } = evaluating
    const { attributes, needs } = request
    const match = binding.matched === undefined ? undefined : await matchResources(binding.matched, attributes, needs)
    if (match?.kind === 'passed over') return
    if (match?.kind === 'undecided') {
      findings.misconfigured(policy, binding, match.error.status.message ?? '')
      return
    }
    const read = await this.params.read(policy.spec.paramKind, binding.spec.paramRef, inputOf(request, seen).namespace)
    if (read.kind !== 'params') {
      findings.misconfigured(policy, read.kind === 'unknown' ? undefined : binding, read.message)
      return
    }
    await this.#decide(evaluating, read.params, policy.compiled.reads.namespace ? await this.#namespaceOf(request) : null)
  }

  #decide(
    { policy, binding, request, seen, accesses, findings }: Evaluating,
    allParams: readonly unknown[],
    namespaceObject: unknown,
  ): void | Promise<void> {
    const { object, oldObject, attributes } = seen
    const input = inputOf(request, seen)
    const now = () => this.needs.clock.monotonic()
    const owner = { owner: policy, name: policy.name, kind: 'policy', type: 'validate' } as const
    const conditionsOf = (report: ConditionsReport) => this.conditions.of(report, owner, attributes.operation)
    const decideInSteps = function* (): Steps<void> {
      for (const params of allParams) {
        const all = { object, oldObject, request: input, params, namespaceObject, authorize: accesses.authorize }
        const found = yield* evaluatePolicy(policy.compiled, all, now)
        for (const decision of found.decisions) findings.decide(policy, binding, decision)
        for (const { key, value } of found.annotations) findings.annotations.push({ key: `${policy.name}/${key}`, value })
        if (found.conditions !== undefined) findings.counts.push(...conditionsOf(found.conditions))
      }
    }
    return runWithPauses(decideInSteps(), request.pause)
  }

  #namespaceOf(request: PolicyRequest): Promise<unknown> {
    request.namespace ??= readNamespace(request.attributes, this.needs)
    return request.namespace
  }
}

/** One policy's evaluation of one request. */
interface Evaluation {
  readonly request: PolicyRequest
  readonly accesses: AskedAccesses
  readonly findings: Findings
}

interface Evaluating extends Evaluation {
  readonly policy: Bound['policy']
  readonly binding: PolicyBinding
  readonly seen: SeenRequest
}

const withoutParams: readonly unknown[] = [null]

/** The variable `request`, built once for all policies with the same version of the request. */
function inputOf(request: PolicyRequest, seen: SeenRequest): AdmissionRequestInput {
  if (request.input?.asVersion !== seen.asVersion) request.input = { asVersion: seen.asVersion, value: requestInputOf(seen) }
  return request.input.value
}

/** Runs steps in sequence, synchronously if none has to wait, as in most policies. */
function inTurn<T>(items: readonly T[], step: (item: T) => void | Promise<void>, first = 0): void | Promise<void> {
  for (let index = first; index < items.length; index++) {
    const waiting = step(at(items, index))
    if (waiting !== undefined) return waiting.then(() => inTurn(items, step, index + 1))
  }
  return undefined
}

function after(waiting: void | Promise<void>, next: () => void): void | Promise<void> {
  return waiting === undefined ? next() : waiting.then(next)
}
