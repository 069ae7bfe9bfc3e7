import { defineResource } from '../../../kind/define-resource.ts'
import { volumeAttributesClassCells } from '../../../table/cells/storage.ts'

/** Attributes of volumes that may be changed while a volume is in use. */
export const volumeAttributesClass = defineResource({
  versions: [
    {
      type: 'storage/v1alpha1.VolumeAttributesClass',
      since: 29,
      isOffByDefault: true,
      deprecated: { since: '1.32', removed: '1.35', replacement: 'storage/v1.VolumeAttributesClass' },
    },
    {
      type: 'storage/v1beta1.VolumeAttributesClass',
      since: 31,
      isOffByDefault: true,
      deprecated: { since: '1.34', removed: '1.37', replacement: 'storage/v1.VolumeAttributesClass' },
    },
    { type: 'storage/v1.VolumeAttributesClass', since: 34 },
  ],
  plural: 'volumeattributesclasses',
  shortNames: ['vac'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: 'HPC8kMG1ukQ=',
  changes: { 31: { storageVersionHash: 'Bl3MtjZ/n/s=' }, 36: { storageVersionHash: 'tIjydgKBC5w=' } },
  deleteAnswer: 'object',
  table: { cells: volumeAttributesClassCells, columns: ['Name', 'DriverName', 'Age'] },
})
