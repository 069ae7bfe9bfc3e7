import type { Attributes, AuditAnnotation, MetricCount } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { CompiledPolicy, PolicyDecision, ValidatingPolicySpec } from '@orch/core/policies'
import { denied, forbid, type Verdict } from '../plugin.ts'
import type { PolicyBinding, StoredPolicy } from './bound-policies.ts'
import type { CheckCounts } from './check-counts.ts'

type Policy = StoredPolicy<ValidatingPolicySpec, CompiledPolicy>

/** Status codes of the reasons that a policy may use. */
const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 }

/** Maximum number of failures in one audit annotation. */
const auditedFailuresMax = 50

/** The decisions of one policy on a request, with warnings and annotations. */
export class Findings {
  readonly #checks: CheckCounts
  readonly denials: { readonly message: string; readonly reason: string }[] = []
  readonly warnings: string[] = []
  readonly failures: object[] = []
  readonly annotations: { readonly key: string; readonly value: string }[] = []
  readonly counts: MetricCount[] = []

  constructor(checks: CheckCounts) {
    this.#checks = checks
  }

  decide({ name: policy }: Policy, binding: PolicyBinding, decision: PolicyDecision): void {
    const { isDenied, message, reason, index, elapsedMs } = decision
    const { name, spec } = binding
    const actions = spec.validationActions ?? []
    const error = decision.isError ? 'policy_evaluation_error' : 'no_error'
    if (!isDenied) {
      this.counts.push(...this.#checks.of({ policy, binding, action: 'allow', error, elapsedMs }))
      return
    }
    for (const action of actions) {
      this.counts.push(...this.#checks.of({ policy, binding, action: action.toLowerCase(), error, elapsedMs }))
      switch (action) {
        case 'Deny':
          this.denials.push({ message: `ValidatingAdmissionPolicy '${policy}' with binding '${name}' denied request: ${message}`, reason })
          break
        case 'Warn':
          this.warnings.push(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${message}`)
          break
        case 'Audit':
          this.failures.push({ message, policy, binding: name, expressionIndex: index, validationActions: actions })
      }
    }
  }

  /** A policy or a binding that cannot be evaluated. */
  misconfigured({ name: policy, spec }: Policy, binding: PolicyBinding | undefined, problem: string): void {
    if (spec.failurePolicy === 'Ignore') return
    this.counts.push(...this.#checks.of({ policy, binding, action: 'deny', error: 'policy_configuration_error', elapsedMs: 0 }))
    const [what, place] = binding === undefined ? ['policy', ''] : ['binding', ` with binding '${binding.name}'`]
    const message = `ValidatingAdmissionPolicy '${policy}'${place} denied request: failed to configure ${what}: ${problem}`
    this.denials.push({ message, reason: '' })
  }
}

/** The verdict of all policies on a request; the client receives the first denial. */
export function verdictOf(attributes: Attributes, all: readonly Findings[], names: Names): Verdict {
  const warnings: string[] = []
  const counts: MetricCount[] = []
  for (const findings of all) {
    warnings.push(...findings.warnings)
    counts.push(...findings.counts)
  }
  const details = { warnings, auditAnnotations: auditAnnotationsOf(all, names), counts }
  const denial = all.find(({ denials }) => denials.length > 0)?.denials[0]
  return denial === undefined ? { kind: 'allowed', ...details } : { ...denied(refusal(attributes, denial)), ...details }
}

function auditAnnotationsOf(all: readonly Findings[], names: Names): AuditAnnotation[] {
  if (all.every(({ annotations, failures }) => annotations.length + failures.length === 0)) return []
  const values = new Map<string, Set<string>>()
  for (const { annotations } of all) {
    for (const { key, value } of annotations) values.set(key, (values.get(key) ?? new Set()).add(value))
  }
  const annotations = [...values].map(([key, ofKey]) => ({ key, value: [...ofKey].join(', '), level: 'Metadata' }))
  const failures = all.flatMap((findings) => findings.failures)
  if (failures.length === 0) return annotations
  const key = `${domainGroup(names, 'validation.policy.admission')}/validation_failure`
  return [...annotations, { key, value: JSON.stringify(failures.slice(0, auditedFailuresMax)), level: 'Metadata' }]
}

function refusal(attributes: Attributes, { message, reason }: { readonly message: string; readonly reason: string }): StatusError {
  const { status } = forbid(attributes, message)
  const named = reason === '' ? 'Invalid' : reason
  const details = { ...status.details, causes: [...(status.details?.causes ?? []), { message }] }
  return new StatusError({ ...status, reason: named as typeof status.reason, code: codes[named] ?? 422, details })
}
