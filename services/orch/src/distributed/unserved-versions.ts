import type { Catalogue, Resource } from '@orch/core/catalogue'
import type { AdmissionService } from '@orch/core/contracts'

/**
 * Admission as a gateway asks it that does not serve everything. The services behind gateways know every version of every
 * resource; which of them are ways to the same objects here, only the gateway knows, and it tells with each question.
 */
export function withUnservedVersions(admission: AdmissionService, served: Catalogue, everything: Catalogue): AdmissionService {
  const unserved = unservedByPrefix(served, everything)
  if (unserved.size === 0) return admission
  return {
    admit(request, context) {
      const { attributes } = request
      const prefix = served.find(attributes.group, attributes.version, attributes.resource)?.stored.prefix ?? ''
      const closed = unserved.get(prefix)
      return admission.admit(closed === undefined ? request : { ...request, attributes: { ...attributes, unserved: closed } }, context)
    },
    outcome: (request, context) => admission.outcome(request, context),
    admissionRules: (request, context) => admission.admissionRules(request, context),
  }
}

/** By where the objects are stored, those ways to them that are not served. */
function unservedByPrefix(served: Catalogue, everything: Catalogue): ReadonlyMap<string, readonly string[]> {
  const isServed = ({ group, version, plural }: Resource) => served.find(group, version, plural) !== undefined
  const closed = everything.resources.filter((resource) => !isServed(resource))
  const names = Map.groupBy(closed, ({ stored }) => stored.prefix)
  return new Map([...names].map(([prefix, resources]) => [prefix, resources.map((one) => `${one.group}/${one.version}/${one.plural}`)]))
}
