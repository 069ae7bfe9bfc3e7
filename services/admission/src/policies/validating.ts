import type { Attributes, CallContext } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { type CompiledPolicy, compileValidatingPolicy, evaluatePolicy, type ValidatingPolicySpec } from '@orch/core/policies'
import { requireType } from '@orch/core/schema'
import { allowed, type Inquiry, type Plugin, type PluginNeeds, type Registration, type Verdict } from '../plugin.ts'
import { isAboutAdmission } from '../webhooks/about-admission.ts'
import { createEquivalents } from '../webhooks/equivalents.ts'
import type { MatchNeeds } from '../webhooks/match.ts'
import { readLabels, readNamespace, unlessUnconverted } from '../webhooks/plugin-parts.ts'
import { createVersionConverter, type VersionConverter } from '../webhooks/version-converter.ts'
import { BoundPolicies, type BoundPolicy, type PolicyBinding, type PolicyKind } from './bound-policies.ts'
import { CheckCounts, ConditionCounts } from './counts.ts'
import { Findings, verdictOf } from './findings.ts'
import { matchResources, needsFor } from './match-resources.ts'
import { Params } from './params.ts'
import { AskedAccesses, requestInputOf, type SeenRequest } from './request-input.ts'

/** ValidatingAdmissionPolicy: policies in CEL that may refuse, warn and annotate. */
export const validatingAdmissionPolicy: Registration = {
  isDefault: true,
  create: (needs) => new ValidatingPolicies(needs),
}

type Bound = BoundPolicy<ValidatingPolicySpec, CompiledPolicy>

const kind: PolicyKind<ValidatingPolicySpec, CompiledPolicy> = {
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
  phase: 'validate',
  specOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicy', object).spec ?? {},
  bindingOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicyBinding', object).spec ?? {},
  compile: compileValidatingPolicy,
}

/** One request, and what is known of it for all policies. */
interface PolicyRequest {
  readonly attributes: Attributes
  readonly context: CallContext
  readonly needs: ReturnType<typeof needsFor>
  /** Read when a policy needs it. */
  namespace: Promise<unknown> | undefined
  /** What policies that had no question for the authorizer have found. */
  readonly findings: Map<Bound, Findings>
}

class ValidatingPolicies implements Plugin {
  readonly name = 'ValidatingAdmissionPolicy'
  readonly #needs: PluginNeeds
  readonly #policies: BoundPolicies<ValidatingPolicySpec, CompiledPolicy>
  readonly #match: MatchNeeds
  readonly #converter: VersionConverter
  readonly #params: Params
  readonly #checks = new CheckCounts()
  readonly #conditions = new ConditionCounts()
  /** Requests that wait for answers of the authorizer; within one process they come back as the same attributes. */
  readonly #asking = new WeakMap<Attributes, PolicyRequest>()

  constructor(needs: PluginNeeds) {
    const equivalents = createEquivalents(needs.catalogue)
    this.#needs = needs
    this.#policies = new BoundPolicies(kind, needs, equivalents)
    this.#match = { equivalents, labelsOf: (namespace) => readLabels(namespace, needs) }
    this.#converter = createVersionConverter(needs)
    this.#params = new Params(needs.storage, needs.catalogue)
  }

  get admissionRules() {
    return this.#policies.admissionRules
  }

  admissionRuleSources() {
    return this.#policies.sources
  }

  onAdmissionRulesChange(listener: () => void): void {
    this.#policies.onChange(listener)
  }

  validate(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict> {
    return isAboutAdmission(attributes, this.#needs.catalogue.names) ? allowed : this.#validate(attributes, inquiry)
  }

  close(): void {
    this.#policies.close()
    this.#converter.close()
  }

  async #validate(attributes: Attributes, inquiry: Inquiry): Promise<Verdict> {
    await this.#policies.ready
    const accesses = new AskedAccesses(inquiry)
    const request = this.#asking.get(attributes) ?? this.#begin(attributes, inquiry)
    const all: Findings[] = []
    for (const bound of this.#policies.about(attributes)) {
      const unknown = accesses.unknownCount
      const findings = request.findings.get(bound) ?? (await this.#evaluate(bound, request, accesses))
      if (accesses.unknownCount === unknown) request.findings.set(bound, findings)
      all.push(findings)
    }
    const { question } = accesses
    if (question === undefined) return verdictOf(attributes, all, this.#needs.catalogue.names)
    this.#asking.set(attributes, request)
    return question
  }

  #begin(attributes: Attributes, { context }: Inquiry): PolicyRequest {
    return { attributes, context, needs: needsFor(attributes, this.#match), namespace: undefined, findings: new Map() }
  }

  async #evaluate({ policy, bindings }: Bound, request: PolicyRequest, accesses: AskedAccesses): Promise<Findings> {
    const { attributes, needs } = request
    const findings = new Findings(this.#checks)
    const match = await matchResources(policy.matched, attributes, needs)
    if (match.kind === 'undecided') findings.misconfigured(policy, undefined, match.error.status.message ?? '')
    if (match.kind !== 'called') return findings
    const { asVersion } = match
    const { own } = needs
    const convert = async (object: unknown) => this.#converter.convert(object, own, asVersion, request.context)
    const converted = await unlessUnconverted(async () => ({
      object: await convert(attributes.object),
      oldObject: await convert(attributes.oldObject),
    }))
    if (converted instanceof StatusError) {
      findings.misconfigured(policy, undefined, converted.message)
      return findings
    }
    const seen = { attributes, own, asVersion, ...converted }
    for (const binding of bindings) await this.#evaluateBinding({ policy, binding, request, seen, accesses, findings })
    return findings
  }

  async #evaluateBinding({ policy, binding, request, seen, accesses, findings }: Evaluating): Promise<void> {
    const { attributes, needs } = request
    const match = binding.matched === undefined ? undefined : await matchResources(binding.matched, attributes, needs)
    if (match?.kind === 'passed over') return
    if (match?.kind === 'undecided') {
      findings.misconfigured(policy, binding, match.error.status.message ?? '')
      return
    }
    const input = requestInputOf(seen)
    const read = await this.#params.read(policy.spec.paramKind, binding.spec.paramRef, input.namespace)
    if (read.kind !== 'params') {
      findings.misconfigured(policy, read.kind === 'unknown' ? undefined : binding, read.message)
      return
    }
    const { compiled } = policy
    const namespaceObject = compiled.reads.namespace ? await this.#namespaceOf(request) : null
    const { object, oldObject } = seen
    const now = () => this.#needs.clock.monotonic()
    const owner = { owner: policy, name: policy.name, kind: 'policy', type: 'validate' } as const
    for (const params of read.params) {
      const all = { object, oldObject, request: input, params, namespaceObject, authorize: accesses.authorize }
      const found = evaluatePolicy(compiled, all, now)
      for (const decision of found.decisions) findings.decide(policy, binding, decision)
      for (const { key, value } of found.annotations) findings.annotations.push({ key: `${policy.name}/${key}`, value })
      if (found.conditions !== undefined) findings.counts.push(...this.#conditions.of(found.conditions, owner, attributes.operation))
    }
  }

  #namespaceOf(request: PolicyRequest): Promise<unknown> {
    request.namespace ??= readNamespace(request.attributes, this.#needs)
    return request.namespace
  }
}

interface Evaluating {
  readonly policy: Bound['policy']
  readonly binding: PolicyBinding
  readonly request: PolicyRequest
  readonly seen: SeenRequest
  readonly accesses: AskedAccesses
  readonly findings: Findings
}
