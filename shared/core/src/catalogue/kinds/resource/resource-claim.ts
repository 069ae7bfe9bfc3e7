import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { countDevices } from '../../../quota/measures.ts'
import { resourceClaimCells } from '../../../table/cells/devices.ts'
import { flatClaim } from '../../conversion/devices.ts'
import { fillBetaClaim, fillResourceClaim } from '../../defaults/devices.ts'
import { validateBetaClaim, validateBetaClaimStatus } from '../../validation/devices/beta.ts'
import { rulesWithExpressions } from '../../validation/devices/expressions.ts'
import { deviceStorage, deviceVersions } from './device-versions.ts'

/** The first versions, whose requests are flat. */
const flat = {
  defaults: fillBetaClaim,
  validation: { main: validateBetaClaim, status: validateBetaClaimStatus },
  reshape: flatClaim,
}

/** A claim for devices that Pods use. */
export const resourceClaim = defineResource('resource.ResourceClaim', {
  versions: {
    ...deviceVersions,
    v1alpha3: { ...deviceVersions.v1alpha3, ...flat },
    v1beta1: { ...deviceVersions.v1beta1, ...flat },
  },
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  ...deviceStorage,
  quota: countDevices,
  defaults: fillResourceClaim,
  validation: { main: rulesWithExpressions('resource/v1.ResourceClaim') },
  table: { cells: resourceClaimCells, columns: ['Name', { name: 'State', description: 'Allocated, pending or reserved.' }, 'Age'] },
})
