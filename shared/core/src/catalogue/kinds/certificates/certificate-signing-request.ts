import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { selectedBy } from '../../../kind/selectable-fields.ts'
import { certificateSigningRequestCells } from '../../../table/cells/access.ts'
import { validateCertificateRequest, validateCertificateRequestStatus } from '../../validation/certificate-request.ts'

/** Asks a signer for a certificate. It is signed once it is approved. */
export const certificateSigningRequest = defineResource('certificates.CertificateSigningRequest', {
  shortNames: ['csr'],
  scope: 'Cluster',
  subresources: [{ name: 'approval', verbs: ['get', 'patch', 'update'] }, statusSubresource],
  nameKind: 'pathSegment',
  selectable: selectedBy('spec', 'signerName'),
  validation: { main: validateCertificateRequest, status: validateCertificateRequestStatus },
  table: { cells: certificateSigningRequestCells, columns: ['Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'] },
})
