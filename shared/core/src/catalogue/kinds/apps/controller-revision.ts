import { defineResource } from '../../../kind/define-resource.ts'
import { controllerRevisionCells } from '../../../table/cells/workloads.ts'

/** An earlier or current form of a controller's template, kept for comparisons and rollbacks. */
export const controllerRevision = defineResource({
  versions: [{ type: 'apps/v1.ControllerRevision' }],
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: '85nkx63pcBU=',
  table: { cells: controllerRevisionCells, columns: ['Name', 'Controller', 'Revision', 'Age'] },
})
