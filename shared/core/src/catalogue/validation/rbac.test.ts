import { expect, test } from 'vitest'
import { type Body, problemsOf, withChange } from '../testing/rules-testing.ts'

const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] }
const group = 'rbac.authorization.orch.io'
/** The object in a namespace, unless its kind is cluster-scoped. */
const placed = (kind: string, body: Body): Body => ({
  ...body,
  metadata: kind.startsWith('Cluster') ? { name: 'a' } : { name: 'a', namespace: 'n' },
})

test.each<readonly [string, string, Body, readonly string[]]>([
  ['a rule for resources', 'Role', rule, []],
  ['no verb', 'Role', { ...rule, verbs: [] }, ['rules[0].verbs: Required value: verbs must contain at least one value']],
  [
    'no group',
    'Role',
    { ...rule, apiGroups: [] },
    ['rules[0].apiGroups: Required value: resource rules must supply at least one api group'],
  ],
  [
    'no resource',
    'Role',
    { ...rule, resources: [] },
    ['rules[0].resources: Required value: resource rules must supply at least one resource'],
  ],
  ['a path', 'ClusterRole', { verbs: ['get'], nonResourceURLs: ['/x'] }, []],
  [
    'a path in a namespace',
    'Role',
    { verbs: ['get'], nonResourceURLs: ['/x'] },
    ['rules[0].nonResourceURLs: Invalid value: []string{"/x"}: namespaced rules cannot apply to non-resource URLs'],
  ],
  [
    'a path and resources',
    'ClusterRole',
    { ...rule, nonResourceURLs: ['/x'] },
    ['rules[0].nonResourceURLs: Invalid value: []string{"/x"}: rules cannot apply to both regular resources and non-resource URLs'],
  ],
])('a role with %s has the expected errors', (_, kind, given, problems) => {
  expect(problemsOf(`rbac/v1.${kind}`, placed(kind, { rules: [given] }))).toEqual(problems)
})

test('a ClusterRole with an aggregation rule has selectors', () => {
  const gathering = (selectors: Body[]): Body => ({ rules: [], aggregationRule: { clusterRoleSelectors: selectors } })
  expect(problemsOf('rbac/v1.ClusterRole', gathering([{ matchLabels: { a: 'b' } }]))).toEqual([])
  expect(problemsOf('rbac/v1.ClusterRole', gathering([]))).toEqual([
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ])
  expect(problemsOf('rbac/v1.ClusterRole', gathering([{ matchExpressions: [{ key: 'a', operator: 'In' }] }]))).toEqual([
    "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'aggregationRule.clusterRoleSelectors[0]: Invalid value: "null": invalid label selector.',
  ])
})

const binding: Body = {
  roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'r' },
  subjects: [
    { kind: 'User', apiGroup: group, name: 'u' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ],
}

test.each(['RoleBinding', 'ClusterRoleBinding'])('a %s with everything set is valid', (kind) => {
  expect(problemsOf(`rbac/v1.${kind}`, placed(kind, binding))).toEqual([])
})

test.each<readonly [string, string, string, unknown, readonly string[]]>([
  ['a foreign group', 'RoleBinding', 'roleRef/apiGroup', 'x', [`roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`]],
  [
    'a role that is none',
    'RoleBinding',
    'roleRef/kind',
    'X',
    ['roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"'],
  ],
  [
    'a Role for all',
    'ClusterRoleBinding',
    'roleRef/kind',
    'Role',
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  ['no role', 'RoleBinding', 'roleRef/name', '', ['roleRef.name: Required value']],
  ['a role with a slash', 'RoleBinding', 'roleRef/name', 'a/b', [`roleRef.name: Invalid value: "a/b": may not contain '/'`]],
  ['nobody', 'RoleBinding', 'subjects/0/name', '', ['subjects[0].name: Required value']],
  [
    'a user of another group',
    'RoleBinding',
    'subjects/0/apiGroup',
    'x',
    [`subjects[0].apiGroup: Unsupported value: "x": supported values: "${group}"`],
  ],
  [
    'a subject that is none',
    'RoleBinding',
    'subjects/0/kind',
    'Robot',
    ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
  ],
  [
    'an account in a group',
    'RoleBinding',
    'subjects/2/apiGroup',
    'x',
    ['subjects[2].apiGroup: Unsupported value: "x": supported values: ""'],
  ],
  ['an account of nowhere', 'ClusterRoleBinding', 'subjects/2/namespace', '', ['subjects[2].namespace: Required value']],
  ['an account of its own namespace', 'RoleBinding', 'subjects/2/namespace', '', []],
])('a binding with %s has the expected errors', (_, kind, path, value, problems) => {
  expect(problemsOf(`rbac/v1.${kind}`, placed(kind, withChange(binding, path, value)))).toEqual(problems)
})

test('the roleRef of a binding is immutable', () => {
  const changed = withChange(binding, 'roleRef/name', 'other')
  expect(problemsOf('rbac/v1.RoleBinding', changed, { live: binding })).toEqual([
    `roleRef: Invalid value: rbac.RoleRef{APIGroup:"${group}", Kind:"ClusterRole", Name:"other"}: cannot change roleRef`,
  ])
})
