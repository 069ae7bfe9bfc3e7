import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { adminPair, call } from './call.ts'
import { aFolder } from './folder.ts'

const people = await anAuthority('people')
const jane = await aCertificate({ issuer: people, commonName: 'jane', use: 'client' })
const authentication = 'authentication.orch.io'
const group = 'rbac.authorization.orch.io'
const secrets = '/api/v1/namespaces/default/secrets'
const configMaps = '/api/v1/namespaces/default/configmaps'

/** A server where Jane has the rights of the rules and all authenticated users may read Secrets and ConfigMaps. */
async function aServer(rules: readonly unknown[], ...flags: readonly string[]) {
  const server = await start({ flags: [`--client-ca-file=${aFolder().write('people.crt', people.certificate)}`, ...flags] })
  onTestFinished(() => server.stop())
  const admin = await adminPair(server)
  const apiVersion = `${group}/v1`
  const post = async (plural: string, body: unknown) =>
    expect((await call(server, { pair: admin, method: 'POST', path: `/apis/${group}/v1/${plural}`, body })).code).toBe(201)
  const give = async (name: string, subject: object, rulesOfRole: readonly unknown[]) => {
    await post('clusterroles', { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: rulesOfRole })
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name }
    const subjects = [{ apiGroup: group, ...subject }]
    await post('clusterrolebindings', { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects })
  }
  await give('jane', { kind: 'User', name: 'jane' }, rules)
  const readers = [{ verbs: ['list', 'watch'], apiGroups: [''], resources: ['secrets', 'configmaps'] }]
  await give('readers', { kind: 'Group', name: 'system:authenticated' }, readers)
  return {
    as: (headers: Record<string, string>, path = secrets) => call(server, { pair: jane, headers, path }),
    code: async (headers: Record<string, string>, path = secrets) => (await call(server, { pair: jane, headers, path })).code,
  }
}

const john = { 'impersonate-user': 'john' }
const identity = (mode: string, resource: string, more: object = {}) => ({
  verbs: [`impersonate:${mode}`],
  apiGroups: [authentication],
  resources: [resource],
  ...more,
})
const listing = (mode: string) => ({ verbs: [`impersonate-on:${mode}:list`], apiGroups: [''], resources: ['secrets'] })

test('READ-27: a user may be impersonated only in requests of one verb and resource', async () => {
  const { code } = await aServer([identity('user-info', 'users', { resourceNames: ['john'] }), listing('user-info')])
  expect(await code(john)).toBe(200)
  expect(await code({ 'impersonate-user': 'mary' })).toBe(403)
  expect(await code(john, configMaps)).toBe(403)
  expect(await code(john, `${secrets}/a`)).toBe(403)
  expect(await code({ ...john, 'impersonate-group': 'dev' })).toBe(403)
  expect(await code({ ...john, 'impersonate-uid': '1' })).toBe(403)
  expect(await code({ 'impersonate-user': 'system:serviceaccount:default:default' })).toBe(403)
})

test('READ-27: neither of the two permissions is sufficient, and the refusal names the one that is missing', async () => {
  const refusal = (text: string) => ({ code: 403, body: { message: expect.stringContaining(text) } })
  const whom = await aServer([identity('user-info', 'users')])
  const verb = 'cannot impersonate-on:user-info:list resource "secrets"'
  expect(await whom.as(john)).toMatchObject(refusal(`secrets is forbidden: User "jane" ${verb}`))
  const what = await aServer([listing('user-info')])
  const user = 'users.authentication.orch.io "john" is forbidden: User "jane" cannot impersonate:user-info resource "users"'
  expect(await what.as(john)).toMatchObject(refusal(user))
})

test('READ-27: groups, uids and attributes are checked by the verb of the mode', async () => {
  const everything = ['users', 'groups', 'uids', 'userextras/acme.com/project'].map((resource) => identity('user-info', resource))
  const { code } = await aServer([...everything, listing('user-info')])
  const headers = { ...john, 'impersonate-group': 'dev', 'impersonate-uid': '1', 'impersonate-extra-acme.com%2fproject': 'a' }
  expect(await code(headers)).toBe(200)
  expect(await code({ ...headers, 'impersonate-group': 'system:masters' })).toBe(403)
  expect(await code({ ...john, 'impersonate-extra-acme.com%2fother': 'a' })).toBe(403)
})

test.each([
  ['serviceaccount', 'serviceaccounts', 'system:serviceaccount:default:default'],
  ['arbitrary-node', 'nodes', 'system:node:n1'],
])('READ-27: %s has a separate mode', async (mode, resource, name) => {
  const user = { 'impersonate-user': name }
  expect(await (await aServer([identity(mode, resource), listing(mode)])).code(user)).toBe(200)
  expect(await (await aServer([identity('user-info', 'users'), listing('user-info')])).code(user)).toBe(403)
})

test('READ-27: a non-resource path counts as a request too', async () => {
  const onPath = { verbs: ['impersonate-on:user-info:get'], nonResourceURLs: ['/version'] }
  const { code } = await aServer([identity('user-info', 'users'), onPath])
  expect(await code(john, '/version')).toBe(200)
  expect(await code(john, '/openapi/v2')).toBe(403)
})

test('READ-27: plain impersonate still works, for all requests', async () => {
  const { code } = await aServer([{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'] }])
  expect(await code(john)).toBe(200)
  expect(await code(john, configMaps)).toBe(200)
})

test('READ-27: the verbs have no effect without the feature gate', async () => {
  const rules = [identity('user-info', 'users'), listing('user-info')]
  expect(await (await aServer(rules, '--feature-gates=ConstrainedImpersonation=false')).code(john)).toBe(403)
})
