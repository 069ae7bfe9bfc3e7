import { defineResource } from '../../../kind/define-resource.ts'
import { bindingCells } from '../../../table/cells/access.ts'
import { fillRoleBinding } from '../../defaults/policy.ts'

/** Gives the permissions of a role or cluster role, in one namespace, to subjects. */
export const roleBinding = defineResource({
  kind: 'RoleBinding',
  versions: [{ type: 'rbac/v1.RoleBinding' }],
  storedAs: 'rbac/v1.RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  storageVersionHash: 'eGsCzGH6b1g=',
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
