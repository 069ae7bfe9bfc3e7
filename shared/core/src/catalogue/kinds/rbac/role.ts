import { defineResource } from '../../../kind/define-resource.ts'

/** A set of permissions in one namespace, given to users by a binding. */
export const role = defineResource({
  versions: [{ type: 'rbac/v1.Role' }],
  plural: 'roles',
  scope: 'Namespaced',
  storageVersionHash: '7FuwZcIIItM=',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
})
