import { reviewResources } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { domainGroup, type Names } from '@orch/core/names'

const resources: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
])

/** Webhooks and policies never decide about policies, bindings and webhook configurations, since a faulty one could otherwise not be deleted. */
export function isAboutAdmission({ group, resource }: Attributes, names: Names): boolean {
  return group === domainGroup(names, 'admissionregistration') && resources.has(resource)
}

/** Reviews that are posted as objects. Neither policies nor, from 1.37 on, webhooks decide about them, as clients and webhooks ask by them for their rights. */
export function isReview({ group, resource }: Attributes, names: Names): boolean {
  return reviewResources(names).has(`${resource}.${group}`)
}
