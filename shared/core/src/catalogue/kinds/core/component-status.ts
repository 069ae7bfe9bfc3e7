import { defineResource } from '../../../kind/define-resource.ts'
import { componentStatusCells } from '../../../table/cells/cluster.ts'

/** Health of a component of the control plane. Deprecated; ask the components themselves. */
export const componentStatus = defineResource({
  kind: 'ComponentStatus',
  versions: [{ type: 'core/v1.ComponentStatus', deprecated: { since: '1.19' } }],
  storedAs: 'core/v1.ComponentStatus',
  plural: 'componentstatuses',
  shortNames: ['cs'],
  scope: 'Cluster',
  verbs: ['get', 'list'],
  backing: 'computed',
  table: {
    cells: componentStatusCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Status', type: 'string', description: 'Health of the component.' },
      { name: 'Message', type: 'string' },
      { name: 'Error', type: 'string' },
    ],
  },
})
