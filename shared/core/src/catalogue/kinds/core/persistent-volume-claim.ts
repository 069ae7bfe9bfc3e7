import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { countClaims } from '../../../quota/measures.ts'
import { claimCells } from '../../../table/cells/storage.ts'
import { fillClaim } from '../../defaults/storage.ts'
import { validateClaim, validateClaimStatus } from '../../validation/persistent-volume-claim.ts'
import { warningsOfClaim } from '../../warnings/claim-warnings.ts'

/** A user's request for storage, and the hold on a volume once one is bound. */
export const persistentVolumeClaim = defineResource('core.PersistentVolumeClaim', {
  shortNames: ['pvc'],
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  quota: countClaims,
  deleteAnswer: 'object',
  defaults: fillClaim,
  warnings: warningsOfClaim,
  validation: { main: validateClaim, status: validateClaimStatus },
  table: {
    cells: claimCells,
    columns: [
      'Name',
      'Status',
      'Volume',
      'Capacity',
      'Access Modes',
      'StorageClass',
      { name: 'VolumeAttributesClass', since: 29 },
      'Age',
      { name: 'VolumeMode', priority: 1 },
    ],
  },
})
