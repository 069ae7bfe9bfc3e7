import type { Attributes } from '@orch/core/contracts'
import { domainGroup, domainLabel } from '@orch/core/names'
import { DerError, readCertificateRequest } from '@orch/platform'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { newObject } from './objects.ts'

/** The group with all permissions. */
const masters = 'system:masters'

/** CertificateSubjectRestriction: a client certificate never grants membership in system:masters. */
export function certificateSubjectRestriction({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  const clientSigner = domainLabel(names, 'kube-apiserver-client')
  return {
    admissionRules: [{ phase: 'validate', operations: ['CREATE'], groups, resources: ['certificatesigningrequests'], namespaces: [] }],
    validate(attributes) {
      const { signerName, request } = newObject('certificates/v1.CertificateSigningRequest', attributes).spec
      if (signerName !== clientSigner) return allowed
      try {
        if (!readCertificateRequest(Buffer.from(request ?? '', 'base64').toString('latin1')).organizations.includes(masters)) return allowed
      } catch (error) {
        if (error instanceof DerError) return refuse(attributes, `failed to parse CSR: ${error.message}`)
        throw error
      }
      return refuse(attributes, `use of ${clientSigner} signer with ${masters} group is not allowed`)
    },
  }
}

function refuse(attributes: Attributes, why: string): Verdict {
  return denied(forbid(attributes, why))
}
