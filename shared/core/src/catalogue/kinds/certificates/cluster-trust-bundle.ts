import { defineResource } from '../../../kind/define-resource.ts'
import { selectedBy } from '../../../kind/selectable-fields.ts'
import { clusterTrustBundleCells } from '../../../table/cells/access.ts'
import { bundleNames, validateTrustBundle } from '../../validation/trust-bundle.ts'

/** Certificates of authorities that programs in the cluster may trust. */
export const clusterTrustBundle = defineResource('certificates.ClusterTrustBundle', {
  versions: {
    v1alpha1: { since: 27, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37' } },
    v1beta1: { since: 33, isOffByDefault: true, deprecated: { since: '1.37', removed: '1.40', replacement: 'v1' } },
    v1: { since: 37 },
  },
  scope: 'Cluster',
  rechecksName: true,
  storageVersion: 'v1alpha1',
  changes: { 33: { storageVersion: 'v1beta1' } },
  nameKind: bundleNames,
  replacesUnconditionally: false,
  selectable: selectedBy('spec', 'signerName'),
  validation: { main: validateTrustBundle },
  table: { cells: clusterTrustBundleCells, columns: ['Name', 'SignerName'] },
})
