import { domainGroup } from '@orch/core/names'
import type { Plugin, PluginNeeds } from '../plugin.ts'
import { checkSigner } from './certificate-signer.ts'

/** CertificateApproval: a client that approves or denies a certificate signing request needs permission for its signer. */
export function certificateApproval({ catalogue: { names } }: PluginNeeds): Plugin {
  const groups = [domainGroup(names, 'certificates')]
  const resources = ['certificatesigningrequests/approval']
  return {
    admissionRules: [{ phase: 'validate', operations: ['UPDATE'], groups, resources, namespaces: [] }],
    validate: (attributes, inquiry) => checkSigner(attributes, inquiry, { verb: 'approve', names }),
  }
}
