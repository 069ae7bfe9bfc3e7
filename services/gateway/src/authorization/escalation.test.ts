import type { Resource } from '@orch/core/catalogue'
import type { User } from '@orch/core/contracts'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import type { PolicyRule } from '@orch/core/rbac'
import { silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Pace } from '../request/pace.ts'
import { strategyOf } from '../strategies/kind-hooks.ts'
import type { Target } from '../target/target.ts'
import { refuseEscalation } from '../write/checks.ts'
import type { Access } from './authorizer.ts'
import type { RoleParts, RoleWrite } from './escalation.ts'
import { Roles } from './roles.ts'

const group = 'rbac.authorization.orch.io'
const jane: User = { name: 'jane', groups: ['devs', 'system:authenticated'], uid: '', extra: {} }
const readPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const all = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

const kinds = {
  Role: { resource: 'roles', isNamespaced: true },
  ClusterRole: { resource: 'clusterroles', isNamespaced: false },
  RoleBinding: { resource: 'rolebindings', isNamespaced: true },
  ClusterRoleBinding: { resource: 'clusterrolebindings', isNamespaced: false },
}

interface Setting {
  /** Jane's rights in namespace n. */
  readonly held?: readonly PolicyRule[]
  /** Jane's rights in all namespaces. */
  readonly heldInAll?: readonly PolicyRule[]
  readonly user?: User
  /** The namespace of the write. */
  readonly namespace?: string
  readonly live?: ApiObject
  readonly target?: object
  /** Name in the path of the request; '' for a create. */
  readonly requestName?: string
  readonly isWithoutRoles?: boolean
}

const storedKinds = {
  roles: 'Role',
  clusterroles: 'ClusterRole',
  rolebindings: 'RoleBinding',
  clusterrolebindings: 'ClusterRoleBinding',
}

/** The strategy of a built-in kind; a custom kind of the same name has no hooks. */
const strategyOfKind = (hooks: string | undefined) => strategyOf({ hooks } as Resource)

/** The step of a write that prevents escalation. */
const refuseWrite = ({ user, target, object, live }: RoleWrite, parts: RoleParts) =>
  refuseEscalation({ object, live: live && { object: live }, write: { request: { user }, target } } as never, parts as never)

/** The error of a write of the object; '' for none. */
async function judge(object: Record<string, unknown>, setting: Setting = {}) {
  const { held = [], heldInAll = [], user = jane, namespace = 'n', live, target = {}, requestName = 'x', isWithoutRoles = false } = setting
  const kind = object['kind'] as keyof typeof kinds
  const { resource, isNamespaced } = kinds[kind] ?? { resource: 'others', isNamespaced: true }
  const storage = createTinyStorage()
  const apiVersion = `${group}/v1`
  const subjects = [{ kind: 'User', name: 'jane' }]
  const put = (plural: keyof typeof storedKinds, name: string, content: object, place: string | undefined) =>
    storage.put({
      ...{ resource: `${group}/${plural}`, name, object: { kind: storedKinds[plural], apiVersion, ...content } },
      ...(place === undefined ? {} : { namespace: place }),
    })
  put('clusterroles', 'held', { rules: held }, undefined)
  put('clusterroles', 'everywhere', { rules: heldInAll }, undefined)
  put('clusterroles', 'small', { rules: [readPods] }, undefined)
  put('roles', 'small', { rules: [readPods] }, 'n')
  put('rolebindings', 'held', { subjects, roleRef: { kind: 'ClusterRole', name: 'held' } }, 'n')
  put('clusterrolebindings', 'everywhere', { subjects, roleRef: { kind: 'ClusterRole', name: 'everywhere' } }, undefined)
  const roles = new Roles({ storage, names: namesOf('orch'), clock: createFakeClock(), log: silentLog, random: () => 0 })
  onTestFinished(() => roles.close())
  await roles.load()
  const asked: Access[] = []
  const noting = {
    authorize: (user: User, access: Access) => {
      asked.push(access)
      return roles.authorize(user, access)
    },
    rulesOf: (user: User, namespace: string) => roles.rulesOf(user, namespace),
  }
  const write = {
    user,
    target: {
      info: { version: 'v1', namespace, name: requestName },
      served: { name: { group, resource }, resource: { group, kind, isNamespaced }, strategy: strategyOfKind(kind) },
      subresource: undefined,
      ...target,
    } as unknown as Target,
    object: { apiVersion, metadata: { name: 'x', ...(isNamespaced ? { namespace } : {}) }, ...object } as unknown as ApiObject,
    live,
  } satisfies RoleWrite
  const parts = { authorizers: [noting], roles: isWithoutRoles ? undefined : roles, pace: new Pace() }
  try {
    await refuseWrite(write, parts)
    return { code: 200, message: '', asked }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { code: error.code, message: error.message, asked }
  }
}

const messageOf = async (object: Record<string, unknown>, setting?: Setting) => (await judge(object, setting)).message
const codeOf = async (object: Record<string, unknown>, setting?: Setting) => (await judge(object, setting)).code
const may = (verb: string, resource: string, ...resourceNames: string[]) => {
  return { verbs: [verb], apiGroups: [group], resources: [resource], resourceNames }
}
const grants = (lines: string) =>
  `user "jane" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines}`

describe('AUTHZ-03: a role', () => {
  test('is refused with the rules that its writer lacks, each in one line', async () => {
    const rules = [
      readPods,
      { ...readPods, resources: ['secrets'] },
      { verbs: ['get'], nonResourceURLs: ['/x'] },
      { ...readPods, resources: ['a'] },
    ]
    expect(await messageOf({ kind: 'Role', rules }, { held: [readPods] })).toBe(
      `roles.${group} "x" is forbidden: ${grants(
        '{APIGroups:[""], Resources:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}\n{NonResourceURLs:["/x"], Verbs:["get"]}',
      )}`,
    )
    expect(await codeOf({ kind: 'Role', rules: [readPods] }, { held: [readPods] })).toBe(200)
    expect(await codeOf({ kind: 'Role' })).toBe(200)
    expect(await codeOf({ kind: 'Role', rules: null })).toBe(200)
  })

  test('may grant in a namespace the rights that the user holds there or in all namespaces, and none from another namespace', async () => {
    expect(await codeOf({ kind: 'Role', rules: [readPods] }, { heldInAll: [readPods] })).toBe(200)
    expect(await codeOf({ kind: 'Role', rules: [readPods] }, { held: [readPods], namespace: 'other' })).toBe(403)
    expect(await codeOf({ kind: 'ClusterRole', rules: [readPods] }, { held: [readPods], namespace: '' })).toBe(403)
    expect(await codeOf({ kind: 'ClusterRole', rules: [readPods] }, { heldInAll: [readPods], namespace: '' })).toBe(200)
  })

  test('may grant anything with the verb escalate on that role, and on no other', async () => {
    const rules = [readPods]
    expect(await codeOf({ kind: 'Role', rules }, { held: [may('escalate', 'roles', 'x')] })).toBe(200)
    expect(await codeOf({ kind: 'Role', rules }, { held: [may('escalate', 'roles', 'y')] })).toBe(403)
    expect(await codeOf({ kind: 'Role', rules }, { held: [may('escalate', 'roles', 'x')], namespace: 'other' })).toBe(403)
    expect(await codeOf({ kind: 'Role', rules }, { held: [may('bind', 'roles', 'x')] })).toBe(403)
    expect(await codeOf({ kind: 'ClusterRole', rules }, { heldInAll: [may('escalate', 'clusterroles')] })).toBe(200)
    const { asked } = await judge({ kind: 'ClusterRole', rules }, { namespace: 'ignored' })
    expect(asked).toEqual([
      { kind: 'resource', verb: 'escalate', group, version: '*', namespace: '', resource: 'clusterroles', name: 'x', subresource: '' },
    ])
    const named = await judge({ kind: 'Role', rules })
    expect(named.asked).toEqual([
      { kind: 'resource', verb: 'escalate', group, version: '*', namespace: 'n', resource: 'roles', name: 'x', subresource: '' },
    ])
    const created = await judge({ kind: 'Role', rules }, { requestName: '', held: [may('escalate', 'roles', 'x')] })
    expect([created.code, created.asked]).toMatchObject([403, [{ name: '' }]])
  })

  test('with an aggregation rule, now or before, may grant anything, so that its writer needs all rights', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
    const refused = `clusterroles.${group} "x" is forbidden: must have cluster-admin privileges to use the aggregationRule`
    const live = { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata: { name: 'x' }, aggregationRule } as ApiObject
    const plain = { ...live, aggregationRule: null, metadata: { name: 'x', labels: { a: 'b' } } } as ApiObject
    expect(await messageOf({ kind: 'ClusterRole', aggregationRule }, { heldInAll: all.slice(1) })).toBe(refused)
    expect(await messageOf({ kind: 'ClusterRole', aggregationRule }, { held: all })).toBe(refused)
    expect(await messageOf({ kind: 'ClusterRole' }, { live })).toBe(refused)
    expect(await codeOf({ kind: 'ClusterRole', aggregationRule }, { heldInAll: all })).toBe(200)
    expect(await codeOf({ kind: 'ClusterRole', aggregationRule }, { heldInAll: [may('escalate', 'clusterroles')] })).toBe(200)
    expect(await codeOf({ kind: 'ClusterRole', aggregationRule: null }, { live: plain })).toBe(200)
    expect(await codeOf({ kind: 'ClusterRole', aggregationRule: { clusterRoleSelectors: [] } })).toBe(200)
  })

  test('with more rules than can be compared is refused', async () => {
    // The first held rule covers all, so that the test is cheap.
    const held = [{ ...readPods, resources: ['*'] }, ...Array.from({ length: 2_000 }, () => ({ ...readPods, resources: ['a', 'b'] }))]
    const rules = [{ ...readPods, resources: Array.from({ length: 1_000 }, (_, index) => `r${index}`) }]
    expect(await messageOf({ kind: 'Role', rules }, { held })).toBe(
      `roles.${group} "x" is forbidden: user "jane" is attempting to grant more permissions than can be compared`,
    )
  })
})

describe('AUTHZ-03: a binding', () => {
  const toRole = (kind: string, name: string, of = 'RoleBinding') => ({ kind: of, roleRef: { apiGroup: group, kind, name } })

  test('is refused with the rules of its role that its writer lacks', async () => {
    expect(await messageOf(toRole('Role', 'small'))).toBe(
      `rolebindings.${group} "x" is forbidden: ${grants('{APIGroups:[""], Resources:["pods"], Verbs:["get"]}')}`,
    )
    expect(await codeOf(toRole('Role', 'small'), { held: [readPods] })).toBe(200)
    expect(await codeOf(toRole('ClusterRole', 'small'), { held: [readPods] })).toBe(200)
    expect(await codeOf(toRole('ClusterRole', 'small'), { held: [readPods], namespace: 'other' })).toBe(403)
    expect(await codeOf(toRole('ClusterRole', 'small', 'ClusterRoleBinding'), { held: [readPods] })).toBe(403)
    expect(await codeOf(toRole('ClusterRole', 'small', 'ClusterRoleBinding'), { heldInAll: [readPods] })).toBe(200)
  })

  test('is allowed by the verb bind on its role, and on no other role', async () => {
    expect(await codeOf(toRole('Role', 'small'), { held: [may('bind', 'roles', 'small')] })).toBe(200)
    expect(await codeOf(toRole('Role', 'small'), { held: [may('bind', 'roles', 'other')] })).toBe(403)
    expect(await codeOf(toRole('Role', 'small'), { held: [may('bind', 'clusterroles', 'small')] })).toBe(403)
    expect(await codeOf(toRole('ClusterRole', 'small'), { held: [may('bind', 'clusterroles', 'small')] })).toBe(200)
    expect(await codeOf(toRole('ClusterRole', 'small'), { held: [may('bind', 'roles', 'small')] })).toBe(403)
    expect(await codeOf(toRole('ClusterRole', 'small'), { held: [may('escalate', 'clusterroles', 'small')] })).toBe(403)
    expect(await codeOf(toRole('ClusterRole', 'small', 'ClusterRoleBinding'), { held: [may('bind', 'clusterroles')] })).toBe(403)
    const bind = { kind: 'resource', verb: 'bind', group, version: '*', name: 'small', subresource: '' }
    expect((await judge(toRole('Role', 'small'))).asked).toEqual([{ ...bind, resource: 'roles', namespace: 'n' }])
    expect((await judge(toRole('ClusterRole', 'small', 'ClusterRoleBinding'))).asked).toEqual([
      { ...bind, resource: 'clusterroles', namespace: '' },
    ])
  })

  test('of a role that is absent is a 404, unless the user has the verb bind', async () => {
    expect(await judge(toRole('Role', 'none'))).toMatchObject({ code: 404, message: `role.${group} "none" not found` })
    expect(await codeOf(toRole('Role', 'small'), { namespace: 'other' })).toBe(404)
    expect(await codeOf(toRole('Role', 'none'), { held: [may('bind', 'roles', 'none')] })).toBe(200)
  })

  test.each([[{ kind: 'Other', name: 'a' }], [undefined]])('to %j is left to validation', async (roleRef) => {
    expect(await judge({ kind: 'RoleBinding', roleRef })).toEqual({ code: 200, message: '', asked: [] })
  })
})

describe('AUTHZ-03: a write is no escalation', () => {
  const role = { kind: 'Role', rules: [readPods] }

  test.each<[string, Setting]>([
    ['where an administrator writes', { user: { ...jane, groups: ['system:masters'] } }],
    ['where no roles decide', { isWithoutRoles: true }],
    ['where a subresource is written', { target: { subresource: { name: 'status' } } }],
    [
      'where the resource is of another group',
      {
        target: {
          served: {
            name: { group: 'other', resource: 'roles' },
            resource: { group: 'other', kind: 'Role', isNamespaced: true },
            strategy: strategyOfKind(undefined),
          },
        },
      },
    ],
  ])('%s', async (_name, setting) => {
    expect(await codeOf(role, setting)).toBe(200)
    expect(await codeOf(role)).toBe(403)
  })

  test.each<[string, object, object, number]>([
    ['owners', { metadata: { name: 'x', ownerReferences: [{ uid: 'u' }] } }, {}, 200],
    ['finalizers', { metadata: { name: 'x', finalizers: ['a/b'] } }, {}, 200],
    ['managed fields', { metadata: { name: 'x', managedFields: [{}] } }, {}, 200],
    ['owners to be added', {}, { metadata: { name: 'x', ownerReferences: [{ uid: 'u' }] } }, 200],
    ['labels', { metadata: { name: 'x', labels: { a: 'b' } } }, {}, 403],
    ['rules', { rules: [] }, {}, 403],
  ])('if it changes only %s, unlike other changes: %#', async (_name, before, after, code) => {
    const written = { apiVersion: `${group}/v1`, ...role, metadata: { name: 'x' } }
    expect(await codeOf({ ...written, ...after }, { live: { ...written, ...before } as ApiObject })).toBe(code)
  })
})

test('AUTHZ-03: a bound role that is absent is named in the refusal', async () => {
  const rules = [{ ...readPods, resources: ['secrets'] }]
  const storage = createTinyStorage()
  const roleRef = { kind: 'ClusterRole', name: 'none' }
  const object = { kind: 'ClusterRoleBinding', apiVersion: `${group}/v1`, subjects: [{ kind: 'User', name: 'jane' }], roleRef }
  storage.put({ resource: `${group}/clusterrolebindings`, name: 'b', object })
  const names = namesOf('orch')
  const roles = new Roles({ storage, names, clock: createFakeClock(), log: silentLog, random: () => 0 })
  onTestFinished(() => roles.close())
  await roles.load()
  const served = {
    name: { group, resource: 'roles' },
    resource: { group, kind: 'Role', isNamespaced: true },
    strategy: strategyOfKind('Role'),
  }
  const target = { info: { version: 'v1', namespace: 'n', name: '' }, served, subresource: undefined } as unknown as Target
  const role = { kind: 'Role', apiVersion: `${group}/v1`, metadata: { name: 'x' }, rules } as unknown as ApiObject
  const write = { user: jane, target, object: role, live: undefined }
  await expect(async () => refuseWrite(write, { authorizers: [roles], roles, pace: new Pace() })).rejects.toThrow(
    `Verbs:["get"]}; resolution errors: [clusterrole.${group} "none" not found]`,
  )
})
