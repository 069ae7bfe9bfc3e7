import { defineResource } from '../../../kind/define-resource.ts'
import { controllerRevisionCells } from '../../../table/cells/workloads.ts'

/** An earlier or current form of a controller's template, kept for comparisons and rollbacks. */
export const controllerRevision = defineResource('apps.ControllerRevision', {
  scope: 'Namespaced',
  rechecksName: true,
  table: { cells: controllerRevisionCells, columns: ['Name', 'Controller', 'Revision', 'Age'] },
})
