import { defineResource } from '../../../kind/define-resource.ts'
import { volumeAttributesClassCells } from '../../../table/cells/storage.ts'

/** Attributes of volumes that may be changed while a volume is in use. */
export const volumeAttributesClass = defineResource({
  kind: 'VolumeAttributesClass',
  versions: [{ type: 'storage/v1.VolumeAttributesClass', since: 34 }],
  storedAs: 'storage/v1.VolumeAttributesClass',
  plural: 'volumeattributesclasses',
  shortNames: ['vac'],
  scope: 'Cluster',
  rechecksName: true,
  storageVersionHash: 'Bl3MtjZ/n/s=',
  changes: { 36: { storageVersionHash: 'tIjydgKBC5w=' } },
  deleteAnswer: 'object',
  table: {
    cells: volumeAttributesClassCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'DriverName', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
