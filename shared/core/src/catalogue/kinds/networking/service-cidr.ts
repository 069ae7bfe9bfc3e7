import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { serviceCIDRCells } from '../../../table/cells/network.ts'

/** A range that addresses of Services are taken from. */
export const serviceCIDR = defineResource({
  versions: [
    {
      type: 'networking/v1alpha1.ServiceCIDR',
      since: 29,
      until: 30,
      isOffByDefault: true,
      deprecated: { since: '1.30', removed: '1.33' },
    },
    { type: 'networking/v1beta1.ServiceCIDR', since: 31, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37' } },
    { type: 'networking/v1.ServiceCIDR', since: 33 },
  ],
  plural: 'servicecidrs',
  scope: 'Cluster',
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersionHash: '3cDF5hqTkLY=',
  changes: { 31: { storageVersionHash: '8ufAXOnr3Yg=' }, 34: { storageVersionHash: 'gNLvruQhW2g=' } },
  table: { cells: serviceCIDRCells, columns: ['Name', 'CIDRs', 'Age'] },
})
