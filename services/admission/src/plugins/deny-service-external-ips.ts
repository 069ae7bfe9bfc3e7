import { allowed, denied, type Plugin, type Registration } from '../plugin.ts'
import { interestIn } from './objects.ts'
import { forbid } from './pod.ts'

export const denyServiceExternalIps: Registration = { isDefault: false, create: createDenyExternalIps }

/** DenyServiceExternalIPs: a Service may keep or drop addresses outside of the cluster, but not take new ones. */
function createDenyExternalIps(): Plugin {
  return {
    name: 'DenyServiceExternalIPs',
    interests: [interestIn('validate', ['CREATE', 'UPDATE'], '', ['services'])],
    validate(attributes) {
      const before = new Set(addressesOf(attributes.oldObject))
      const isKept = addressesOf(attributes.object).every((address) => before.has(address))
      return isKept ? allowed : denied(forbid(attributes, 'Use of external IPs is denied by admission control.'))
    },
    close: () => {},
  }
}

function addressesOf(service: unknown): readonly string[] {
  return (service as { readonly spec?: { readonly externalIPs?: readonly string[] } } | undefined)?.spec?.externalIPs ?? []
}
