import { expect, test } from 'vitest'
import { aConfiguration, aHook } from '../admission/hooks.ts'
import { aWebhookServer, patching, withBody } from '../admission/webhook-server.ts'
import { type Answer, type Api, aName, aNamespace, configMap, created, sharedApi, untilEverywhere } from '../api/api.ts'

const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher', '--authorization-mode=RBAC'] })

const asked = { 'orch-explain': '1' }
const rbac = '/apis/rbac.authorization.orch.io/v1'
const roleOf = (resource: string, verbs: readonly string[]) => ({ apiGroups: [''], resources: [resource], verbs })
const mayExplain = { nonResourceURLs: ['/orch.io/explain'], verbs: ['get'] }

const told = ({ headers }: Answer) => JSON.parse(String(headers['orch-explain']))

const isExplained = ({ headers }: Answer) => headers['orch-explain'] !== undefined

/** A user who has the rights of these rules in all namespaces and may see explanations. */
async function aUser(api: Api, rules: readonly object[]) {
  const name = aName('user')
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name }]
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name }
  await created(api, `${rbac}/clusterroles`, { kind: 'ClusterRole', metadata: { name }, rules })
  await created(api, `${rbac}/clusterrolebindings`, { kind: 'ClusterRoleBinding', metadata: { name }, subjects, roleRef })
  const headers = { ...asked, 'impersonate-user': name }
  await untilEverywhere(() => api.get('/version', headers), isExplained)
  return { name, headers }
}

test('a request with an invalid token gets no explanation', async () => {
  const { api } = server
  const anybody = api.as({})
  const headers = { ...asked, authorization: 'Bearer wrong' }
  const { status, headers: fields } = await anybody('POST', '/api/v1/namespaces/default/configmaps', { headers, body: configMap() })
  expect([status, fields['orch-explain']]).toEqual([401, undefined])
})

test('an explanation names the rule that allows the request, and each webhook with its changes', async () => {
  const { api } = server
  const namespace = await aNamespace(api)
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { a: 'b' } }]))
  await aConfiguration(api, 'mutating', [aHook(hook, namespace, { name: 'change.example.com' })])
  const { name, headers } = await aUser(api, [roleOf('configmaps', ['create', 'get']), mayExplain])
  const answer = await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }), headers)
  const { authentication, authorization, admission, storedRevision } = told(answer)
  expect(authentication).toEqual({ method: 'client certificate', user: name, impersonatedBy: 'orch-admin' })
  const reason = `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "${name}" to User "${name}"`
  expect(authorization).toEqual({ decision: 'allow', reason })
  expect(admission).toContainEqual({
    phase: 'mutate',
    plugin: 'MutatingAdmissionWebhook',
    webhook: 'change.example.com',
    durationMs: expect.any(Number),
    patch: [{ op: 'add', path: '/data', value: { a: 'b' } }],
  })
  expect(admission).toContainEqual({ phase: 'mutate', plugin: 'NamespaceLifecycle', durationMs: expect.any(Number) })
  expect(storedRevision).toBe(answer.body.metadata.resourceVersion)
})

test('an explanation names the method that authenticated the caller', async () => {
  const { api } = server
  const namespace = await aNamespace(api)
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await created(api, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } })
  const { status } = await created(api, `${accounts}/a/token`, { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: {} })
  const subjects = [{ kind: 'ServiceAccount', name: 'a', namespace }]
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'cluster-admin' }
  await created(api, `${rbac}/clusterrolebindings`, { kind: 'ClusterRoleBinding', metadata: { name: aName() }, subjects, roleRef })
  const authorization = `Bearer ${(status as { token: string }).token}`
  const answer = await untilEverywhere(() => api.as({})('GET', accounts, { headers: { ...asked, authorization } }), isExplained)
  const user = `system:serviceaccount:${namespace}:a`
  expect(told(answer).authentication).toEqual({ method: 'service account token', user })
  expect(JSON.stringify(told(answer))).not.toContain(authorization.slice(7))
})

test('a user who may write Secrets but not read them sees no additions of webhooks', async () => {
  const { api } = server
  const namespace = await aNamespace(api)
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }]
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { password: 'c2VjcmV0' } }]))
  const failing = await aWebhookServer(withBody(({ text }) => text, { code: 500 }))
  await aConfiguration(api, 'mutating', [
    aHook(hook, namespace, { rules }),
    aHook(failing, namespace, { rules, name: 'failing.example.com', failurePolicy: 'Ignore' }),
  ])
  const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const writer = await aUser(api, [roleOf('secrets', ['create']), mayExplain])
  const { admission } = told(await api.post(path, secret('a'), writer.headers))
  expect(admission).toContainEqual(expect.objectContaining({ patch: [{ op: 'add', path: '/data', value: 'hidden' }] }))
  expect(admission).toContainEqual(expect.objectContaining({ webhook: 'failing.example.com', reason: 'hidden' }))
  expect(JSON.stringify(admission)).not.toMatch(/password|c2VjcmV0/)
  const reader = await aUser(api, [roleOf('secrets', ['create', 'get']), mayExplain])
  expect(JSON.stringify(told(await api.post(path, secret('b'), reader.headers)))).toContain('c2VjcmV0')
})

test('a read has an explanation too, without plugins', async () => {
  const { api } = server
  expect(told(await api.get('/api/v1/namespaces/default', asked))).toEqual({
    authentication: { method: 'client certificate', user: 'orch-admin' },
    authorization: { decision: 'allow', reason: expect.any(String) },
    admission: [],
  })
})
