import { defineResource } from '../../../kind/define-resource.ts'
import { clusterCIDRCells } from '../../../table/cells/network.ts'
import { validateClusterCidr } from '../../validation/cluster-cidr.ts'

/** Networks from which nodes get the addresses of their pods. */
export const clusterCIDR = defineResource({
  kind: 'ClusterCIDR',
  versions: [{ type: 'networking/v1alpha1.ClusterCIDR', until: 28 }],
  storedAs: 'networking/v1alpha1.ClusterCIDR',
  plural: 'clustercidrs',
  scope: 'Cluster',
  storageVersionHash: 'iC0u25BTSsc=',
  changes: { 28: { shortNames: ['cc'] } },
  validation: { main: validateClusterCidr },
  table: {
    cells: clusterCIDRCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'PerNodeHostBits', type: 'string' },
      { name: 'IPv4', type: 'string' },
      { name: 'IPv6', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'NodeSelector', type: 'string', priority: 1 },
    ],
  },
})
