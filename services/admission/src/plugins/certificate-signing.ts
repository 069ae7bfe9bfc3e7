import type { Attributes } from '@orch/core/contracts'
import { goQuote, jsonEqual } from '@orch/core/json'
import { invalid } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { isPodCertificateRequest } from '@orch/core/schema'
import { allowed, denied, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { checkRight, checkSigner } from './certificate-signer.ts'
import { objectsOf } from './objects.ts'

/** CertificateSigning: a client that issues a certificate needs permission for its signer. */
export function certificateSigning({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  const resources = ['certificatesigningrequests/status', 'podcertificaterequests/status']
  return {
    admissionRules: [{ phase: 'validate', operations: ['UPDATE'], groups, resources, namespaces: [] }],
    validate(attributes, inquiry) {
      if (attributes.resource === 'podcertificaterequests') return checkPodCertificate(attributes, inquiry, names)
      const { object, oldObject } = objectsOf('certificates/v1.CertificateSigningRequest', attributes)
      const [before, after] = [oldObject?.status, object?.status]
      const isCertificateKept = (after?.certificate ?? '') === (before?.certificate ?? '')
      if (isCertificateKept && jsonEqual(after?.conditions ?? [], before?.conditions ?? [])) return allowed
      return checkSigner(attributes, inquiry, { verb: 'sign', names })
    },
  }
}

/** As in kube-apiserver, the refusal has a cause about the signer name. */
function checkPodCertificate(attributes: Attributes, inquiry: Inquiry, names: Names): Verdict {
  const [object, oldObject] = [attributes.object, attributes.oldObject].map((one) => (isPodCertificateRequest(one) ? one : undefined))
  if (jsonEqual(object?.status ?? {}, oldObject?.status ?? {})) return allowed
  const signer = oldObject?.spec.signerName ?? ''
  const verdict = checkRight(attributes, inquiry, { verb: 'sign', signerName: signer, names, refusal: '' })
  if (verdict.kind !== 'denied') return verdict
  const { group, name, user } = attributes
  const detail = `User ${goQuote(user.name)} is not permitted to "sign" for signer ${goQuote(signer)}`
  return denied(
    invalid({ group, kind: 'PodCertificateRequest' }, name, [
      { reason: 'FieldValueForbidden', field: 'spec.signerName', message: `Forbidden: ${detail}` },
    ]),
  )
}
