import { defineResource } from '../../../kind/define-resource.ts'
import { bindingCells } from '../../../table/cells/access.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillRoleBinding } from '../../defaults/policy.ts'

/** Gives the permissions of a cluster role, in all namespaces, to subjects. */
export const clusterRoleBinding = defineResource('rbac.ClusterRoleBinding', {
  scope: 'Cluster',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
  defaults: fillRoleBinding,
  table: { cells: bindingCells, columns: ['Name', 'Role', 'Age', ...wide('Users', 'Groups', 'ServiceAccounts')] },
})
