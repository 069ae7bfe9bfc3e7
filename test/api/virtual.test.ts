import { expect, test } from 'vitest'
import { aNamespace, created, sharedApi, someConfigMaps } from './api.ts'

// Only the requests of the tests write to the store.
const server = sharedApi({ controllers: ['-*'] })

const authorization = '/apis/authorization.orch.io/v1'
const authentication = '/apis/authentication.orch.io/v1'
const spec = { user: 'u', nonResourceAttributes: { path: '/', verb: 'get' } }
const local = { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } }
const own = { resourceAttributes: local.resourceAttributes }
const operations: readonly [kind: string, path: string, apiVersion: string, spec: object][] = [
  ['SubjectAccessReview', `${authorization}/subjectaccessreviews`, 'authorization.orch.io/v1', spec],
  ['LocalSubjectAccessReview', `${authorization}/namespaces/default/localsubjectaccessreviews`, 'authorization.orch.io/v1', local],
  ['SelfSubjectAccessReview', `${authorization}/selfsubjectaccessreviews`, 'authorization.orch.io/v1', own],
  ['SelfSubjectRulesReview', `${authorization}/selfsubjectrulesreviews`, 'authorization.orch.io/v1', { namespace: 'default' }],
  ['TokenReview', `${authentication}/tokenreviews`, 'authentication.orch.io/v1', { token: 'none' }],
  ['SelfSubjectReview', `${authentication}/selfsubjectreviews`, 'authentication.orch.io/v1', {}],
]

test.each(operations)('VIRT-01: a %s is answered, and is not stored', async (kind, path, apiVersion, spec) => {
  const place = await someConfigMaps(server.api)
  const revision = async () => (await server.api.get(place)).body.metadata.resourceVersion
  const before = await revision()
  const { status, body } = await server.api.post(path, { apiVersion, kind, spec })
  expect({ status, kind: body.kind }).toEqual({ status: 201, kind })
  expect(body.metadata).not.toHaveProperty('uid')
  expect(body.metadata).not.toHaveProperty('resourceVersion')
  // The version of the list is the store's version: no client wrote.
  expect(await revision()).toBe(before)
  for (const [method, target] of [
    ['GET', path],
    ['GET', `${path}?watch=1`],
    ['DELETE', path],
  ] as const)
    expect({ method, target, status: (await server.api.send(method, target)).status }).toEqual({ method, target, status: 405 })
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
    expect({ method, status: (await server.api.send(method, `${path}/n`)).status }).toEqual({
      method,
      status: expect.toBeOneOf([404, 405]),
    })
})

test('VIRT-01: a binding, an eviction and a token are operations on an object, and cannot be read', async () => {
  const namespace = await aNamespace(server.api)
  const target = `/api/v1/namespaces/${namespace}/pods/p`
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  for (const name of ['default', 'till'])
    await created(server.api, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await created(server.api, `/api/v1/namespaces/${namespace}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  expect((await server.api.post(`${target}/binding`, binding)).status).toBe(201)
  for (const part of ['binding', 'eviction'])
    expect({ part, status: (await server.api.get(`${target}/${part}`)).status }).toEqual({ part, status: 405 })
  const request = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } }
  expect((await server.api.post(`${accounts}/till/token`, request)).status).toBe(201)
  expect((await server.api.get(`${accounts}/till/token`)).status).toBe(405)
})

test('MACH-ID-05: a SelfSubjectReview is answered with a time and without the sent metadata', async () => {
  const metadata = { name: 'x', labels: { a: 'b' }, uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' }
  const self = await server.api.post(`${authentication}/selfsubjectreviews`, { metadata })
  expect(self.body.metadata).toEqual({ creationTimestamp: expect.stringMatching(/^20[2-9]\d-(?!.*2020-01-01)/) })
  const rules = await server.api.post(`${authorization}/selfsubjectrulesreviews`, { metadata, spec: { namespace: 'default' } })
  expect(rules.body).toMatchObject({ spec: {} })
  expect(rules.body.metadata).toEqual({})
})

test('a review of an unknown token keeps the sent status, except for the result', async () => {
  const status = { authenticated: true, audiences: ['a'], error: 'e', user: { username: 'u', extra: { A: ['b'] } } }
  const { body } = await server.api.post(`${authentication}/tokenreviews`, { spec: { token: 'x' }, status })
  expect(body['status']).toEqual({ user: status.user, audiences: ['a'], error: 'invalid bearer token' })
})

test('other reviews keep the sent metadata, except for server-set members', async () => {
  const metadata = { name: 'x', labels: { a: 'b' }, uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' }
  const { body } = await server.api.post(`${authentication}/tokenreviews`, { metadata, spec: { token: 'x' } })
  expect(body.metadata).toEqual({ name: 'x', labels: { a: 'b' }, managedFields: expect.anything() })
})
