import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aName, aNamespace, type Body, created, namesOfItems, sharedApi, until } from './api.ts'

/** The names of kube-apiserver 1.25. The test writes them out so that it does not depend on the server's tables. */
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1beta2'

interface Expected {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly aggregationRule?: object
  readonly rules?: readonly Rule[]
  readonly roleRef?: object
  readonly subjects?: readonly object[]
}

type Rule = Readonly<Record<string, readonly string[]>>

const policy = JSON.parse(readFileSync(new URL('kubernetes-bootstrap-rbac.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly Expected[]>
>

/** Rules that roles have only here, for the reads of this server's controllers. */
const additionalRules: Readonly<Record<string, readonly string[]>> = {
  'system:controller:service-account-controller': ['get,list,watch  namespaces,serviceaccounts'],
  'system:controller:root-ca-cert-publisher': ['get,list,watch  configmaps,namespaces'],
}

/** Controllers that only newer versions have. */
const newerControllers = [
  'system:controller:storage-version-migrator-controller',
  'system:controller:validatingadmissionpolicy-status-controller',
]

/** Names that only this server has: rights of controllers that kube-controller-manager runs as another user, and names of newer versions. */
const additionalNames: Readonly<Record<string, readonly string[]>> = {
  clusterroles: ['system:controllers', 'system:controllers:nodes', ...newerControllers],
  clusterrolebindings: ['system:controllers', 'system:controllers:nodes', ...newerControllers],
  roles: ['kube-system/system:controllers'],
  rolebindings: ['kube-system/system:controllers'],
}

const server = sharedApi({ version: '1.25', profile: 'kubernetes' })

test.each([
  ['clusterroles', ['clusterRoles', 'controllerRoles']],
  ['clusterrolebindings', ['clusterRoleBindings', 'controllerRoleBindings']],
  ['roles', ['namespaceRoles']],
  ['rolebindings', ['namespaceRoleBindings']],
])(
  'NAME-01, AUTHZ-08: bootstrap %s of profile kubernetes equal those of kube-apiserver, including names and labels',
  async (plural, tables) => {
    const { body } = await server.api.get(`${rbac}/${plural}`)
    const live = new Map(body.items.map((item) => [keyOf(item.metadata), shapeOf(item)]))
    const expected = tables.flatMap((table) => policy[table] ?? [])
    for (const entry of expected) {
      expect(live.get(keyOf(entry)), entry.name).toEqual({
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...entry.labels },
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
        aggregationRule: entry.aggregationRule,
        rules: expectedRules(entry),
        roleRef: entry.roleRef,
        subjects: entry.subjects?.length === 0 ? undefined : entry.subjects,
      })
    }
    const others = [...live.keys()].filter((key) => !expected.some((entry) => keyOf(entry) === key))
    const known = plural.startsWith('cluster') ? (policy['otherControllerRoleNames'] ?? []) : []
    expect(others.sort()).toEqual([...known, ...(additionalNames[plural] ?? [])].sort())
  },
)

function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function expectedRules({ name, aggregationRule, rules }: Expected): string | string[] {
  if (aggregationRule !== undefined) return 'aggregated'
  return rules === undefined ? [] : [...printRules(rules), ...(additionalRules[name] ?? [])].sort()
}

function shapeOf({ metadata, aggregationRule, rules, roleRef, subjects }: Body) {
  const printed = aggregationRule === undefined ? printRules(rules as Rule[] | undefined) : 'aggregated'
  return { labels: metadata.labels, annotations: metadata['annotations'], aggregationRule, rules: printed, roleRef, subjects }
}

/** One text per rule, sorted: the order of rules and of their words means nothing. */
function printRules(rules: readonly Rule[] = []): string[] {
  const fields = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs']
  const print = (rule: Rule) => fields.map((field) => [...(rule[field] ?? [])].sort().join(',')).join(' ')
  return rules.map((rule) => print(rule).trimEnd()).sort()
}

test('NAME-01, AUTHZ-08: a ClusterRole with rbac.authorization.k8s.io/aggregate-to-view joins view, edit and admin', async () => {
  const { api } = server
  const rule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
  const metadata = { name: aName('role'), labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }
  await created(api, `${rbac}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [rule] })
  for (const role of ['view', 'edit', 'admin']) {
    const { body } = await until(
      () => api.get(`${rbac}/clusterroles/${role}`),
      ({ text }) => text.includes('widgets'),
    )
    expect(body['rules']).toContainEqual(rule)
  }
})

test('NAME-01: bootstrap objects of flow control have the names and the annotation of kube-apiserver', async () => {
  const names = {
    flowschemas: [
      ...['catch-all', 'endpoint-controller', 'exempt', 'global-default', 'kube-controller-manager', 'kube-scheduler'],
      ...['kube-system-service-accounts', 'probes', 'service-accounts', 'system-leader-election', 'system-node-high', 'system-nodes'],
      'workload-leader-election',
    ],
    prioritylevelconfigurations: [
      ...['catch-all', 'exempt', 'global-default', 'leader-election', 'node-high', 'system', 'workload-high', 'workload-low'],
    ],
  }
  for (const [plural, expected] of Object.entries(names)) {
    const { body } = await server.api.get(`${flowControl}/${plural}`)
    expect(namesOfItems(body)).toEqual(expected)
    for (const { metadata } of body.items) expect(metadata['annotations']).toEqual({ 'apf.kubernetes.io/autoupdate-spec': 'true' })
  }
})

test('NAME-01: storage of a class is counted under <class>.storageclass.storage.k8s.io', async () => {
  const { api } = server
  const base = `/api/v1/namespaces/${await aNamespace(api)}`
  const hard = {
    'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
  }
  await created(api, `${base}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } })
  const isCounted = ({ body }: { body: Body }) => (body['status'] as { used?: object }).used !== undefined
  await until(() => api.get(`${base}/resourcequotas/q`), isCounted)
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', resources: { requests: { storage: '3Gi' } } }
  await created(api, `${base}/persistentvolumeclaims`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    spec,
  })
  expect((await api.get(`${base}/resourcequotas/q`)).body['status']).toMatchObject({
    used: {
      'gold.storageclass.storage.k8s.io/requests.storage': '3Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    },
  })
})

test('NAME-01, AUTHN-SA-13: the user of a pod’s token has authentication.kubernetes.io/pod-name and pod-uid', async () => {
  const { api } = server
  const base = `/api/v1/namespaces/${await aNamespace(api)}`
  await created(api, `${base}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } })
  const pod = await created(api, `${base}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
  })
  const { body } = await api.post(`${base}/serviceaccounts/robot/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } },
  })
  const { token } = body['status'] as { token: string }
  const review = await created(api, '/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token },
  })
  expect(review['status']).toMatchObject({
    user: { extra: { 'authentication.kubernetes.io/pod-name': ['p'], 'authentication.kubernetes.io/pod-uid': [pod.metadata.uid] } },
  })
})
