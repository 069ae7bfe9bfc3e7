import { defineResource } from '../../../kind/define-resource.ts'
import { componentStatusCells } from '../../../table/cells/cluster.ts'

/** Health of a component of the control plane. Deprecated; ask the components themselves. */
export const componentStatus = defineResource('core.ComponentStatus', {
  versions: { v1: { deprecated: { since: '1.19' } } },
  shortNames: ['cs'],
  scope: 'Cluster',
  verbs: ['get', 'list'],
  backing: 'computed',
  table: {
    cells: componentStatusCells,
    columns: ['Name', { name: 'Status', description: 'Health of the component.' }, 'Message', 'Error'],
  },
})
