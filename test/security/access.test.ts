import { describe, expect, test } from 'vitest'
import { aName, aNamespace, configMap, configMapsIn, created, sharedApi } from '../api/api.ts'
import { aBinding, aClusterRole, aPerson, aRole, give, onceAllowed, rbac } from '../authorization/people.ts'

const server = sharedApi()
const apply = { 'content-type': 'application/apply-patch+yaml' }
const group = 'rbac.authorization.orch.io'

describe('a write that creates an object', () => {
  test('AUTHZ-03, VERB-07, SSA-04: by a PUT or an apply needs the verb create as well', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const leases = `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`
    const rule = { verbs: ['get', 'update', 'patch'], apiGroups: ['', 'coordination.orch.io', group] }
    await give(api, person, [{ ...rule, resources: ['configmaps', 'leases', 'roles', 'services'] }], namespace)
    const object = { ...configMap(), metadata: { name: 'a' } }
    await created(api, configMapsIn(namespace), { ...object, metadata: { name: 'b' } })
    expect((await onceAllowed(() => person.get(`${configMapsIn(namespace)}/b`))).status).toBe(200)
    const applied = () => person.send('PATCH', `${configMapsIn(namespace)}/a?fieldManager=m`, { body: object, headers: apply })
    const refused = await applied()
    expect(refused.status).toBe(403)
    expect(refused.body['message']).toContain(`cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`)
    const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} }
    expect((await person.send('PUT', `${leases}/l`, { body: lease })).status).toBe(403)
    expect((await person.send('PUT', `${leases}/l?dryRun=All`, { body: lease })).status).toBe(403)
    expect((await person.send('PUT', `${rbac}/namespaces/${namespace}/roles/r`, { body: aRole('r', []) })).status).toBe(403)
    await give(
      api,
      person,
      [{ verbs: ['create'], apiGroups: ['', 'coordination.orch.io'], resources: ['configmaps', 'leases'] }],
      namespace,
    )
    expect((await onceAllowed(applied)).status).toBe(201)
    expect((await person.send('PUT', `${leases}/l`, { body: lease })).status).toBe(201)
  })
})

describe('a grant of rights that the writer lacks', () => {
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }

  test('AUTHZ-03: is refused in any kind of write', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const resources = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']
    const name = await give(api, person, [{ verbs: ['create', 'update', 'patch', 'get'], apiGroups: [group], resources }])
    expect((await onceAllowed(() => person.get(`${rbac}/clusterroles/${name}`))).status).toBe(200)
    const cluster = `${rbac}/clusterroles`
    const own = `${cluster}/${name}`
    const merge = (target: string, body: unknown, type = 'merge-patch+json') =>
      person.send('PATCH', target, { body, headers: { 'content-type': `application/${type}` } })
    const more = aClusterRole(name, [all])
    const binding = (role: string) => aBinding('ClusterRoleBinding', aName(), 'ClusterRole', role, person.name)
    const answers = await Promise.all([
      person.post(cluster, aClusterRole(aName(), [all])),
      person.post(`${cluster}?dryRun=All`, aClusterRole(aName(), [all])),
      person.post(cluster, { ...aClusterRole('', [all]), metadata: { generateName: 'g-' } }),
      person.post(cluster, aClusterRole(aName(), [{ verbs: ['get'], nonResourceURLs: ['*'] }])),
      person.post(cluster, aClusterRole(aName(), [], { aggregationRule: { clusterRoleSelectors: [{}] } })),
      person.send('PUT', own, { body: more }),
      person.send('PUT', `${cluster}/${name}-put`, { body: aClusterRole(`${name}-put`, [all]) }),
      merge(own, { rules: [all] }),
      merge(own, { rules: [all] }, 'strategic-merge-patch+json'),
      merge(own, { aggregationRule: { clusterRoleSelectors: [{}] } }),
      merge(`${cluster}/admin`, { metadata: { labels: { a: 'b' } } }),
      merge(`${cluster}/edit`, { metadata: { labels: { a: 'b' } }, rules: [all] }),
      merge(`${own}?fieldManager=m&force=true`, more, 'apply-patch+yaml'),
      person.send('PATCH', `${cluster}/${name}-new?fieldManager=m`, { body: aClusterRole(`${name}-new`, [all]), headers: apply }),
      person.post(`${rbac}/clusterrolebindings`, binding('cluster-admin')),
      person.post(`${rbac}/clusterrolebindings?dryRun=All`, binding('cluster-admin')),
      person.send('PATCH', `${rbac}/clusterrolebindings/x-${name}?fieldManager=m`, {
        body: { ...binding('cluster-admin'), metadata: { name: `x-${name}` } },
        headers: apply,
      }),
      person.post(`${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'b', 'ClusterRole', 'admin', person.name)),
      merge(`${rbac}/clusterrolebindings/cluster-admin`, { subjects: [{ kind: 'User', apiGroup: group, name: person.name }] }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403))
    // A binding cannot grant an absent role or a role of another API group.
    const other = { ...binding('cluster-admin'), roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'cluster-admin' } }
    expect([403, 422]).toContain((await person.post(`${rbac}/clusterrolebindings`, other)).status)
    expect((await person.post(`${rbac}/clusterrolebindings`, binding('none'))).status).toBe(404)
  })

  test('AUTHZ-03: is allowed by bind with a name only for that role', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await give(api, person, [{ verbs: ['create'], apiGroups: [group], resources: ['rolebindings'] }], namespace)
    await give(api, person, [{ verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['view'] }], namespace)
    const bindings = `${rbac}/namespaces/${namespace}/rolebindings`
    const bind = (role: string) => () => person.post(bindings, aBinding('RoleBinding', aName(), 'ClusterRole', role, person.name))
    expect((await onceAllowed(bind('view'))).status).toBe(201)
    expect((await bind('edit')()).status).toBe(403)
  })
})
