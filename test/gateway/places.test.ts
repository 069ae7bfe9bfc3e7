import { expect, test } from 'vitest'
import { aGateway } from './own-gateway.ts'

/** A kind whose resource has the same name as namespaces. */
async function aServer(scope: 'Namespaced' | 'Cluster') {
  const group = 'example.com'
  const { call, loadDefinitions } = await aGateway()
  await loadDefinitions()
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const names = { plural: 'namespaces', singular: 'place', kind: 'Place', listKind: 'PlaceList' }
  const defined = await call('POST', '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: `namespaces.${group}` },
    spec: { group, scope, names, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  })
  expect(defined.code).toBe(201)
  for (const name of ['a', 'b']) expect((await call('POST', '/api/v1/namespaces', { metadata: { name } })).code).toBe(201)
  return call
}

const path = '/apis/example.com/v1/namespaces'
const place = { apiVersion: 'example.com/v1', kind: 'Place' }
const mismatch = 'the namespace of the provided object does not match the namespace sent on the request'

test('an object of a namespaced kind whose resource is called namespaces is in the namespace of its path', async () => {
  const call = await aServer('Namespaced')
  expect(await call('POST', `${path}/a/namespaces`, { ...place, metadata: { name: 'x' } })).toMatchObject({
    code: 201,
    body: { metadata: { name: 'x', namespace: 'a' } },
  })
  expect((await call('GET', `${path}/a/namespaces/x`)).code).toBe(200)
  expect((await call('GET', `${path}/b/namespaces/x`)).code).toBe(404)
})

test.each([
  ['POST', `${path}/a/namespaces`, 'application/json', place],
  ['PUT', `${path}/a/namespaces/x`, 'application/json', place],
  ['PATCH', `${path}/a/namespaces/x`, 'application/merge-patch+json', {}],
  ['PATCH', `${path}/a/namespaces/new?fieldManager=m`, 'application/apply-patch+yaml', place],
])('%s %s refuses an object of another namespace, as %s', async (method, target, type, body) => {
  const call = await aServer('Namespaced')
  await call('POST', `${path}/a/namespaces`, { ...place, metadata: { name: 'x' } })
  const name = /\/(x|new)\b/.exec(target)?.[1] ?? 'y'
  const refused = await call(method, target, { ...body, metadata: { name, namespace: 'b' } }, type)
  expect(refused).toMatchObject({ code: 400, body: { message: mismatch } })
})

test('a cluster-scoped object has no path in a namespace, with any resource name', async () => {
  const call = await aServer('Cluster')
  expect((await call('POST', path, { ...place, metadata: { name: 'x' } })).code).toBe(201)
  expect(await call('GET', path)).toMatchObject({ code: 200, body: { items: [{ metadata: { name: 'x' } }] } })
  expect((await call('GET', `${path}/a/namespaces/x`)).code).toBe(404)
  // Like kube-apiserver, the gateway reads the namespace x from the path.
  expect((await call('GET', `${path}/x`)).code).toBe(404)
})

const roles = '/apis/rbac.authorization.orch.io/v1/clusterroles'
const role = { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'ClusterRole' }

test.each([
  ['POST', roles, 'application/json', role, 'y'],
  ['PUT', `${roles}/x`, 'application/json', role, 'x'],
  ['PATCH', `${roles}/x`, 'application/merge-patch+json', {}, 'x'],
  ['PATCH', `${roles}/new?fieldManager=m`, 'application/apply-patch+yaml', role, 'new'],
])('%s %s drops the namespace of a cluster-scoped object, as %s', async (method, target, type, body, name) => {
  const call = await aServer('Cluster')
  await call('POST', roles, { ...role, metadata: { name: 'x' } })
  const { code, body: written } = await call(method, target, { ...body, metadata: { name, namespace: 'b' } }, type)
  expect([code, written]).toMatchObject([expect.toBeOneOf([200, 201]), { kind: 'ClusterRole', metadata: { name } }])
  expect(written.metadata).not.toHaveProperty('namespace')
})

test('a Namespace is read under its own name, and a namespace in its metadata is dropped', async () => {
  const call = await aServer('Cluster')
  expect((await call('GET', '/api/v1/namespaces/a')).code).toBe(200)
  const made = await call('POST', '/api/v1/namespaces', { metadata: { name: 'q', namespace: 'b' } })
  expect(made.code).toBe(201)
  expect(made.body.metadata).toMatchObject({ name: 'q' })
  expect(made.body.metadata).not.toHaveProperty('namespace')
})
