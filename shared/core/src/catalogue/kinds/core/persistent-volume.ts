import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { volumeCells } from '../../../table/cells/storage.ts'
import { fillPersistentVolume } from '../../defaults/storage.ts'
import { warningsOfVolume } from '../../warnings/node-label-warnings.ts'

/** A piece of storage in the cluster, made by an administrator or a driver, that a claim can be bound to. */
export const persistentVolume = defineResource('core.PersistentVolume', {
  shortNames: ['pv'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  deleteAnswer: 'object',
  defaults: fillPersistentVolume,
  warnings: warningsOfVolume,
  table: {
    cells: volumeCells,
    columns: [
      'Name',
      'Capacity',
      'Access Modes',
      'Reclaim Policy',
      'Status',
      'Claim',
      'StorageClass',
      { name: 'VolumeAttributesClass', since: 29 },
      'Reason',
      'Age',
      { name: 'VolumeMode', priority: 1 },
    ],
  },
})
