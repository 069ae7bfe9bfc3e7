import { defineResource } from '../../../kind/define-resource.ts'
import { storageClassCells } from '../../../table/cells/storage.ts'
import { fillStorageClass } from '../../defaults/storage.ts'
import { warningsOfStorageClass } from '../../warnings/node-label-warnings.ts'

/** A kind of storage that claims can ask for by name, and how volumes of it are made. */
export const storageClass = defineResource('storage.StorageClass', {
  shortNames: ['sc'],
  scope: 'Cluster',
  rechecksName: true,
  deleteAnswer: 'object',
  defaults: fillStorageClass,
  warnings: warningsOfStorageClass,
  table: {
    cells: storageClassCells,
    columns: ['Name', 'Provisioner', 'ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion', 'Age'],
  },
})
