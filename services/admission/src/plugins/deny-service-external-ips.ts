import { allowed, denied, forbid, type Plugin } from '../plugin.ts'
import { admissionRuleFor, objectsOf } from './objects.ts'

/** DenyServiceExternalIPs: a Service may keep or remove external IPs, but not add any. */
export function denyServiceExternalIps(): Plugin {
  return {
    admissionRules: [admissionRuleFor('validate', ['CREATE', 'UPDATE'], '', ['services'])],
    validate(attributes) {
      const { object, oldObject } = objectsOf('core/v1.Service', attributes)
      const before = new Set(oldObject?.spec.externalIPs)
      const isKept = object?.spec.externalIPs?.every((address) => before.has(address)) ?? true
      return isKept ? allowed : denied(forbid(attributes, 'Use of external IPs is denied by admission control.'))
    },
  }
}
