import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { ensureChild, fill } from '../../../kind/draft.ts'
import { selectedBy } from '../../../kind/selectable-fields.ts'
import { podCertificateRequestCells } from '../../../table/cells/access.ts'

/** A node asks a signer for a certificate of one of its Pods. */
export const podCertificateRequest = defineResource('certificates.PodCertificateRequest', {
  versions: {
    v1alpha1: { since: 34, until: 34, isOffByDefault: true },
    v1beta1: { since: 35, isOffByDefault: true, deprecated: { since: '1.37', removed: '1.40', replacement: 'v1' } },
    v1: { since: 37 },
  },
  storedAs: 'v1beta1',
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersion: 'v1alpha1',
  changes: { 35: { storageVersion: 'v1beta1' } },
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  selectable: selectedBy('spec', 'signerName', 'podName', 'nodeName'),
  defaults: (request) => fill(ensureChild(request, 'spec'), { maxExpirationSeconds: 86_400 }),
  table: {
    cells: podCertificateRequestCells,
    columns: [
      'Name',
      { name: 'PodName', description: 'Pod that the certificate is for.' },
      { name: 'ServiceAccountName', description: 'Service account of the Pod.' },
      { name: 'NodeName', description: 'Node of the Pod.' },
      { name: 'SignerName', description: 'Requested signer.' },
      { name: 'State', description: 'Pending, Issued, Denied or Failed.' },
      { name: 'UnverifiedUserAnnotations', description: 'Hints to the signer.' },
    ],
  },
})
