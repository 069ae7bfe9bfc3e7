import { atomicSince30, field, needed, pointer, required } from '../description/fields.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { list, ref } from '../description/values.ts'
import { metadata, objectList, requiredUntil } from './common.ts'

/** The types of rbac/v1. */
export const rbacV1 = defineTypes({
  AggregationRule: struct('Says from which other cluster roles the rules of a role are gathered.', () => ({
    clusterRoleSelectors: atomicSince30(list(ref('meta/v1.LabelSelector')), 1, {
      needed: 'at least one clusterRoleSelector required if aggregationRule is non-nil',
      doc: 'Cluster roles that match any of these selectors give their rules.',
    }),
  })),
  ClusterRole: object('A set of permissions for the whole cluster, given to users by a binding.', () => ({
    metadata,
    rules: atomicSince30(list(ref('rbac/v1.PolicyRule')), 2, {
      keepEmpty: true,
      doc: 'The permissions. They only add up; nothing can be denied.',
    }),
    aggregationRule: pointer(ref('rbac/v1.AggregationRule'), 3, {
      doc: 'If set, the rules are kept up to date from the chosen cluster roles and changes by hand are overwritten.',
    }),
  })),
  ClusterRoleBinding: object('Gives the permissions of a cluster role, in all namespaces, to subjects.', () => ({
    metadata,
    subjects: atomicSince30(list(ref('rbac/v1.Subject')), 2, 'Users, groups and service accounts that get the permissions.'),
    roleRef: required(ref('rbac/v1.RoleRef'), 3, 'The cluster role that is given. Cannot be changed after creation.'),
  })),
  ClusterRoleBindingList: objectList('rbac/v1.ClusterRoleBinding'),
  ClusterRoleList: objectList('rbac/v1.ClusterRole'),
  PolicyRule: struct('Things that may be done, either to resources or to paths of the server.', () => ({
    verbs: atomicSince30(list(string()), 1, {
      needed: 'verbs must contain at least one value',
      declaredSince: 37,
      required: true,
      doc: 'Allowed verbs: get, list, watch, create, update, patch, delete and so on. * means all.',
    }),
    apiGroups: atomicSince30(list(string()), 2, {
      needed: 'resource rules must supply at least one api group',
      doc: 'Groups of the resources. An empty string is the legacy group, * means all.',
    }),
    resources: atomicSince30(list(string()), 3, {
      needed: 'resource rules must supply at least one resource',
      doc: 'Resources that may be acted on, subresources as resource/subresource. * means all.',
    }),
    resourceNames: atomicSince30(list(string()), 4, 'If not empty, only objects with these names.'),
    nonResourceURLs: atomicSince30(list(string()), 5, {
      doc: 'Paths that are not resources, in cluster roles only. A * matches the rest of a path.',
    }),
  })),
  Role: object('A set of permissions in one namespace, given to users by a binding.', () => ({
    metadata,
    rules: atomicSince30(list(ref('rbac/v1.PolicyRule')), 2, {
      keepEmpty: true,
      doc: 'The permissions. They only add up; nothing can be denied.',
    }),
  })),
  RoleBinding: object('Gives the permissions of a role or cluster role, in one namespace, to subjects.', () => ({
    metadata,
    subjects: atomicSince30(list(ref('rbac/v1.Subject')), 2, 'Users, groups and service accounts that get the permissions.'),
    roleRef: required(ref('rbac/v1.RoleRef'), 3, {
      doc: 'The role of this namespace, or the cluster role, that is given. Cannot be changed after creation.',
    }),
  })),
  RoleBindingList: objectList('rbac/v1.RoleBinding'),
  RoleList: objectList('rbac/v1.Role'),
  RoleRef: atomicStruct('Points to the role of a binding.', () => ({
    apiGroup: field(string(), 1, { ...requiredUntil(35), doc: 'API group of the role.' }),
    kind: required(string(), 2, 'Role or ClusterRole.'),
    name: needed(string(), 3, { required: true, declaredSince: 37, doc: 'Name of the role.' }),
  })),
  Subject: atomicStruct('A user, a group of users or a service account.', () => ({
    kind: required(string(), 1, 'User, Group or ServiceAccount.'),
    apiGroup: field(string(), 2, {
      doc: 'API group of the subject: empty for service accounts, the authorization group for users and groups, which is the default.',
    }),
    name: needed(string(), 3, { required: true, declaredSince: 37, doc: 'Name of the subject.' }),
    namespace: field(string(), 4, 'Namespace of a service account. Not allowed for users and groups.'),
  })),
})
