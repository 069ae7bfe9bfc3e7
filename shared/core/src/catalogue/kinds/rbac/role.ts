import { defineResource } from '../../../kind/define-resource.ts'

/** A set of permissions in one namespace, given to users by a binding. */
export const role = defineResource('rbac.Role', {
  scope: 'Namespaced',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
})
