import type { LabelRequirement } from '@orch/core/contracts'
import type { NamedRuleSpec } from '@orch/core/policies'
import { type LabelSelector, toLabelRequirements } from '@orch/core/selectors'

/** A filter of requests: all five members must match. */
export interface WebhookRule {
  readonly operations: readonly string[]
  readonly groups: readonly string[]
  readonly versions: readonly string[]
  readonly resources: readonly string[]
  readonly scope: string
}

/** A parsed selector; an empty one matches everything. */
export type ReadSelector =
  | { readonly kind: 'all' }
  | { readonly kind: 'some'; readonly requirements: readonly LabelRequirement[] }
  | { readonly kind: 'malformed'; readonly message: string }

/** The requests that a webhook or a policy matches. */
export interface Criteria {
  readonly rules: readonly WebhookRule[]
  readonly isEquivalentMatched: boolean
  readonly namespaceSelector: ReadSelector
  readonly objectSelector: ReadSelector
}

/** Prepares a rule for matching. */
export function readRule(rule: NamedRuleSpec): WebhookRule {
  return {
    operations: rule.operations ?? [],
    groups: rule.apiGroups ?? [],
    versions: rule.apiVersions ?? [],
    resources: rule.resources ?? [],
    scope: rule.scope ?? '*',
  }
}

/** Prepares a selector for matching; undefined matches everything. */
export function readSelector(selector: LabelSelector | undefined): ReadSelector {
  const read = toLabelRequirements(selector ?? {})
  if (read.kind === 'malformed') return read
  return read.requirements.length === 0 ? { kind: 'all' } : { kind: 'some', requirements: read.requirements }
}
