import { defineResource } from '../../../kind/define-resource.ts'
import { volumeAttributesClassCells } from '../../../table/cells/storage.ts'

/** Attributes of volumes that may be changed while a volume is in use. */
export const volumeAttributesClass = defineResource('storage.VolumeAttributesClass', {
  versions: {
    v1alpha1: { since: 29, isOffByDefault: true, deprecated: { since: '1.32', removed: '1.35', replacement: 'v1' } },
    v1beta1: { since: 31, isOffByDefault: true, deprecated: { since: '1.34', removed: '1.37', replacement: 'v1' } },
    v1: { since: 34 },
  },
  shortNames: ['vac'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersion: 'v1alpha1',
  changes: { 31: { storageVersion: 'v1beta1' }, 36: { storageVersion: 'v1' } },
  deleteAnswer: 'object',
  table: { cells: volumeAttributesClassCells, columns: ['Name', 'DriverName', 'Age'] },
})
