import { defineResource } from '../../../kind/define-resource.ts'
import { clusterCIDRCells } from '../../../table/cells/network.ts'
import { validateClusterCidr } from '../../validation/cluster-cidr.ts'

/** Networks from which nodes get the addresses of their pods. */
export const clusterCIDR = defineResource({
  versions: [{ type: 'networking/v1alpha1.ClusterCIDR', until: 28 }],
  plural: 'clustercidrs',
  scope: 'Cluster',
  storageVersionHash: 'iC0u25BTSsc=',
  changes: { 28: { shortNames: ['cc'] } },
  validation: { main: validateClusterCidr },
  table: { cells: clusterCIDRCells, columns: ['Name', 'PerNodeHostBits', 'IPv4', 'IPv6', 'Age', { name: 'NodeSelector', priority: 1 }] },
})
