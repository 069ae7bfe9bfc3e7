import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { countDevices } from '../../../quota/measures.ts'
import { resourceClaimCells } from '../../../table/cells/devices.ts'
import { flatClaim } from '../../conversion/devices.ts'
import { fillBetaClaim, fillResourceClaim } from '../../defaults/devices.ts'
import { validateBetaClaim, validateBetaClaimStatus } from '../../validation/devices/beta.ts'
import { validateResourceClaim } from '../../validation/devices/device-claim.ts'

/** A claim for devices that Pods use. */
export const resourceClaim = defineResource({
  versions: [
    {
      type: 'resource/v1alpha3.ResourceClaim',
      since: 31,
      until: 33,
      isOffByDefault: true,
      defaults: fillBetaClaim,
      validation: { main: validateBetaClaim, status: validateBetaClaimStatus },
      reshape: flatClaim,
    },
    {
      type: 'resource/v1beta1.ResourceClaim',
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      defaults: fillBetaClaim,
      validation: { main: validateBetaClaim, status: validateBetaClaimStatus },
      reshape: flatClaim,
    },
    { type: 'resource/v1beta2.ResourceClaim', since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    { type: 'resource/v1.ResourceClaim', since: 34 },
  ],
  plural: 'resourceclaims',
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersionHash: 'ozQSw6/HyJ4=',
  changes: {
    32: { storageVersionHash: 'RnQSwRxMnsw=' },
    34: { storageVersionHash: 'EJAWH5WrAYg=' },
    35: { storageVersionHash: 'wgAZaHcZxUg=' },
  },
  deleteAnswer: 'object',
  quota: countDevices,
  defaults: fillResourceClaim,
  validation: { main: validateResourceClaim },
  table: { cells: resourceClaimCells, columns: ['Name', { name: 'State', description: 'Allocated, pending or reserved.' }, 'Age'] },
})
