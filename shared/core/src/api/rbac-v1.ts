import { defineTypes, field, list, object, ref, string, struct } from '../schema/define.ts'

/** The types of rbac/v1: one definition each, read by everything that knows a type. */
export const rbacV1 = defineTypes({
  AggregationRule: () =>
    struct({
      clusterRoleSelectors: field(list(ref('meta/v1.LabelSelector')), { tag: 1 }),
    }),
  ClusterRole: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      rules: field(list(ref('rbac/v1.PolicyRule')), { tag: 2, keepEmpty: true }),
      aggregationRule: field(ref('rbac/v1.AggregationRule'), { tag: 3, pointer: true }),
    }),
  ClusterRoleBinding: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      subjects: field(list(ref('rbac/v1.Subject')), { tag: 2 }),
      roleRef: field(ref('rbac/v1.RoleRef'), { tag: 3, required: true }),
    }),
  ClusterRoleBindingList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('rbac/v1.ClusterRoleBinding')), { tag: 2, required: true }),
    }),
  ClusterRoleList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('rbac/v1.ClusterRole')), { tag: 2, required: true }),
    }),
  PolicyRule: () =>
    struct({
      verbs: field(list(string()), { tag: 1, required: true }),
      apiGroups: field(list(string()), { tag: 2 }),
      resources: field(list(string()), { tag: 3 }),
      resourceNames: field(list(string()), { tag: 4 }),
      nonResourceURLs: field(list(string()), { tag: 5 }),
    }),
  Role: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      rules: field(list(ref('rbac/v1.PolicyRule')), { tag: 2, keepEmpty: true }),
    }),
  RoleBinding: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      subjects: field(list(ref('rbac/v1.Subject')), { tag: 2 }),
      roleRef: field(ref('rbac/v1.RoleRef'), { tag: 3, required: true }),
    }),
  RoleBindingList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('rbac/v1.RoleBinding')), { tag: 2, required: true }),
    }),
  RoleList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('rbac/v1.Role')), { tag: 2, required: true }),
    }),
  RoleRef: () =>
    struct(
      {
        apiGroup: field(string(), { tag: 1, required: true }),
        kind: field(string(), { tag: 2, required: true }),
        name: field(string(), { tag: 3, required: true }),
      },
      { structType: 'atomic' },
    ),
  Subject: () =>
    struct(
      {
        kind: field(string(), { tag: 1, required: true }),
        apiGroup: field(string(), { tag: 2 }),
        name: field(string(), { tag: 3, required: true }),
        namespace: field(string(), { tag: 4 }),
      },
      { structType: 'atomic' },
    ),
})
