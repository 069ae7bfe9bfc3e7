import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { countDevices } from '../../../quota/measures.ts'
import { resourceClaimCells } from '../../../table/cells/devices.ts'
import { fillResourceClaim } from '../../defaults/devices.ts'
import { validateResourceClaim } from '../../validation/devices/device-claim.ts'

/** A claim for devices that Pods use. */
export const resourceClaim = defineResource({
  kind: 'ResourceClaim',
  versions: [{ type: 'resource/v1.ResourceClaim', since: 34 }],
  storedAs: 'resource/v1.ResourceClaim',
  plural: 'resourceclaims',
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersionHash: 'wgAZaHcZxUg=',
  deleteAnswer: 'object',
  quota: countDevices,
  defaults: fillResourceClaim,
  validation: { main: validateResourceClaim },
  table: {
    cells: resourceClaimCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'State', type: 'string', description: 'Allocated, pending or reserved.' },
      { name: 'Age', type: 'string' },
    ],
  },
})
