import { defineResource } from '../../../kind/define-resource.ts'

/** A set of permissions for the whole cluster, given to users by a binding. */
export const clusterRole = defineResource('rbac.ClusterRole', {
  scope: 'Cluster',
  nameKind: 'pathSegment',
  createsOnUpdate: true,
})
