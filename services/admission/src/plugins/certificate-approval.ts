import { domainGroup } from '@orch/core/names'
import type { Plugin, PluginNeeds, Registration } from '../plugin.ts'
import { checkSigner } from './certificate-signer.ts'

/** Enabled by default. */
export const certificateApproval: Registration = { isDefault: true, create: createCertificateApproval }

/** CertificateApproval: a client that approves or denies a certificate signing request needs permission for its signer. */
function createCertificateApproval({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  const resources = ['certificatesigningrequests/approval']
  return {
    admissionRules: [{ phase: 'validate', operations: ['UPDATE'], groups, resources, namespaces: [] }],
    validate: (attributes, inquiry) => checkSigner(attributes, inquiry, { verb: 'approve', names }),
  }
}
