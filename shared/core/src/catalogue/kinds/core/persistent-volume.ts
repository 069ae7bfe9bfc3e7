import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { volumeCells } from '../../../table/cells/storage.ts'
import { fillPersistentVolume } from '../../defaults/storage.ts'
import { warningsOfVolume } from '../../warnings/node-label-warnings.ts'

/** A piece of storage in the cluster, made by an administrator or a driver, that a claim can be bound to. */
export const persistentVolume = defineResource({
  kind: 'PersistentVolume',
  versions: [{ type: 'core/v1.PersistentVolume' }],
  storedAs: 'core/v1.PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: 'HN/zwEC+JgM=',
  deleteAnswer: 'object',
  defaults: fillPersistentVolume,
  warnings: warningsOfVolume,
  table: {
    cells: volumeCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Capacity', type: 'string' },
      { name: 'Access Modes', type: 'string' },
      { name: 'Reclaim Policy', type: 'string' },
      { name: 'Status', type: 'string' },
      { name: 'Claim', type: 'string' },
      { name: 'StorageClass', type: 'string' },
      { name: 'VolumeAttributesClass', type: 'string', since: 29 },
      { name: 'Reason', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'VolumeMode', type: 'string', priority: 1 },
    ],
  },
})
