import { type ClientConfiguration, parseConfiguration } from '@orch/client'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { type Answer, ask } from '../http/ask.ts'

async function aServer(flags: readonly string[] = []) {
  const server = await start({ flags })
  onTestFinished(() => server.stop())
  const configuration: ClientConfiguration = await parseConfiguration(server.kubeconfig)
  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = configuration
    return ask(`${server.url}${path}`, { method, ca, cert, key, agent: false, body, headers })
  }
  return { send }
}

const asked = { 'orch-explain': '1' }
const pods = '/api/v1/namespaces/default/pods'
const aPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }

const told = ({ headers }: Answer) => JSON.parse(String(headers['orch-explain'])) as Record<string, unknown>

test('the explanation of a write has the user, the permission, the results of plugins, and the stored object', async () => {
  const { send } = await aServer()
  const answer = await send('POST', pods, aPod, asked)
  expect(answer.code).toBe(201)
  expect(told(answer)).toMatchObject({
    authentication: { method: 'client certificate' },
    authorization: { decision: 'allow' },
    storedRevision: (answer.body['metadata'] as { resourceVersion: string }).resourceVersion,
  })
  const steps = told(answer)['admission'] as { plugin: string; patch?: unknown }[]
  expect(steps.map(({ plugin }) => plugin)).toContain('NamespaceLifecycle')
  expect(steps.find(({ plugin }) => plugin === 'DefaultTolerationSeconds')?.patch).toEqual([
    { op: 'add', path: '/spec/tolerations', value: expect.arrayContaining([expect.objectContaining({ effect: 'NoExecute' })]) },
  ])
})

test('the explanation of a denied write names the webhook that denied it', async () => {
  const { send } = await aServer(['--authorization-mode=RBAC'])
  await send('POST', '/api/v1/namespaces/default/resourcequotas', {
    ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' } },
    spec: { hard: { pods: '0' } },
  })
  const answer = await send('POST', pods, aPod, asked)
  const message = 'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'
  expect(answer.code).toBe(403)
  expect(told(answer)).toMatchObject({
    admission: expect.arrayContaining([
      expect.objectContaining({ plugin: 'ResourceQuota', phase: 'validate', rejected: true, reason: message }),
    ]),
    refusal: { code: 403, reason: 'Forbidden', message },
  })
  expect(told(answer)).not.toHaveProperty('storedRevision')
})

test('the explanation of an invalid object has the causes', async () => {
  const { send } = await aServer()
  const answer = await send('POST', pods, { ...aPod, spec: { containers: [{ name: 'C', image: 'i' }] } }, asked)
  expect(told(answer)).toMatchObject({ refusal: { code: 422, causes: [expect.objectContaining({ field: 'spec.containers[0].name' })] } })
})

test('a user who may not see explanations gets a warning and no explanation; the request continues', async () => {
  const { send } = await aServer()
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'ann' }]
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'edit' }
  await send('POST', `${rbac}/clusterrolebindings`, { kind: 'ClusterRoleBinding', metadata: { name: 'ann' }, subjects, roleRef })
  const asAnn = { ...asked, 'impersonate-user': 'ann' }
  const answer = await send('POST', pods, aPod, asAnn)
  expect(answer.code).toBe(201)
  expect(answer.headers['orch-explain']).toBeUndefined()
  expect(String(answer.headers['warning'])).toContain('get of /orch.io/explain is needed')
  const rules = [{ nonResourceURLs: ['/orch.io/explain', '/debug/requests/*'], verbs: ['get'] }]
  await send('POST', `${rbac}/clusterroles`, { kind: 'ClusterRole', metadata: { name: 'explain' }, rules })
  await send('POST', `${rbac}/clusterrolebindings`, {
    ...{ kind: 'ClusterRoleBinding', metadata: { name: 'ann-explain' }, subjects },
    roleRef: { ...roleRef, name: 'explain' },
  })
  const refused = await send('POST', '/api/v1/nodes', { kind: 'Node', metadata: { name: 'n' } }, asAnn)
  expect(refused.code).toBe(403)
  expect(told(refused)).toMatchObject({ authentication: { user: 'ann' }, authorization: { decision: 'forbid' }, refusal: { code: 403 } })
})

test('the last writes in one process can be explained afterwards, by the id in their answer', async () => {
  const { send } = await aServer()
  const { headers } = await send('POST', pods, aPod)
  const path = `/debug/requests/${headers['audit-id']}`
  expect((await send('GET', path)).body).toMatchObject({
    method: 'POST',
    path: pods,
    code: 201,
    authorization: { decision: 'allow' },
    storedRevision: expect.stringMatching(/^\d+$/),
  })
  expect((await send('GET', '/debug/requests/unknown')).code).toBe(404)
  expect((await send('GET', path, undefined, { 'impersonate-user': 'ann' })).code).toBe(403)
})

test('the explanation of another user’s request shows no more than a read of its object', async () => {
  const { send } = await aServer(['--authorization-mode=RBAC'])
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'ann' }]
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'explain' }
  const rules = [{ nonResourceURLs: ['/orch.io/explain', '/debug/requests/*'], verbs: ['get'] }]
  await send('POST', `${rbac}/clusterroles`, { kind: 'ClusterRole', metadata: { name: 'explain' }, rules })
  await send('POST', `${rbac}/clusterrolebindings`, { kind: 'ClusterRoleBinding', metadata: { name: 'ann' }, subjects, roleRef })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { 'my key': 'YQ==' } }
  const { code, headers } = await send('POST', '/api/v1/namespaces/default/secrets', secret)
  expect(code).toBe(422)
  const path = `/debug/requests/${headers['audit-id']}`
  const others = await send('GET', path, undefined, { 'impersonate-user': 'ann' })
  expect(others.body['refusal']).toEqual({ code: 422, reason: 'Invalid', message: 'hidden' })
  expect(JSON.stringify(others.body)).not.toContain('my key')
  expect(JSON.stringify((await send('GET', path)).body)).toContain('my key')
})

test('a write of a user who may not see explanations can be explained to users who may', async () => {
  const { send } = await aServer(['--authorization-mode=RBAC'])
  const { code, headers } = await send('POST', pods, aPod, { ...asked, 'impersonate-user': 'ann' })
  expect([code, headers['orch-explain']]).toEqual([403, undefined])
  const { body } = await send('GET', `/debug/requests/${headers['audit-id']}`)
  expect(body).toMatchObject({ code: 403, authentication: { user: 'ann' }, authorization: { decision: 'forbid' } })
})
