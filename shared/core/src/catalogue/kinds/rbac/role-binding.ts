import { defineResource } from '../../../kind/define-resource.ts'
import { bindingCells } from '../../../table/cells/access.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillRoleBinding } from '../../defaults/policy.ts'

/** Gives the permissions of a role or cluster role, in one namespace, to subjects. */
export const roleBinding = defineResource('rbac.RoleBinding', {
  scope: 'Namespaced',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
  defaults: fillRoleBinding,
  table: { cells: bindingCells, columns: ['Name', 'Role', 'Age', ...wide('Users', 'Groups', 'ServiceAccounts')] },
})
