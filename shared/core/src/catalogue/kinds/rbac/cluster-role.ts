import { defineResource } from '../../../kind/define-resource.ts'

/** A set of permissions for the whole cluster, given to users by a binding. */
export const clusterRole = defineResource({
  versions: [{ type: 'rbac/v1.ClusterRole' }],
  plural: 'clusterroles',
  scope: 'Cluster',
  storageVersionHash: 'bYE5ZWDrJ44=',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
})
