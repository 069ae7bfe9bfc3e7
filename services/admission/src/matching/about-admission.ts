import { reviewResources } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { domainGroup, type Names } from '@orch/core/names'

const policies: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])
const webhooks: ReadonlySet<string> = new Set(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])

/** Policies never decide about policies and bindings, since a faulty one could otherwise not be deleted. */
export function isAboutPolicies({ group, resource }: Attributes, names: Names): boolean {
  return group === domainGroup(names, 'admissionregistration') && policies.has(resource)
}

/** Webhooks never decide about policies, bindings and webhook configurations, since a faulty one could otherwise not be deleted. */
export function isAboutAdmission(attributes: Attributes, names: Names): boolean {
  const { group, resource } = attributes
  return isAboutPolicies(attributes, names) || (group === domainGroup(names, 'admissionregistration') && webhooks.has(resource))
}

/** Reviews that are posted as objects. Neither policies nor, from 1.37 on, webhooks decide about them, as clients and webhooks ask by them for their rights. */
export function isReview({ group, resource }: Attributes, names: Names): boolean {
  return reviewResources(names).has(`${resource}.${group}`)
}
