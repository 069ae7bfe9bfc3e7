import { defineResource } from '../../../kind/define-resource.ts'
import { csiDriverCells } from '../../../table/cells/storage.ts'
import { fillCsiDriver } from '../../defaults/storage.ts'
import { warningsOfCsiDriver } from '../../warnings/rules.ts'

/** A volume driver that is installed in the cluster, and how it wants to be called. Its name is the name of the driver. */
export const csiDriver = defineResource('storage.CSIDriver', {
  scope: 'Cluster',
  deleteAnswer: 'object',
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillCsiDriver,
  warnings: warningsOfCsiDriver,
  table: {
    cells: csiDriverCells,
    columns: [
      'Name',
      { name: 'AttachRequired', type: 'boolean' },
      { name: 'PodInfoOnMount', type: 'boolean' },
      { name: 'StorageCapacity', type: 'boolean' },
      'TokenRequests',
      { name: 'RequiresRepublish', type: 'boolean' },
      'Modes',
      'Age',
    ],
  },
})
