import { allowed, denied, forbid, type Plugin } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { containersOf, type Pod, podOf } from './pod.ts'

/** Fields that a Pod may not set, with their names for messages. */
const podFields = [
  ['supplementalGroups', 'SupplementalGroups'],
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
  ['fsGroup', 'FSGroup'],
] as const
const containerFields = [
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
] as const

/** SecurityContextDeny: Pods may not set users, groups or SELinux options. */
export function securityContextDeny(): Plugin {
  return {
    admissionRules: [admissionRuleFor('validate', ['CREATE', 'UPDATE'], '', ['pods'])],
    validate(attributes) {
      const why = elevationIn(podOf(attributes))
      return why === undefined ? allowed : denied(forbid(attributes, why))
    },
  }
}

function elevationIn(pod: Pod): string | undefined {
  for (const [field, word] of podFields) {
    if (pod.spec.securityContext?.[field] != null) return `pod.Spec.SecurityContext.${word} is forbidden`
  }
  for (const { container } of containersOf(pod)) {
    for (const [field, word] of containerFields) {
      if (container.securityContext?.[field] != null) return `SecurityContext.${word} is forbidden`
    }
  }
  return undefined
}
