import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificateRequest } from '../api/certificate-request.ts'
import { adminPair, call, callHttp2, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'

const people = await anAuthority('people')
const jane = await aCertificate({ issuer: people, commonName: 'jane', use: 'client' })

/** Refusals then name the permission that plain `impersonate` lacks. */
const unconstrained = '--feature-gates=ConstrainedImpersonation=false'

/** A server where Jane has the rights of the rules. */
async function aServer(rules: readonly unknown[] = [], ...flags: readonly string[]) {
  const server = await start({ flags: [`--client-ca-file=${aFolder().write('people.crt', people.certificate)}`, ...flags] })
  onTestFinished(() => server.stop())
  const admin = await adminPair(server)
  const group = 'rbac.authorization.orch.io'
  const post = (plural: string, body: unknown) => call(server, { pair: admin, method: 'POST', path: `/apis/${group}/v1/${plural}`, body })
  const apiVersion = `${group}/v1`
  const role = await post('clusterroles', { apiVersion, kind: 'ClusterRole', metadata: { name: 'jane' }, rules })
  const binding = await post('clusterrolebindings', {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'jane' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'jane' },
    subjects: [{ kind: 'User', apiGroup: group, name: 'jane' }],
  })
  expect([role.code, binding.code]).toEqual([201, 201])
  return { server, admin }
}

const authentication = 'authentication.orch.io'

test('IMP-01, IMP-02, IMP-05, IMP-08: an impersonated request has the identity of the other user', async () => {
  const { server, admin } = await aServer()
  const headers = {
    'Impersonate-User': 'john',
    'Impersonate-Group': ['dev', 'system:masters'],
    'Impersonate-Uid': '42-x',
    'Impersonate-Extra-Acme.com%2Fproject': ['a', 'b'],
  }
  expect(await whoAmI(server, { pair: admin, headers })).toEqual({
    username: 'john',
    uid: '42-x',
    groups: ['dev', 'system:masters', 'system:authenticated'],
    extra: { 'acme.com/project': ['a', 'b'] },
  })
  const asJohn = { pair: admin, headers: { 'Impersonate-User': 'john' }, path: '/api/v1/secrets' }
  expect(await call(server, asJohn)).toMatchObject({ code: 403, body: { message: expect.stringContaining('User "john" cannot list') } })
})

test('IMP-03, IMP-17: each of several headers counts, over HTTP/2 too', async () => {
  const { server, admin } = await aServer()
  const headers = {
    'impersonate-user': 'john',
    'impersonate-group': ['dev, with a comma', 'system:masters'],
    'impersonate-extra-scopes': ['a', 'b'],
  }
  expect(await whoAmI(server, { pair: admin, headers }, callHttp2)).toMatchObject({
    groups: ['dev, with a comma', 'system:masters', 'system:authenticated'],
    extra: { scopes: ['a', 'b'] },
  })
})

test('IMP-12: a service account has its groups, unless other groups are given', async () => {
  const { server, admin } = await aServer()
  const headers = { 'Impersonate-User': 'system:serviceaccount:shop:till' }
  // Without system:masters the review itself needs the role of all authenticated users, which service accounts have.
  expect(await whoAmI(server, { pair: admin, headers })).toMatchObject({
    groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
  })
  const others = { ...headers, 'Impersonate-Group': 'system:masters' }
  expect(await whoAmI(server, { pair: admin, headers: others })).toMatchObject({ groups: ['system:masters', 'system:authenticated'] })
})

test.each([
  ['IMP-04', { 'Impersonate-Group': 'dev' }, 'UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)'],
  ['IMP-06', { 'Impersonate-Extra-Scopes': 'view' }, 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"scopes":[]string{"view"}}'],
  ['IMP-09', { 'Impersonate-Uid': '1' }, 'UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)'],
])('%s: %j without a user is a 400', async (_id, headers, wanted) => {
  const { server, admin } = await aServer()
  const answer = await call(server, { pair: admin, headers })
  const message = `requested &user.DefaultInfo{Name:"", ${wanted}} without impersonating a user name`
  expect(answer).toMatchObject({ code: 400, body: { message } })
})

test.each([
  ['IMP-10', { 'Impersonate-User': 'john' }, 'users "john" is forbidden', { apiGroups: [''], resources: ['users'] }],
  ['IMP-11', { 'Impersonate-Group': 'dev' }, 'groups "dev" is forbidden', { apiGroups: [''], resources: ['groups'] }],
  [
    'IMP-12',
    { 'Impersonate-User': 'system:serviceaccount:shop:till' },
    'serviceaccounts "till" is forbidden',
    { apiGroups: [''], resources: ['serviceaccounts'] },
  ],
  [
    'IMP-13',
    { 'Impersonate-Extra-Scopes': 'view' },
    `userextras.${authentication} "view" is forbidden`,
    { apiGroups: [authentication], resources: ['userextras/scopes'] },
  ],
  ['IMP-14', { 'Impersonate-Uid': '7' }, `uids.${authentication} "7" is forbidden`, { apiGroups: [authentication], resources: ['uids'] }],
])('%s, IMP-15, IMP-16: %j needs a rule for that value', async (_id, asked, message, rule) => {
  const base = { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['bob'] }
  const headers: Record<string, string> = { 'Impersonate-User': 'bob', ...asked }
  const [name] = Object.values(asked) as [string]
  const resourceNames = [name.startsWith('system:serviceaccount:') ? 'till' : name]
  const refusing = await aServer([base, { ...rule, verbs: ['impersonate'], resourceNames: ['other'] }], unconstrained)
  expect(await call(refusing.server, { pair: jane, headers })).toMatchObject({
    code: 403,
    body: { message: expect.stringContaining(message) },
  })
  const allowing = await aServer([base, { ...rule, verbs: ['impersonate'], resourceNames }])
  expect((await call(allowing.server, { pair: jane, headers })).code).toBe(200)
})

test('IMP-16: a refused impersonation has no effect, and an impersonated user does not impersonate further', async () => {
  const { server, admin } = await aServer()
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const path = '/api/v1/namespaces/default/configmaps'
  const headers = { 'Impersonate-User': 'root', 'Impersonate-Group': 'system:masters' }
  expect((await call(server, { pair: jane, method: 'POST', path, body, headers })).code).toBe(403)
  expect((await call(server, { pair: admin, path: `${path}/a` })).code).toBe(404)
  const twice = await call(server, { pair: admin, headers: { 'Impersonate-User': ['jane', 'root'] } })
  expect(twice).toMatchObject({ code: 400, body: { message: expect.stringContaining('must be given once') } })
})

test('IMP-18: the stored object, admission and the audit event have the impersonated user', async () => {
  const { server, admin } = await aServer()
  const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const request = certificateRequest
  const body = {
    apiVersion: 'certificates.orch.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'johns' },
    spec: { request, signerName: 'example.com/any', usages: ['client auth'], username: 'root', groups: ['system:masters'] },
  }
  const headers = {
    'Impersonate-User': 'john',
    'Impersonate-Uid': '42',
    'Impersonate-Group': 'system:masters',
    'Impersonate-Extra-Scopes': 'a',
  }
  expect((await call(server, { pair: admin, method: 'POST', path, body, headers })).code).toBe(201)
  const { body: stored } = await call(server, { pair: admin, path: `${path}/johns` })
  expect(stored.spec).toMatchObject({
    username: 'john',
    uid: '42',
    groups: ['system:masters', 'system:authenticated'],
    extra: { scopes: ['a'] },
  })
})

test('IMP-02: system:anonymous is not in the group of authenticated users', async () => {
  const { server, admin } = await aServer()
  const answer = await call(server, { pair: admin, path: '/api/v1/pods', headers: { 'Impersonate-User': 'system:anonymous' } })
  expect(answer).toMatchObject({ code: 403, body: { message: expect.stringContaining('User "system:anonymous"') } })
})

describe('every part of an impersonation must be allowed', () => {
  const rule = (apiGroup: string, resource: string, ...resourceNames: string[]) => ({
    verbs: ['impersonate'],
    apiGroups: [apiGroup],
    resources: [resource],
    resourceNames,
  })
  const parts = {
    user: rule('', 'users', 'bob'),
    firstGroup: rule('', 'groups', 'dev'),
    secondGroup: rule('', 'groups', 'ops'),
    uid: rule(authentication, 'uids', '7'),
    firstValue: rule(authentication, 'userextras/scopes', 'view'),
    secondValue: rule(authentication, 'userextras/scopes', 'edit'),
    secondKey: rule(authentication, 'userextras/team', 'red'),
  }
  const headers = {
    'Impersonate-User': 'bob',
    'Impersonate-Group': ['dev', 'ops'],
    'Impersonate-Uid': '7',
    'Impersonate-Extra-Scopes': ['view', 'edit'],
    'Impersonate-Extra-Team': 'red',
  }

  test('IMP-10, IMP-11, IMP-13, IMP-14: with a rule for each part the request is allowed', async () => {
    const { server } = await aServer(Object.values(parts))
    expect((await call(server, { pair: jane, headers })).code).toBe(200)
  })

  test.each([
    ['IMP-10', 'user', 'users "bob" is forbidden'],
    ['IMP-11', 'firstGroup', 'groups "dev" is forbidden'],
    ['IMP-11', 'secondGroup', 'groups "ops" is forbidden'],
    ['IMP-14', 'uid', `uids.${authentication} "7" is forbidden`],
    ['IMP-13', 'firstValue', `userextras.${authentication} "view" is forbidden`],
    ['IMP-13', 'secondValue', `userextras.${authentication} "edit" is forbidden`],
    ['IMP-13', 'secondKey', `userextras.${authentication} "red" is forbidden`],
  ] as const)('%s: without the rule for %s the request is a 403', async (_id, missing, message) => {
    const { server } = await aServer(Object.entries(parts).flatMap(([name, one]) => (name === missing ? [] : [one])))
    expect(await call(server, { pair: jane, headers })).toMatchObject({ code: 403, body: { message: expect.stringContaining(message) } })
  })

  test('IMP-12: a service account is impersonated only with a rule in its own namespace', async () => {
    const { server, admin } = await aServer()
    const group = 'rbac.authorization.orch.io'
    const apiVersion = `${group}/v1`
    const metadata = { name: 'tills' }
    const till = { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['till'] }
    const subjects = [{ kind: 'User', apiGroup: group, name: 'jane' }]
    const roleRef = { apiGroup: group, kind: 'Role', name: 'tills' }
    const path = `/apis/${group}/v1/namespaces/shop`
    const bodies = {
      '/api/v1/namespaces': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      [`${path}/roles`]: { apiVersion, kind: 'Role', metadata, rules: [till] },
      [`${path}/rolebindings`]: { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
    }
    for (const [path, body] of Object.entries(bodies))
      expect((await call(server, { pair: admin, method: 'POST', path, body })).code).toBe(201)
    const codeAs = async (user: string) => (await call(server, { pair: jane, headers: { 'Impersonate-User': user } })).code
    await expect.poll(() => codeAs('system:serviceaccount:shop:till')).toBe(200)
    expect(await codeAs('system:serviceaccount:store:till')).toBe(403)
    expect(await codeAs('system:serviceaccount:shop:other')).toBe(403)
  })
})

test.each([
  ['x:system:serviceaccount:shop:till'],
  ['system:serviceaccount:shop:till:x'],
  ['system:serviceaccount:shop:Till'],
  ['system:serviceaccount::till'],
])('IMP-12: %s is an ordinary user', async (name) => {
  const { server, admin } = await aServer([], unconstrained)
  expect(await whoAmI(server, { pair: admin, headers: { 'Impersonate-User': name, 'Impersonate-Group': 'system:masters' } })).toMatchObject(
    {
      username: name,
      groups: ['system:masters', 'system:authenticated'],
    },
  )
  const answer = await call(server, { pair: jane, headers: { 'Impersonate-User': name } })
  expect(answer).toMatchObject({ code: 403, body: { message: expect.stringContaining(`users "${name}" is forbidden`) } })
})

test('IMP-12: a service account may have a name of one character or with dots', async () => {
  const { server, admin } = await aServer()
  const groupsAs = async (user: string) => (await whoAmI(server, { pair: admin, headers: { 'Impersonate-User': user } }))?.groups
  expect(await groupsAs('system:serviceaccount:s:t')).toContain('system:serviceaccounts:s')
  expect(await groupsAs('system:serviceaccount:shop:till.one')).toContain('system:serviceaccounts:shop')
})

describe('the automatic group', () => {
  // The review of the caller needs a role; members of system:masters always have it.
  const groupsAs = async (user: string, groups: string[]) => {
    const { server, admin } = await aServer()
    const headers = { 'Impersonate-User': user, 'Impersonate-Group': ['system:masters', ...groups] }
    return (await whoAmI(server, { pair: admin, headers }))?.groups
  }

  test('IMP-02: system:authenticated is added once to the groups of a user', async () => {
    expect(await groupsAs('john', [])).toEqual(['system:masters', 'system:authenticated'])
    expect(await groupsAs('john', ['system:authenticated'])).toEqual(['system:masters', 'system:authenticated'])
  })

  test('IMP-02: system:unauthenticated is kept, without system:authenticated', async () => {
    expect(await groupsAs('john', ['system:unauthenticated'])).toEqual(['system:masters', 'system:unauthenticated'])
  })

  test('IMP-02: system:unauthenticated is added to the groups of system:anonymous', async () => {
    expect(await groupsAs('system:anonymous', [])).toEqual(['system:masters', 'system:unauthenticated'])
  })
})

test('IMP-04: an empty Impersonate-User is a 400 with an empty group, and alone it changes no user', async () => {
  const { server, admin } = await aServer()
  const withGroup = await call(server, { pair: admin, headers: { 'Impersonate-User': '', 'Impersonate-Group': '' } })
  expect(withGroup).toMatchObject({ code: 400, body: { message: expect.stringContaining('without impersonating a user name') } })
  expect((await call(server, { pair: admin, headers: { 'Impersonate-User': '' } })).code).toBe(200)
})
