import { defineResource } from '../../../kind/define-resource.ts'
import { clusterCIDRCells } from '../../../table/cells/network.ts'
import { validateClusterCidr } from '../../validation/cluster-cidr.ts'

/** Networks from which nodes get the addresses of their pods. */
export const clusterCIDR = defineResource('networking.ClusterCIDR', {
  versions: { v1alpha1: { until: 28 } },
  scope: 'Cluster',
  changes: { 28: { shortNames: ['cc'] } },
  validation: { main: validateClusterCidr },
  table: { cells: clusterCIDRCells, columns: ['Name', 'PerNodeHostBits', 'IPv4', 'IPv6', 'Age', { name: 'NodeSelector', priority: 1 }] },
})
