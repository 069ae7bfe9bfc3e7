import { describe, expect, test } from 'vitest'
import { aName, aNamespace, configMap, configMapsIn, created, failure, sharedApi, until } from '../api/api.ts'
import { aBinding, aClusterRole, aPerson, aRole, give, onceAllowed, rbac } from './people.ts'

const server = sharedApi()
const readConfigMaps = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'] }

describe('rights from roles', () => {
  test('AUTHZ-01, ERR-06: are required: the 403 names the user, the action and the place', async () => {
    const { api } = server
    const jane = aPerson(api, 'jane')
    const why = 'User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"'
    expect(await jane.get(configMapsIn('default'))).toMatchObject({
      status: 403,
      body: failure(403, 'Forbidden', `configmaps is forbidden: ${why}`, { kind: 'configmaps' }),
    })
    const texts = await Promise.all(
      ['/api/v1/nodes/n', '/apis/apps/v1/namespaces/a/deployments/d/scale', '/metrics', '/api/v1/pods'].map(
        async (target) => (await jane.get(target)).body.message,
      ),
    )
    expect(texts).toEqual([
      'nodes "n" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope',
      'deployments.apps "d" is forbidden: User "jane" cannot get resource "deployments/scale" in API group "apps" in the namespace "a"',
      'forbidden: User "jane" cannot get path "/metrics"',
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope',
    ])
  })

  test('AUTHZ-03, ADDR-13: of a role in a namespace apply there, until its binding is deleted', async () => {
    const { api } = server
    const [namespace, other, person] = [await aNamespace(api), await aNamespace(api), aPerson(api)]
    const name = await give(api, person, [readConfigMaps], namespace)
    expect((await onceAllowed(() => person.get(configMapsIn(namespace)))).status).toBe(200)
    expect((await person.get(configMapsIn(other))).status).toBe(403)
    expect((await person.post(configMapsIn(namespace), configMap())).status).toBe(403)
    await api.delete(`${rbac}/namespaces/${namespace}/rolebindings/${name}`)
    expect(
      (
        await until(
          () => person.get(configMapsIn(namespace)),
          ({ status }) => status === 403,
        )
      ).status,
    ).toBe(403)
  })

  test('AUTHZ-03, ADDR-13: of a cluster role bound in a namespace apply only there', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'v', 'ClusterRole', 'view', person.name))
    expect((await onceAllowed(() => person.get(configMapsIn(namespace)))).status).toBe(200)
    expect((await person.get(configMapsIn('default'))).status).toBe(403)
    expect((await person.get(`/api/v1/namespaces/${namespace}/secrets`)).status).toBe(403)
  })

  test('AUTHZ-05, ADDR-15: are separate for subresources', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await give(api, person, [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'] }], namespace)
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/none`
    expect((await onceAllowed(() => person.get(path))).status).toBe(404)
    expect((await person.get(`${path}/status`)).status).toBe(403)
    await give(api, person, [{ verbs: ['get'], apiGroups: ['*'], resources: ['*/status'] }], namespace)
    expect((await onceAllowed(() => person.get(`${path}/status`))).status).toBe(404)
    expect((await person.get(`${path}/scale`)).status).toBe(403)
  })

  test('ADDR-15: to logs do not include Pods, and rights to Pods do not include logs', async () => {
    const { api } = server
    const [namespace, ofLogs, ofPods] = [await aNamespace(api), aPerson(api), aPerson(api)]
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await created(api, pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
    await give(api, ofLogs, [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }], namespace)
    await give(api, ofPods, [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], namespace)
    expect((await onceAllowed(() => ofLogs.get(`${pods}/p/log`))).status).toBe(204)
    expect((await onceAllowed(() => ofPods.get(`${pods}/p`))).status).toBe(200)
    expect((await ofLogs.get(`${pods}/p`)).status).toBe(403)
    expect((await ofPods.get(`${pods}/p/log`)).status).toBe(403)
  })

  test('AUTHZ-03: to named objects are separate, and allow a list of that single object', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const path = configMapsIn(namespace)
    await created(api, path, configMap({ name: 'mine' }))
    await give(api, person, [{ ...readConfigMaps, resourceNames: ['mine'] }], namespace)
    expect((await onceAllowed(() => person.get(`${path}/mine`))).status).toBe(200)
    expect((await person.get(`${path}/other`)).status).toBe(403)
    expect((await person.get(path)).status).toBe(403)
    expect((await person.get(`${path}?fieldSelector=metadata.name%3Dmine`)).body.items).toHaveLength(1)
    expect((await person.get(`${path}?fieldSelector=metadata.name%3Dother`)).status).toBe(403)
    expect((await person.get(`${path}?fieldSelector=metadata.name!%3Dmine`)).status).toBe(403)
  })

  test('AUTHZ-03: to non-resource paths come from cluster roles, with an optional star at the end', async () => {
    const { api } = server
    const person = aPerson(api)
    await give(api, person, [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/readyz/*'] }])
    expect((await onceAllowed(() => person.get('/metrics'))).status).toBe(200)
    expect((await person.get('/readyz/ping')).status).toBe(200)
    expect((await person.get('/livez/ping')).status).toBe(403)
  })

  test('AUTHZ-03: of a cluster role bound in a namespace cover resources there, and no paths', async () => {
    const { api } = server
    const [namespace, person, name] = [await aNamespace(api), aPerson(api), aName('both')]
    const role = aClusterRole(name, [readConfigMaps, { verbs: ['get'], nonResourceURLs: ['/metrics'] }])
    await created(api, `${rbac}/clusterroles`, role)
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', name, 'ClusterRole', name, person.name))
    expect((await onceAllowed(() => person.get(configMapsIn(namespace)))).status).toBe(200)
    expect((await person.get('/metrics')).status).toBe(403)
    const review = { apiVersion: 'authorization.orch.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
    const listed = await until(
      () => person.post('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', review),
      ({ text }) => text.includes('configmaps'),
    )
    expect(listed.text).not.toContain('/metrics')
  })

  test('AUTHZ-03: may be bound to a service account', async () => {
    const { api } = server
    const namespace = await aNamespace(api)
    const robot = aPerson(api, `system:serviceaccount:${namespace}:robot`, `system:serviceaccounts:${namespace}`)
    const binding = aBinding('RoleBinding', 'r', 'ClusterRole', 'view', 'x')
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, {
      ...binding,
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace }],
    })
    expect((await onceAllowed(() => robot.get(configMapsIn(namespace)))).status).toBe(200)
  })

  test('AUTHZ-08: of a binding need no API group in its roleRef and users', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const bindings = `${rbac}/namespaces/${namespace}/rolebindings`
    const given = await api.post(bindings, {
      metadata: { name: 'short' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', name: person.name }],
    })
    const apiGroup = 'rbac.authorization.orch.io'
    expect(given).toMatchObject({ status: 201, body: { roleRef: { apiGroup }, subjects: [{ apiGroup }] } })
    expect((await onceAllowed(() => person.get(configMapsIn(namespace)))).status).toBe(200)
    const nothing = await api.post(bindings, { metadata: { name: 'nothing' } })
    expect(nothing.body.message).toMatch(/is invalid: \[roleRef\.kind: Unsupported value: "": .*, roleRef\.name: Required value\]$/)
  })

  test('AUTHZ-03: to named objects exclude collections, creates and deletions of collections', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const path = configMapsIn(namespace)
    await give(api, person, [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'] }], namespace)
    expect((await onceAllowed(() => person.get(`${path}/mine`))).status).toBe(404)
    expect((await person.post(path, configMap({ name: 'mine' }))).status).toBe(403)
    expect((await person.send('DELETE', path)).status).toBe(403)
    expect((await person.send('DELETE', `${path}?fieldSelector=metadata.name%3Dmine`)).status).toBe(403)
    expect((await person.get(`${path}?watch=1`)).status).toBe(403)
    const watches = await Promise.all([
      person.get(`${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dmine`),
      person.get(`/api/v1/watch/namespaces/${namespace}/configmaps/mine?timeoutSeconds=1`),
    ])
    expect(watches.map(({ status }) => status)).toEqual([200, 200])
    expect((await person.get(`/api/v1/watch/namespaces/${namespace}/configmaps`)).status).toBe(403)
  })

  test('AUTHZ-01: of an absent role are missing, and the refusal names its binding', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'n', 'Role', 'none', person.name))
    const { body } = await until(
      () => person.get(configMapsIn(namespace)),
      ({ text }) => text.includes('RBAC'),
    )
    expect(body.message).toMatch(/in the namespace "[^"]+": rbac: RBAC: role\.rbac\.authorization\.orch\.io "none" not found$/)
  })
})

describe('each operation needs one verb', () => {
  const operations: readonly (readonly [method: string, suffix: string, verb: string])[] = [
    ['POST', '', 'create'],
    ['GET', '/x', 'get'],
    ['GET', '', 'list'],
    ['GET', '?watch=1', 'watch'],
    ['PUT', '/x', 'update'],
    ['PATCH', '/x', 'patch'],
    ['DELETE', '/x', 'delete'],
    ['DELETE', '', 'deletecollection'],
    ['PUT', '/x/status', 'update'],
  ]
  const storage = '/apis/storage.orch.io/v1'

  test.each([
    ['nodes', '/api/v1/nodes', true],
    ['csinodes', `${storage}/csinodes`, false],
    ['volumeattachments', `${storage}/volumeattachments`, true],
    ['resourcequotas', '/api/v1/namespaces/default/resourcequotas', true],
    ['replicationcontrollers', '/api/v1/namespaces/default/replicationcontrollers', true],
  ])('AUTHZ-06: %s', async (resource, path, hasStatus) => {
    const person = aPerson(server.api)
    for (const [method, suffix, verb] of operations) {
      if (suffix.endsWith('/status') && !hasStatus) continue
      const part = suffix.endsWith('/status') ? `${resource}/status` : resource
      const { status, body } = await person.send(method, `${path}${suffix}`, { body: method === 'GET' ? undefined : {} })
      expect({ status, message: body.message }).toEqual({
        status: 403,
        message: expect.stringContaining(`cannot ${verb} resource ${JSON.stringify(part)} in API group`),
      })
    }
  })
})

describe('a grant of rights that the writer lacks', () => {
  const mayWriteRoles = {
    verbs: ['create', 'update', 'patch', 'get'],
    apiGroups: ['rbac.authorization.orch.io'],
    resources: ['roles', 'rolebindings'],
  }

  test('AUTHZ-03: in a role is a 403 that lists the missing rights', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await give(api, person, [mayWriteRoles, readConfigMaps], namespace)
    const roles = `${rbac}/namespaces/${namespace}/roles`
    expect((await onceAllowed(() => person.post(roles, aRole('same', [readConfigMaps])))).status).toBe(201)
    const more = aRole('more', [
      { ...readConfigMaps, verbs: ['get', 'delete'] },
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'] },
    ])
    const refused = await person.post(roles, more)
    expect(refused).toMatchObject({ status: 403, body: { reason: 'Forbidden', details: { name: 'more', kind: 'roles' } } })
    expect(refused.body.message).toBe(
      `roles.rbac.authorization.orch.io "more" is forbidden: user "${person.name}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
    )
    const grown = await person.send('PATCH', `${roles}/same`, {
      body: [{ op: 'add', path: '/rules/-', value: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] } }],
      headers: { 'content-type': 'application/json-patch+json' },
    })
    expect(grown.status).toBe(403)
  })

  test('AUTHZ-03: is allowed with the verb escalate', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await give(api, person, [{ ...mayWriteRoles, verbs: ['create', 'escalate'] }], namespace)
    const post = () => person.post(`${rbac}/namespaces/${namespace}/roles`, aRole('more', [readConfigMaps]))
    expect((await onceAllowed(post)).status).toBe(201)
  })

  test('AUTHZ-03: is allowed in updates of one role with the verb escalate for that role, and not in its create', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const free = { verbs: ['escalate'], apiGroups: ['rbac.authorization.orch.io'], resources: ['roles'], resourceNames: ['free'] }
    await give(api, person, [mayWriteRoles, free], namespace)
    const roles = `${rbac}/namespaces/${namespace}/roles`
    await onceAllowed(() => person.post(roles, aRole('empty', [])))
    expect((await person.post(roles, aRole('free', [readConfigMaps]))).status).toBe(403)
    await created(api, roles, aRole('free', []))
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await person.send('PATCH', `${roles}/free`, { body: { rules: [readConfigMaps] }, headers })).status).toBe(200)
  })

  test('AUTHZ-03: by an aggregationRule that selects nothing is invalid rather than forbidden', async () => {
    const { api } = server
    const person = aPerson(api)
    await give(api, person, [{ ...mayWriteRoles, resources: ['clusterroles'] }])
    await onceAllowed(() => person.post(`${rbac}/clusterroles`, aClusterRole(aName('role'), [])))
    const { status, body } = await person.post(`${rbac}/clusterroles`, aClusterRole('none', [], { aggregationRule: {} }))
    expect([status, body.message]).toEqual([422, expect.stringContaining('aggregationRule.clusterRoleSelectors: Required value')])
  })

  test('AUTHZ-03: by a policy with parameters that its writer may not read is invalid, unless they are unchanged; also by a binding', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const group = 'admissionregistration.orch.io'
    const resources = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']
    await give(api, person, [{ verbs: ['*'], apiGroups: [group], resources }])
    const [policies, bindings] = resources.map((plural) => `/apis/${group}/v1/${plural}`)
    const name = aName('policy')
    const rule = { apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['xs'] }
    const policy = (kind: string) => ({
      ...{ apiVersion: `${group}/v1`, kind: 'ValidatingAdmissionPolicy', metadata: { name } },
      spec: {
        paramKind: { apiVersion: 'v1', kind },
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'true' }],
      },
    })
    const binding = (policyName: string) => ({
      ...{ apiVersion: `${group}/v1`, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name } },
      spec: { policyName, validationActions: ['Deny'], paramRef: { name: 'x', namespace, parameterNotFoundAction: 'Deny' } },
    })
    const who = `user &{${person.name}  [system:authenticated] map[]}`
    const message = async (target: string | undefined, body: object) => (await person.post(target ?? '', body)).body.message
    await onceAllowed(() => person.get(policies ?? ''))
    expect(await message(policies, policy('ConfigMap'))).toBe(
      `ValidatingAdmissionPolicy.${group} "${name}" is invalid: spec.paramKind: Forbidden: ${who} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
    )
    await created(api, policies ?? '', policy('ConfigMap'))
    const headers = { 'content-type': 'application/merge-patch+json' }
    const change = (body: object) => person.send('PATCH', `${policies}/${name}`, { body, headers })
    expect((await change({ metadata: { labels: { a: 'b' } } })).status).toBe(200)
    expect((await change({ spec: { paramKind: { apiVersion: 'v1', kind: 'Secret' } } })).status).toBe(422)
    expect(await message(bindings, binding(name))).toContain(
      `spec.paramRef: Forbidden: ${who} does not have "get" permission on the object referenced by paramRef`,
    )
    expect(await message(bindings, binding('none'))).toContain(
      `spec.paramRef: Forbidden: unable to get policy none to determine minimum required permissions and ${who} does not have "get" permission for all groups, versions and resources`,
    )
    await give(api, person, [readConfigMaps], namespace)
    expect(
      (
        await until(
          () => person.post(bindings ?? '', binding(name)),
          ({ status }) => status !== 422,
        )
      ).status,
    ).toBe(201)
  })

  test('AUTHZ-03: by a binding needs the rules of the role, or the verb bind', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const group = 'rbac.authorization.orch.io'
    await give(
      api,
      person,
      [mayWriteRoles, readConfigMaps, { verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['edit'] }],
      namespace,
    )
    await created(api, `${rbac}/namespaces/${namespace}/roles`, aRole('held', [readConfigMaps]))
    const bind = (name: string, kind: 'Role' | 'ClusterRole', role: string) =>
      person.post(`${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', name, kind, role, 'x'))
    expect((await onceAllowed(() => bind('a', 'Role', 'held'))).status).toBe(201)
    expect((await bind('b', 'ClusterRole', 'edit')).status).toBe(201)
    const refused = await bind('c', 'ClusterRole', 'cluster-admin')
    expect(refused).toMatchObject({ status: 403, body: { details: { name: 'c', kind: 'rolebindings' } } })
    expect(refused.body.message).toContain('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}')
    expect(await bind('d', 'Role', 'none')).toMatchObject({ status: 404, body: { message: `role.${group} "none" not found` } })
  })

  test('AUTHZ-03: by aggregation needs all rights', async () => {
    const { api } = server
    const person = aPerson(api)
    await give(api, person, [{ verbs: ['create'], apiGroups: ['rbac.authorization.orch.io'], resources: ['clusterroles'] }])
    const role = aClusterRole(aName('sum'), [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } })
    const refused = await until(
      () => person.post(`${rbac}/clusterroles`, role),
      ({ text }) => text.includes('aggregationRule'),
    )
    expect(refused.body.message).toMatch(/is forbidden: must have cluster-admin privileges to use the aggregationRule$/)
  })

  test('AUTHZ-03: is also the removal or change of an aggregationRule, which needs all rights', async () => {
    const { api } = server
    const [person, name] = [aPerson(api), aName('sum')]
    await give(api, person, [{ verbs: ['update'], apiGroups: ['rbac.authorization.orch.io'], resources: ['clusterroles'] }])
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [name]: 'b' } }] }
    await created(api, `${rbac}/clusterroles`, aClusterRole(name, [], { aggregationRule }))
    const put = (role: object) => person.send('PUT', `${rbac}/clusterroles/${name}`, { body: role })
    const changed = { clusterRoleSelectors: [{ matchLabels: { [name]: 'c' } }] }
    for (const role of [aClusterRole(name, []), aClusterRole(name, [], { aggregationRule: changed })]) {
      const refused = await until(
        () => put(role),
        ({ text }) => text.includes('aggregationRule'),
      )
      expect(refused.status).toBe(403)
      expect(refused.body.message).toMatch(/is forbidden: must have cluster-admin privileges to use the aggregationRule$/)
    }
    expect((await api.get(`${rbac}/clusterroles/${name}`)).body).toMatchObject({ aggregationRule })
  })

  test('AUTHZ-03: is impossible by a change of roleRef, which is immutable', async () => {
    const { api } = server
    const [namespace, name] = [await aNamespace(api), aName()]
    const path = `${rbac}/namespaces/${namespace}/rolebindings`
    await created(api, path, aBinding('RoleBinding', name, 'ClusterRole', 'view', 'x'))
    const changed = await api.put(`${path}/${name}`, aBinding('RoleBinding', name, 'ClusterRole', 'edit', 'x'))
    expect(changed).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'roleRef' }] } } })
    expect(changed.body.message).toContain('field is immutable')
  })
})

describe('access reviews', () => {
  const reviews = '/apis/authorization.orch.io/v1'
  const ask = (kind: string, spec: object) => ({ apiVersion: 'authorization.orch.io/v1', kind, spec })

  test('VIRT-02, VIRT-05: name the binding that allows', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    const name = await give(api, person, [readConfigMaps], namespace)
    const resourceAttributes = { namespace, verb: 'get', resource: 'configmaps' }
    const answer = await until(
      () => api.post(`${reviews}/subjectaccessreviews`, ask('SubjectAccessReview', { user: person.name, resourceAttributes })),
      ({ text }) => text.includes('"allowed":true'),
    )
    expect(answer.body.status).toEqual({
      allowed: true,
      reason: `RBAC: allowed by RoleBinding "${name}/${namespace}" of Role "${name}" to User "${person.name}"`,
    })
    const self = await person.post(`${reviews}/selfsubjectaccessreviews`, ask('SelfSubjectAccessReview', { resourceAttributes }))
    expect(self.body.status).toMatchObject({ allowed: true })
    const other = { nonResourceAttributes: { path: '/metrics', verb: 'get' } }
    expect((await person.post(`${reviews}/selfsubjectaccessreviews`, ask('SelfSubjectAccessReview', other))).body.status).toEqual({
      allowed: false,
    })
    const local = { user: person.name, resourceAttributes }
    const localReview = { ...ask('LocalSubjectAccessReview', local), metadata: { namespace } }
    expect((await api.post(`${reviews}/namespaces/${namespace}/localsubjectaccessreviews`, localReview)).body.status).toMatchObject({
      allowed: true,
    })
  })

  test.each([
    ['SubjectAccessReview', { user: 'bob', nonResourceAttributes: { path: '/', verb: 'get' } }, ['f:nonResourceAttributes', 'f:user']],
    ['SelfSubjectAccessReview', { nonResourceAttributes: { path: '/', verb: 'get' } }, ['f:nonResourceAttributes']],
  ])('SSA-17: such as a %s have managedFields in the answer', async (kind, spec, fields) => {
    const path = `${reviews}/${kind.toLowerCase()}s?fieldManager=asker`
    const { status, body } = await server.api.post(path, ask(kind, spec))
    expect(status).toBe(201)
    const entries = body.metadata['managedFields'] as { fieldsV1: { 'f:spec': object } }[]
    expect(entries).toMatchObject([{ manager: 'asker', operation: 'Update', apiVersion: body.apiVersion }])
    expect(Object.keys(entries[0]?.fieldsV1['f:spec'] ?? {})).toEqual(fields)
  })

  test.each([
    ['selfsubjectaccessreviews', 'SelfSubjectAccessReview', {}, 'spec: Invalid value: null: exactly one of'],
    [
      'subjectaccessreviews',
      'SubjectAccessReview',
      { user: 'bob', resourceAttributes: {}, nonResourceAttributes: { path: '/', verb: 'get' } },
      'spec: Invalid value: {"Path":"/","Verb":"get"}: exactly one of',
    ],
  ])('ERR-18: that are invalid in %s are refused without a kind in the message', async (plural, kind, spec, problem) => {
    const { status, body } = await server.api.post(`${reviews}/${plural}`, ask(kind, spec))
    expect({ status, reason: body['reason'] }).toEqual({ status: 422, reason: 'Invalid' })
    expect(body['message']).toContain(`.authorization.orch.io "" is invalid: ${problem}`)
    expect(body['message']).toMatch(/^\.authorization/)
    expect(body['details']).not.toHaveProperty('kind')
  })

  test('VIRT-05: list the rules of the caller in a namespace', async () => {
    const { api } = server
    const [namespace, person] = [await aNamespace(api), aPerson(api)]
    await give(api, person, [{ ...readConfigMaps, resourceNames: ['a'] }], namespace)
    const list = () => person.post(`${reviews}/selfsubjectrulesreviews`, ask('SelfSubjectRulesReview', { namespace }))
    const { status, body } = await until(list, ({ text }) => text.includes('configmaps'))
    expect(status).toBe(201)
    expect(body.status).toMatchObject({ incomplete: false })
    const { resourceRules, nonResourceRules } = body.status as unknown as Record<string, unknown[]>
    expect(resourceRules).toContainEqual({ ...readConfigMaps, resourceNames: ['a'] })
    expect(nonResourceRules).toContainEqual({ verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] })
    // A binding to an absent role grants nothing, so the user needs no further right.
    await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'n', 'Role', 'none', person.name))
    const dangling = await until(list, ({ text }) => text.includes('evaluationError'))
    expect(dangling.body.status).toMatchObject({
      incomplete: false,
      evaluationError: 'role.rbac.authorization.orch.io "none" not found',
    })
    const nowhere = await person.post(`${reviews}/selfsubjectrulesreviews`, ask('SelfSubjectRulesReview', {}))
    expect(nowhere).toMatchObject({ status: 400, body: { message: 'no namespace on request' } })
  })
})

test('CTRL-02: a cluster role labelled for aggregation to view adds its rules to view, edit and admin', async () => {
  const { api } = server
  const [namespace, person] = [await aNamespace(api), aPerson(api)]
  const widgets = { verbs: ['get'], apiGroups: ['coordination.orch.io'], resources: ['leases'] }
  await created(api, `${rbac}/namespaces/${namespace}/rolebindings`, aBinding('RoleBinding', 'v', 'ClusterRole', 'view', person.name))
  expect((await person.get(`/apis/coordination.orch.io/v1/namespaces/${namespace}/leases/l`)).status).toBe(403)
  const labels = { 'rbac.authorization.orch.io/aggregate-to-view': 'true' }
  const name = aName()
  await created(api, `${rbac}/clusterroles`, { ...aClusterRole(name, [widgets]), metadata: { name, labels } })
  const rulesOf = async (role: string) => (await api.get(`${rbac}/clusterroles/${role}`)).body['rules']
  expect((await onceAllowed(() => person.get(`/apis/coordination.orch.io/v1/namespaces/${namespace}/leases/l`))).status).toBe(404)
  await until(
    () => api.get(`${rbac}/clusterroles/admin`),
    ({ body }) => JSON.stringify(body['rules']).includes(JSON.stringify(widgets)),
  )
  expect(await rulesOf('view')).toContainEqual(widgets)
  const { metadata } = (await api.get(`${rbac}/clusterroles/view`)).body
  expect(metadata['managedFields']).toContainEqual(
    expect.objectContaining({ manager: 'clusterrole-aggregation-controller', operation: 'Apply', fieldsV1: { 'f:rules': {} } }),
  )
  await api.delete(`${rbac}/clusterroles/${name}`)
  const back = await until(
    () => api.get(`${rbac}/clusterroles/view`),
    ({ body }) => !JSON.stringify(body['rules']).includes('leases'),
  )
  expect(back.body['rules']).not.toContainEqual(widgets)
})
