import type { Attributes, AuditAnnotation, MetricCount } from '@orch/core/contracts'
import { forbidden, StatusError } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import {
  type CompiledPolicy,
  compileValidatingPolicy,
  evaluatePolicy,
  type PolicyDecision,
  type ValidatingPolicySpec,
} from '@orch/core/policies'
import { requireType } from '@orch/core/schema'
import { allowed, denied, type Inquiry, type Plugin, type PluginNeeds, type Registration, type Verdict } from '../plugin.ts'
import { isAboutAdmission } from '../webhooks/about-admission.ts'
import { createEquivalents } from '../webhooks/equivalents.ts'
import type { MatchNeeds } from '../webhooks/match.ts'
import { readLabels, readNamespace } from '../webhooks/plugin-parts.ts'
import { createVersionConverter, type VersionConverter } from '../webhooks/version-converter.ts'
import { BoundPolicies, type BoundPolicy, type PolicyBinding, type PolicyKind, type StoredPolicy } from './bound-policies.ts'
import { matchResources } from './match-resources.ts'
import { Params } from './params.ts'
import { AskedAccesses, requestInputOf, type SeenRequest } from './request-input.ts'

/** ValidatingAdmissionPolicy: policies in CEL that may refuse, warn and annotate. */
export const validatingAdmissionPolicy: Registration = {
  isDefault: true,
  create: (needs) => new ValidatingPolicies(needs),
}

type Policy = StoredPolicy<ValidatingPolicySpec, CompiledPolicy>

const kind: PolicyKind<ValidatingPolicySpec, CompiledPolicy> = {
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
  phase: 'validate',
  specOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicy', object).spec ?? {},
  bindingOf: (object) => requireType('admissionregistration/v1.ValidatingAdmissionPolicyBinding', object).spec ?? {},
  compile: compileValidatingPolicy,
}

/** Status codes of the reasons that a policy can give. */
const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 }

/** Failures that one audit annotation names. */
const auditedFailuresMax = 50

class ValidatingPolicies implements Plugin {
  readonly name = 'ValidatingAdmissionPolicy'
  readonly #needs: PluginNeeds
  readonly #policies: BoundPolicies<ValidatingPolicySpec, CompiledPolicy>
  readonly #match: MatchNeeds
  readonly #converter: VersionConverter
  readonly #params: Params

  constructor(needs: PluginNeeds) {
    const equivalents = createEquivalents(needs.catalogue)
    this.#needs = needs
    this.#policies = new BoundPolicies(kind, needs, equivalents)
    this.#match = { equivalents, labelsOf: (namespace) => readLabels(namespace, needs) }
    this.#converter = createVersionConverter(needs.catalogue)
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
  }

  async #validate(attributes: Attributes, inquiry: Inquiry): Promise<Verdict> {
    await this.#policies.ready
    const { names } = this.#needs.catalogue
    const accesses = new AskedAccesses(inquiry)
    const findings = new Findings(names)
    for (const bound of this.#policies.bound) await this.#evaluate(bound, { attributes, accesses, findings })
    return accesses.question ?? findings.verdict(attributes)
  }

  async #evaluate(
    { policy, bindings }: BoundPolicy<ValidatingPolicySpec, CompiledPolicy>,
    { attributes, accesses, findings }: Evaluating,
  ): Promise<void> {
    const match = await matchResources(policy.matched, attributes, this.#match)
    if (match.kind === 'passed over') return
    if (match.kind === 'undecided') {
      findings.misconfigured(policy, undefined, match.error.status.message ?? '')
      return
    }
    const { asVersion } = match
    const own = this.#match.equivalents.own(attributes)
    const convert = (object: unknown) => this.#converter.convert(object, own, asVersion)
    const seen = { attributes, own, asVersion, object: convert(attributes.object), oldObject: convert(attributes.oldObject) }
    for (const binding of bindings) await this.#evaluateBinding(policy, binding, { seen, accesses, findings })
  }

  async #evaluateBinding(policy: Policy, binding: PolicyBinding, { seen, accesses, findings }: BindingRequest): Promise<void> {
    const { attributes } = seen
    const match = binding.matched === undefined ? undefined : await matchResources(binding.matched, attributes, this.#match)
    if (match?.kind === 'passed over') return
    if (match?.kind === 'undecided') {
      findings.misconfigured(policy, binding, match.error.status.message ?? '')
      return
    }
    const request = requestInputOf(seen)
    const read = await this.#params.read(policy.spec.paramKind, binding.spec.paramRef, request.namespace)
    if (read.kind !== 'params') {
      findings.misconfigured(policy, read.kind === 'unknown' ? undefined : binding, read.message)
      return
    }
    const namespaceObject = await readNamespace(attributes, this.#needs)
    const { object, oldObject } = seen
    for (const params of read.params) {
      const input = { object, oldObject, request, params, namespaceObject, authorize: accesses.authorize }
      const found = evaluatePolicy(policy.compiled, input)
      for (const decision of found.decisions) findings.decide(policy, binding, decision)
      for (const { key, value } of found.annotations) findings.annotate(`${policy.name}/${key}`, value)
    }
  }
}

interface Evaluating {
  readonly attributes: Attributes
  readonly accesses: AskedAccesses
  readonly findings: Findings
}

interface BindingRequest extends Omit<Evaluating, 'attributes'> {
  readonly seen: SeenRequest
}

/** What is decided about the request, and said along with it. */
class Findings {
  readonly #names: Names
  readonly #denials: { readonly message: string; readonly reason: string }[] = []
  readonly #warnings: string[] = []
  readonly #failures: object[] = []
  readonly #annotations = new Map<string, string[]>()
  readonly #counts: MetricCount[] = []

  constructor(names: Names) {
    this.#names = names
  }

  decide(policy: Policy, { name, spec }: PolicyBinding, decision: PolicyDecision): void {
    const { isDenied, message, reason, index } = decision
    const actions = spec.validationActions ?? []
    const error = decision.isError ? 'policy_evaluation_error' : 'no_error'
    if (!isDenied) {
      this.#count(policy.name, name, 'allow', error)
      return
    }
    for (const action of actions) {
      this.#count(policy.name, name, action.toLowerCase(), error)
      switch (action) {
        case 'Deny':
          this.#denials.push({
            message: `ValidatingAdmissionPolicy '${policy.name}' with binding '${name}' denied request: ${message}`,
            reason,
          })
          break
        case 'Warn':
          this.#warnings.push(`Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${message}`)
          break
        case 'Audit':
          this.#failures.push({ message, policy: policy.name, binding: name, expressionIndex: index, validationActions: actions })
      }
    }
  }

  /** A policy or a binding that cannot be evaluated as it is. */
  misconfigured({ name, spec }: Policy, binding: PolicyBinding | undefined, problem: string): void {
    if (spec.failurePolicy === 'Ignore') return
    this.#count(name, binding?.name ?? '', 'deny', 'policy_configuration_error')
    const [what, place] = binding === undefined ? ['policy', ''] : ['binding', ` with binding '${binding.name}'`]
    const message = `ValidatingAdmissionPolicy '${name}'${place} denied request: failed to configure ${what}: ${problem}`
    this.#denials.push({ message, reason: '' })
  }

  annotate(key: string, value: string): void {
    const values = this.#annotations.get(key)
    if (values === undefined) this.#annotations.set(key, [value])
    else if (!values.includes(value)) values.push(value)
  }

  verdict(attributes: Attributes): Verdict {
    const details = { warnings: this.#warnings, auditAnnotations: this.#auditAnnotations(), counts: this.#counts }
    const [denial] = this.#denials
    return denial === undefined ? { kind: 'allowed', ...details } : { ...denied(refusal(attributes, denial)), ...details }
  }

  #auditAnnotations(): AuditAnnotation[] {
    const annotations = [...this.#annotations].map(([key, values]) => ({ key, value: values.join(', '), level: 'Metadata' }))
    if (this.#failures.length === 0) return annotations
    const key = `${domainGroup(this.#names, 'validation.policy.admission')}/validation_failure`
    return [...annotations, { key, value: JSON.stringify(this.#failures.slice(0, auditedFailuresMax)), level: 'Metadata' }]
  }

  #count(policy: string, binding: string, action: string, error: string): void {
    const labels = { policy, policy_binding: binding, enforcement_action: action, error_type: error }
    this.#counts.push({ name: 'apiserver_validating_admission_policy_check_total', labels, value: 1 })
  }
}

function refusal(
  { group, resource, name }: Attributes,
  { message, reason }: { readonly message: string; readonly reason: string },
): StatusError {
  const { status } = forbidden({ group, resource }, name, message)
  const named = reason === '' ? 'Invalid' : reason
  const details = { ...status.details, causes: [...(status.details?.causes ?? []), { message }] }
  return new StatusError({ ...status, reason: named as typeof status.reason, code: codes[named] ?? 422, details })
}
