import { jsonEqual } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds, type Registration } from '../plugin.ts'
import { checkSigner } from './certificate-signer.ts'
import { objectsOf } from './objects.ts'

/** On by default. */
export const certificateSigning: Registration = { isDefault: true, create: createCertificateSigning }

/** CertificateSigning: a client that answers a certificate request needs the right for its signer. */
function createCertificateSigning({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  const resources = ['certificatesigningrequests/status']
  return {
    name: 'CertificateSigning',
    admissionRules: [{ phase: 'validate', operations: ['UPDATE'], groups, resources, namespaces: [] }],
    validate(attributes, inquiry) {
      const { object, oldObject } = objectsOf('certificates/v1.CertificateSigningRequest', attributes)
      const [before, after] = [oldObject?.status, object?.status]
      const isCertificateKept = (after?.certificate ?? '') === (before?.certificate ?? '')
      if (isCertificateKept && jsonEqual(after?.conditions ?? [], before?.conditions ?? [])) return allowed
      return checkSigner(attributes, inquiry, { verb: 'sign', names })
    },
    close: () => {},
  }
}
