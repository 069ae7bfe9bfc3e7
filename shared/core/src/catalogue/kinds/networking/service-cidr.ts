import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { serviceCIDRCells } from '../../../table/cells/network.ts'

/** A range that addresses of Services are taken from. */
export const serviceCIDR = defineResource('networking.ServiceCIDR', {
  versions: {
    v1alpha1: { since: 29, until: 30, isOffByDefault: true, deprecated: { since: '1.30', removed: '1.33' } },
    v1beta1: { since: 31, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37' } },
    v1: { since: 33 },
  },
  scope: 'Cluster',
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersion: 'v1alpha1',
  changes: { 31: { storageVersion: 'v1beta1' }, 34: { storageVersion: 'v1' } },
  table: { cells: serviceCIDRCells, columns: ['Name', 'CIDRs', 'Age'] },
})
