import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import { silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage, type TinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Access } from './authorizer.ts'
import { Roles } from './roles.ts'

const group = 'rbac.authorization.orch.io'
const apiVersion = `${group}/v1`
const aUser = (name: string, ...groups: string[]): User => ({ name, groups, uid: '', extra: {} })
const jane = aUser('jane', 'devs')
const anAccess = (given: object = {}): Access =>
  ({
    ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
    ...given,
  }) as Access
const readPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const readMetrics = { verbs: ['get'], nonResourceURLs: ['/metrics'] }

const putRole = (storage: TinyStorage, name: string, rules: readonly PolicyRule[] | null, namespace?: string) => {
  const [kind, plural] = namespace === undefined ? ['ClusterRole', 'clusterroles'] : ['Role', 'roles']
  const place = namespace === undefined ? {} : { namespace }
  storage.put({ resource: `${group}/${plural}`, ...place, name, object: { kind, apiVersion, rules } })
}

const toJane = [{ kind: 'User', name: 'jane' }]

const putBinding = (
  storage: TinyStorage,
  role: string,
  { namespace, subjects = toJane, name = 'b' }: { namespace?: string; subjects?: readonly object[] | null; name?: string } = {},
) => {
  const [kind, plural] = namespace === undefined ? ['ClusterRoleBinding', 'clusterrolebindings'] : ['RoleBinding', 'rolebindings']
  const [roleKind, roleName] = role.split('/')
  const place = namespace === undefined ? {} : { namespace }
  const roleRef = { apiGroup: group, kind: roleKind, name: roleName }
  storage.put({ resource: `${group}/${plural}`, ...place, name, object: { kind, apiVersion, subjects, roleRef } })
}

function rolesIn(storage: TinyStorage) {
  const roles = new Roles({ storage, names: namesOf('orch'), clock: createFakeClock(), log: silentLog, random: () => 0 })
  onTestFinished(() => roles.close())
  return roles
}

/** Waits for changes of storage, which only wait for their turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function loaded(prepare: (storage: TinyStorage) => void) {
  const storage = createTinyStorage()
  prepare(storage)
  const roles = rolesIn(storage)
  await roles.load()
  await roles.load()
  const kindOf = (user: User, access: Access) => (roles.authorize(user, access) as { kind: string }).kind
  return { storage, roles, kindOf }
}

describe('AUTHZ-03: a cluster role', () => {
  test('that is bound for the cluster applies in all namespaces, to cluster-scoped resources, and to its paths', async () => {
    const { roles, kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods, readMetrics])
      putBinding(storage, 'ClusterRole/r')
    })
    expect(roles.authorize(jane, anAccess())).toEqual({
      kind: 'allow',
      reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"',
    })
    expect(kindOf(jane, anAccess({ namespace: '' }))).toBe('allow')
    expect(kindOf(jane, { kind: 'path', verb: 'get', path: '/metrics' })).toBe('allow')
    expect(kindOf(jane, { kind: 'path', verb: 'get', path: '/livez' })).toBe('noOpinion')
    expect(roles.authorize(jane, anAccess({ resource: 'secrets' }))).toEqual({ kind: 'noOpinion', reason: '' })
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [readPods, readMetrics] })
    expect(roles.rulesOf(jane, '')).toEqual({ rules: [readPods, readMetrics] })
    expect(roles.rulesOf(aUser('joe'), 'n')).toEqual({ rules: [] })
  })

  test('that is bound in a namespace applies only there, and grants no paths', async () => {
    const { roles, kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods, readMetrics, { ...readPods, nonResourceURLs: [] }])
      putBinding(storage, 'ClusterRole/r', { namespace: 'n' })
    })
    expect(roles.authorize(jane, anAccess())).toEqual({
      kind: 'allow',
      reason: 'RBAC: allowed by RoleBinding "b/n" of ClusterRole "r" to User "jane"',
    })
    expect(kindOf(jane, anAccess({ namespace: 'other' }))).toBe('noOpinion')
    expect(kindOf(jane, anAccess({ namespace: '' }))).toBe('noOpinion')
    expect(kindOf(jane, { kind: 'path', verb: 'get', path: '/metrics' })).toBe('noOpinion')
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [readPods, { ...readPods, nonResourceURLs: [] }] })
    expect(roles.rulesOf(jane, 'other')).toEqual({ rules: [] })
  })
})

test('AUTHZ-03: a role that many bindings grant is checked once', async () => {
  const { roles, kindOf } = await loaded((storage) => {
    putRole(storage, 'r', [readPods])
    for (let index = 0; index < 100; index++) putBinding(storage, 'ClusterRole/r', { name: `b${index}` })
    putRole(storage, 'last', [{ ...readPods, resources: ['secrets'] }])
    putBinding(storage, 'ClusterRole/last', { name: 'last' })
  })
  expect(roles.rulesOf(jane, '').rules).toHaveLength(2)
  expect(kindOf(jane, anAccess({ resource: 'secrets' }))).toBe('allow')
})

describe('AUTHZ-03: a role', () => {
  test('is in the namespace of the binding, even if other namespaces have a role with its name', async () => {
    const { kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods], 'n')
      putRole(storage, 'r', [{ ...readPods, resources: ['secrets'] }], 'other')
      putRole(storage, 'r', [{ ...readPods, resources: ['configmaps'] }])
      putBinding(storage, 'Role/r', { namespace: 'n' })
      putBinding(storage, 'Role/none', { namespace: 'other' })
    })
    expect(kindOf(jane, anAccess())).toBe('allow')
    for (const resource of ['secrets', 'configmaps']) expect(kindOf(jane, anAccess({ resource }))).toBe('noOpinion')
    expect(kindOf(jane, anAccess({ namespace: 'other', resource: 'secrets' }))).toBe('noOpinion')
  })

  test('adds its rules to the rules of the user’s other roles, for bindings in any namespace', async () => {
    const readNodes = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] }
    const { roles } = await loaded((storage) => {
      putRole(storage, 'r', [readPods])
      putRole(storage, 's', [readNodes])
      putBinding(storage, 'ClusterRole/r')
      putBinding(storage, 'ClusterRole/s', { name: 'c' })
      putBinding(storage, 'ClusterRole/s', { namespace: 'n', subjects: [{ kind: 'Group', name: 'devs' }] })
    })
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [readPods, readNodes, readNodes] })
  })

  test('without rules grants nothing', async () => {
    const { kindOf, roles } = await loaded((storage) => {
      putRole(storage, 'r', null)
      putBinding(storage, 'ClusterRole/r')
    })
    expect(kindOf(jane, anAccess())).toBe('noOpinion')
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [] })
  })

  test('may allow by any of its rules, and by any binding of the user', async () => {
    const { kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [{ ...readPods, resources: ['secrets'] }, readPods])
      putRole(storage, 's', [{ ...readPods, resources: ['nodes'] }])
      putBinding(storage, 'ClusterRole/s', { name: 'a' })
      putBinding(storage, 'ClusterRole/r', { name: 'b', subjects: [{ kind: 'Group', name: 'devs' }] })
    })
    for (const resource of ['secrets', 'pods', 'nodes']) expect(kindOf(jane, anAccess({ resource }))).toBe('allow')
    expect(kindOf(aUser('joe', 'devs'), anAccess({ resource: 'nodes' }))).toBe('noOpinion')
  })
})

describe('AUTHZ-03: a subject', () => {
  const account = (place: string) => aUser(`system:serviceaccount:${place}:robot`)
  const subjects = (...all: object[]) => all

  test.each<[string, object[], User, string | undefined, boolean]>([
    ['a user', subjects({ kind: 'User', name: 'jane' }), jane, 'n', true],
    ['no other user', subjects({ kind: 'User', name: 'jane' }), aUser('joe', 'devs'), 'n', false],
    ['no group of a user’s name', subjects({ kind: 'User', name: 'jane' }), aUser('joe', 'jane'), 'n', false],
    ['a group', subjects({ kind: 'Group', name: 'devs' }), aUser('joe', 'a', 'devs'), 'n', true],
    ['no other group', subjects({ kind: 'Group', name: 'devs' }), aUser('joe', 'a'), 'n', false],
    ['no user of a group’s name', subjects({ kind: 'Group', name: 'devs' }), aUser('devs'), 'n', false],
    ['one of several', subjects({ kind: 'User', name: 'x' }, { kind: 'User', name: 'jane' }), jane, 'n', true],
    ['a service account', subjects({ kind: 'ServiceAccount', name: 'robot', namespace: 'x' }), account('x'), 'n', true],
    ['no service account elsewhere', subjects({ kind: 'ServiceAccount', name: 'robot', namespace: 'x' }), account('n'), 'n', false],
    ['a service account of the binding’s namespace', subjects({ kind: 'ServiceAccount', name: 'robot' }), account('n'), 'n', true],
    [
      'a service account of the cluster',
      subjects({ kind: 'ServiceAccount', name: 'robot', namespace: 'x' }),
      account('x'),
      undefined,
      true,
    ],
    ['no service account of no namespace', subjects({ kind: 'ServiceAccount', name: 'robot' }), account(''), undefined, false],
    ['nothing of another kind', subjects({ kind: 'Other', name: 'jane' }), jane, 'n', false],
    ['nothing', [], jane, 'n', false],
  ])('is %s', async (_name, subjects, user, namespace, expected) => {
    const { kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods])
      putBinding(storage, 'ClusterRole/r', namespace === undefined ? { subjects } : { namespace, subjects })
    })
    expect(kindOf(user, anAccess()) === 'allow').toBe(expected)
  })

  test('is printed with its kind, and a service account with its namespace', async () => {
    const { roles } = await loaded((storage) => {
      putRole(storage, 'r', [readPods])
      putBinding(storage, 'ClusterRole/r', { namespace: 'n', subjects: [{ kind: 'ServiceAccount', name: 'robot' }], name: 'own' })
      const others = [{ kind: 'ServiceAccount', name: 'robot', namespace: 'x' }]
      putBinding(storage, 'ClusterRole/r', { namespace: 'n', subjects: others, name: 'others' })
      putBinding(storage, 'ClusterRole/r', { namespace: 'n', subjects: null, name: 'empty' })
    })
    expect(roles.authorize(account('n'), anAccess())).toMatchObject({ reason: expect.stringContaining('to ServiceAccount "robot/n"') })
    expect(roles.authorize(account('x'), anAccess())).toMatchObject({ reason: expect.stringContaining('to ServiceAccount "robot/x"') })
  })
})

describe('AUTHZ-01: a role that is absent', () => {
  test('is the reason for a refusal, and is named once', async () => {
    const { roles } = await loaded((storage) => {
      putBinding(storage, 'ClusterRole/none', { name: 'a' })
      putBinding(storage, 'ClusterRole/none', { name: 'b', namespace: 'n' })
    })
    const message = `clusterrole.${group} "none" not found`
    expect(roles.authorize(jane, anAccess())).toEqual({ kind: 'noOpinion', reason: `RBAC: ${message}` })
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [], error: message })
  })

  test('does not stop another role from granting its rights', async () => {
    const { roles, kindOf } = await loaded((storage) => {
      putBinding(storage, 'ClusterRole/none', { name: 'a' })
      putBinding(storage, 'Role/none', { name: 'a', namespace: 'n' })
      putRole(storage, 'r', [readPods])
      putBinding(storage, 'ClusterRole/r', { name: 'c', namespace: 'n' })
    })
    expect(kindOf(jane, anAccess())).toBe('allow')
    const errors = `[clusterrole.${group} "none" not found, role.${group} "none" not found]`
    expect(roles.authorize(jane, anAccess({ resource: 'x' }))).toEqual({ kind: 'noOpinion', reason: `RBAC: ${errors}` })
    expect(roles.rulesOf(jane, 'n')).toEqual({ rules: [readPods], error: errors })
  })
})

describe('AUTHZ-03: a change', () => {
  test('of a role, a binding or its subjects takes effect, and changes no other binding', async () => {
    const { storage, kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods])
      putBinding(storage, 'ClusterRole/r', { name: 'a' })
      putBinding(storage, 'ClusterRole/r', { name: 'b' })
    })
    const joe = aUser('joe')
    storage.remove(`${group}/clusterrolebindings`, 'a')
    putBinding(storage, 'ClusterRole/r', { name: 'c', subjects: [{ kind: 'User', name: 'joe' }] })
    await turn()
    expect(kindOf(joe, anAccess())).toBe('allow')
    expect(kindOf(jane, anAccess())).toBe('allow')
    putBinding(storage, 'ClusterRole/r', { name: 'b', subjects: [{ kind: 'User', name: 'joe' }] })
    await turn()
    expect(kindOf(jane, anAccess())).toBe('noOpinion')
    storage.remove(`${group}/clusterrolebindings`, 'b')
    storage.remove(`${group}/clusterrolebindings`, 'c')
    await turn()
    expect(kindOf(joe, anAccess())).toBe('noOpinion')
    putBinding(storage, 'ClusterRole/r')
    await turn()
    expect(kindOf(jane, anAccess())).toBe('allow')
    putRole(storage, 'r', [])
    await turn()
    expect(kindOf(jane, anAccess())).toBe('noOpinion')
  })

  test('of a binding that names a subject twice removes its only grant', async () => {
    const { storage, roles, kindOf } = await loaded((storage) => {
      putRole(storage, 'r', [readPods])
      putBinding(storage, 'ClusterRole/r', { subjects: [...toJane, ...toJane] })
    })
    expect(roles.rulesOf(jane, '').rules).toEqual([readPods])
    expect(kindOf(jane, anAccess())).toBe('allow')
    storage.remove(`${group}/clusterrolebindings`, 'b')
    await turn()
    expect(kindOf(jane, anAccess())).toBe('noOpinion')
  })
})

test('AUTHZ-03: nothing is allowed before roles are loaded, and a closed authorizer gets no more updates from storage', async () => {
  const storage = createTinyStorage()
  putRole(storage, 'r', [readPods])
  putBinding(storage, 'ClusterRole/r')
  const roles = rolesIn(storage)
  expect(roles.authorize(jane, anAccess())).toEqual({ kind: 'noOpinion', reason: '' })
  expect(storage.followers).toBe(0)
  const loads = [roles.load(), roles.load()]
  await Promise.all(loads)
  await turn()
  expect(storage.followers).toBe(4)
  expect(roles.authorize(jane, anAccess())).toMatchObject({ kind: 'allow' })
  roles.close()
  expect(storage.followers).toBe(0)
})

test('AUTHZ-03: the listed rules of a role equal the stored rules', async () => {
  const { roles } = await loaded((storage) => {
    putRole(storage, 'r', [readPods], 'n')
    putRole(storage, 'r', [readMetrics])
    putRole(storage, 'empty', null)
  })
  const reference = (kind: string, name = 'r') => ({ apiGroup: group, kind, name })
  expect(await roles.rulesOfRole(reference('Role'), 'n')).toEqual([readPods])
  expect(await roles.rulesOfRole(reference('Role'), 'other')).toBeUndefined()
  expect(await roles.rulesOfRole(reference('ClusterRole'), 'n')).toEqual([readMetrics])
  expect(await roles.rulesOfRole(reference('ClusterRole', 'empty'), '')).toEqual([])
  expect(await roles.rulesOfRole(reference('ClusterRole', 'none'), '')).toBeUndefined()
  expect(roles.roleNotFound(reference('Role', 'x')).message).toBe(`role.${group} "x" not found`)
})
