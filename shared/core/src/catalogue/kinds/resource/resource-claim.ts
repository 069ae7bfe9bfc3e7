import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { countDevices } from '../../../quota/measures.ts'
import { resourceClaimCells } from '../../../table/cells/devices.ts'
import { flatClaim } from '../../conversion/devices.ts'
import { fillBetaClaim, fillResourceClaim } from '../../defaults/devices.ts'
import { validateBetaClaim, validateBetaClaimStatus } from '../../validation/devices/beta.ts'
import { validateResourceClaim } from '../../validation/devices/device-claim.ts'

/** A claim for devices that Pods use. */
export const resourceClaim = defineResource('resource.ResourceClaim', {
  versions: {
    v1alpha3: {
      since: 31,
      until: 33,
      isOffByDefault: true,
      defaults: fillBetaClaim,
      validation: { main: validateBetaClaim, status: validateBetaClaimStatus },
      reshape: flatClaim,
    },
    v1beta1: {
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      defaults: fillBetaClaim,
      validation: { main: validateBetaClaim, status: validateBetaClaimStatus },
      reshape: flatClaim,
    },
    v1beta2: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    v1: { since: 34 },
  },
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersion: 'v1alpha3',
  changes: {
    32: { storageVersion: 'v1beta1' },
    34: { storageVersion: 'v1beta2' },
    35: { storageVersion: 'v1' },
  },
  deleteAnswer: 'object',
  quota: countDevices,
  defaults: fillResourceClaim,
  validation: { main: validateResourceClaim },
  table: { cells: resourceClaimCells, columns: ['Name', { name: 'State', description: 'Allocated, pending or reserved.' }, 'Age'] },
})
