import { defineResource } from '../../../kind/define-resource.ts'
import { volumeAttributesClassCells } from '../../../table/cells/storage.ts'

/** Attributes of volumes that may be changed while a volume is in use. */
export const volumeAttributesClass = defineResource({
  versions: [{ type: 'storage/v1.VolumeAttributesClass', since: 34 }],
  plural: 'volumeattributesclasses',
  shortNames: ['vac'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: 'Bl3MtjZ/n/s=',
  changes: { 36: { storageVersionHash: 'tIjydgKBC5w=' } },
  deleteAnswer: 'object',
  table: { cells: volumeAttributesClassCells, columns: ['Name', 'DriverName', 'Age'] },
})
