import { defineTypes, field, list, needed, object, ref, string, struct } from '../description/define.ts'

/** The types of rbac/v1. */
export const rbacV1 = defineTypes({
  AggregationRule: () =>
    struct(
      {
        clusterRoleSelectors: field(list(ref('meta/v1.LabelSelector')), {
          tag: 1,
          needed: 'at least one clusterRoleSelector required if aggregationRule is non-nil',
          changes: { 30: { listType: 'atomic' } },
          doc: 'Cluster roles that match any of these selectors give their rules.',
        }),
      },
      { doc: 'Says from which other cluster roles the rules of a role are gathered.' },
    ),
  ClusterRole: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        rules: field(list(ref('rbac/v1.PolicyRule')), {
          tag: 2,
          keepEmpty: true,
          changes: { 30: { listType: 'atomic' } },
          doc: 'The permissions. They only add up; nothing can be denied.',
        }),
        aggregationRule: field(ref('rbac/v1.AggregationRule'), {
          tag: 3,
          pointer: true,
          doc: 'If set, the rules are kept up to date from the chosen cluster roles and changes by hand are overwritten.',
        }),
      },
      { doc: 'A set of permissions for the whole cluster, given to users by a binding.' },
    ),
  ClusterRoleBinding: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        subjects: field(list(ref('rbac/v1.Subject')), {
          tag: 2,
          changes: { 30: { listType: 'atomic' } },
          doc: 'Users, groups and service accounts that get the permissions.',
        }),
        roleRef: field(ref('rbac/v1.RoleRef'), {
          tag: 3,
          required: true,
          doc: 'The cluster role that is given. Cannot be changed after creation.',
        }),
      },
      { doc: 'Gives the permissions of a cluster role, in all namespaces, to subjects.' },
    ),
  ClusterRoleBindingList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('rbac/v1.ClusterRoleBinding')), {
          tag: 2,
          required: true,
          doc: 'The ClusterRoleBinding objects of the list.',
        }),
      },
      { doc: 'A list of ClusterRoleBinding objects.' },
    ),
  ClusterRoleList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('rbac/v1.ClusterRole')), { tag: 2, required: true, doc: 'The ClusterRole objects of the list.' }),
      },
      { doc: 'A list of ClusterRole objects.' },
    ),
  PolicyRule: () =>
    struct(
      {
        verbs: field(list(string()), {
          tag: 1,
          needed: 'verbs must contain at least one value',
          declaredSince: 37,
          required: true,
          changes: { 30: { listType: 'atomic' } },
          doc: 'Allowed verbs: get, list, watch, create, update, patch, delete and so on. * means all.',
        }),
        apiGroups: field(list(string()), {
          tag: 2,
          needed: 'resource rules must supply at least one api group',
          changes: { 30: { listType: 'atomic' } },
          doc: 'Groups of the resources. An empty string is the legacy group, * means all.',
        }),
        resources: field(list(string()), {
          tag: 3,
          needed: 'resource rules must supply at least one resource',
          changes: { 30: { listType: 'atomic' } },
          doc: 'Resources that may be acted on, subresources as resource/subresource. * means all.',
        }),
        resourceNames: field(list(string()), {
          tag: 4,
          changes: { 30: { listType: 'atomic' } },
          doc: 'If not empty, only objects with these names.',
        }),
        nonResourceURLs: field(list(string()), {
          tag: 5,
          changes: { 30: { listType: 'atomic' } },
          doc: 'Paths that are not resources, in cluster roles only. A * matches the rest of a path.',
        }),
      },
      { doc: 'Things that may be done, either to resources or to paths of the server.' },
    ),
  Role: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        rules: field(list(ref('rbac/v1.PolicyRule')), {
          tag: 2,
          keepEmpty: true,
          changes: { 30: { listType: 'atomic' } },
          doc: 'The permissions. They only add up; nothing can be denied.',
        }),
      },
      { doc: 'A set of permissions in one namespace, given to users by a binding.' },
    ),
  RoleBinding: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
        }),
        subjects: field(list(ref('rbac/v1.Subject')), {
          tag: 2,
          changes: { 30: { listType: 'atomic' } },
          doc: 'Users, groups and service accounts that get the permissions.',
        }),
        roleRef: field(ref('rbac/v1.RoleRef'), {
          tag: 3,
          required: true,
          doc: 'The role of this namespace, or the cluster role, that is given. Cannot be changed after creation.',
        }),
      },
      { doc: 'Gives the permissions of a role or cluster role, in one namespace, to subjects.' },
    ),
  RoleBindingList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('rbac/v1.RoleBinding')), { tag: 2, required: true, doc: 'The RoleBinding objects of the list.' }),
      },
      { doc: 'A list of RoleBinding objects.' },
    ),
  RoleList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
        }),
        items: field(list(ref('rbac/v1.Role')), { tag: 2, required: true, doc: 'The Role objects of the list.' }),
      },
      { doc: 'A list of Role objects.' },
    ),
  RoleRef: () =>
    struct(
      {
        apiGroup: field(string(), {
          tag: 1,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'API group of the role.',
        }),
        kind: field(string(), { tag: 2, required: true, doc: 'Role or ClusterRole.' }),
        name: needed(string(), { tag: 3, required: true, declaredSince: 37, doc: 'Name of the role.' }),
      },
      { structType: 'atomic', doc: 'Points to the role of a binding.' },
    ),
  Subject: () =>
    struct(
      {
        kind: field(string(), { tag: 1, required: true, doc: 'User, Group or ServiceAccount.' }),
        apiGroup: field(string(), {
          tag: 2,
          doc: 'API group of the subject: empty for service accounts, the authorization group for users and groups, which is the default.',
        }),
        name: needed(string(), { tag: 3, required: true, declaredSince: 37, doc: 'Name of the subject.' }),
        namespace: field(string(), { tag: 4, doc: 'Namespace of a service account. Not allowed for users and groups.' }),
      },
      { structType: 'atomic', doc: 'A user, a group of users or a service account.' },
    ),
})
