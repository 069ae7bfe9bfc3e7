import { defineResource } from '../../../kind/define-resource.ts'
import { bindingCells } from '../../../table/cells/access.ts'
import { fillRoleBinding } from '../../defaults/policy.ts'

/** Gives the permissions of a cluster role, in all namespaces, to subjects. */
export const clusterRoleBinding = defineResource({
  kind: 'ClusterRoleBinding',
  versions: [{ type: 'rbac/v1.ClusterRoleBinding' }],
  storedAs: 'rbac/v1.ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  storageVersionHash: '48tpQ8gZHFc=',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
  defaults: fillRoleBinding,
  table: {
    cells: bindingCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Role', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'Users', type: 'string', priority: 1 },
      { name: 'Groups', type: 'string', priority: 1 },
      { name: 'ServiceAccounts', type: 'string', priority: 1 },
    ],
  },
})
