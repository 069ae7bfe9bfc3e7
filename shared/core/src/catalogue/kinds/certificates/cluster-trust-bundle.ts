import { defineResource } from '../../../kind/define-resource.ts'
import { same, textsAt } from '../../../kind/selectable-fields.ts'
import { clusterTrustBundleCells } from '../../../table/cells/access.ts'
import { bundleNames, validateTrustBundle } from '../../validation/trust-bundle.ts'

/** Certificates of authorities that programs in the cluster may trust. */
export const clusterTrustBundle = defineResource({
  versions: [
    {
      type: 'certificates/v1alpha1.ClusterTrustBundle',
      since: 27,
      isOffByDefault: true,
      deprecated: { since: '1.34', removed: '1.37' },
    },
    {
      type: 'certificates/v1beta1.ClusterTrustBundle',
      since: 33,
      isOffByDefault: true,
      deprecated: { since: '1.37', removed: '1.40', replacement: 'certificates/v1.ClusterTrustBundle' },
    },
    { type: 'certificates/v1.ClusterTrustBundle', since: 37 },
  ],
  plural: 'clustertrustbundles',
  scope: 'Cluster',
  rechecksName: true,
  changes: { 33: { storageVersionHash: 'v5yhuVertL4=' } },
  nameKind: bundleNames,
  replacesUnconditionally: false,
  selectable: {
    labels: same('metadata.name', 'spec.signerName'),
    fieldsOf: textsAt('spec', ['signerName']),
  },
  validation: { main: validateTrustBundle },
  table: { cells: clusterTrustBundleCells, columns: ['Name', 'SignerName'] },
})
