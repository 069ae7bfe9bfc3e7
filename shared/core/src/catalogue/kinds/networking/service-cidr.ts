import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { serviceCIDRCells } from '../../../table/cells/network.ts'

/** A range that addresses of Services are taken from. */
export const serviceCIDR = defineResource({
  versions: [{ type: 'networking/v1.ServiceCIDR', since: 33 }],
  plural: 'servicecidrs',
  scope: 'Cluster',
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersionHash: '8ufAXOnr3Yg=',
  changes: { 34: { storageVersionHash: 'gNLvruQhW2g=' } },
  table: { cells: serviceCIDRCells, columns: ['Name', 'CIDRs', 'Age'] },
})
