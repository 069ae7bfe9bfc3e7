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

/** Webhooks and policies never decide about policies, bindings and webhook configurations: otherwise a faulty one could not be deleted. */
export function isAboutAdmission({ group, resource }: Attributes, names: Names): boolean {
  return group === domainGroup(names, 'admissionregistration') && resources.has(resource)
}
