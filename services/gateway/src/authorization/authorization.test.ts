import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAttributePolicies } from './attribute-policy.ts'
import { type AuthorizationMode, type AuthorizationOptions, openAuthorization } from './authorization.ts'
import { type Access, alwaysAllow, decide } from './authorizer.ts'

const names = namesOf('orch')
const aUser = (name: string, ...groups: string[]): User => ({ name, groups, uid: '', extra: {} })
const pods: Access = {
  ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
}
const health: Access = { kind: 'path', verb: 'get', path: '/readyz' }

function anAuthorization(modes: readonly AuthorizationMode[], more: Partial<AuthorizationOptions> = {}) {
  const storage = createTinyStorage()
  const policies = parseAttributePolicies('{"user":"bob"}', names)
  const webhook = { send: async () => ({ code: 400, body: '' }), version: 'v1', authorizedTtlMs: 0, unauthorizedTtlMs: 0 } as const
  const world = { storage, names, clock: createFakeClock(), log: silentLog, random: () => 0 }
  const authorization = openAuthorization({ modes, policies, webhook, ...world, ...more })
  onTestFinished(() => authorization.close())
  const ask = async (user: User, access = pods) => decide(authorization.authorizers, user, access)
  return { authorization, storage, ask }
}

describe('AUTHZ-07: the mode', () => {
  test.each<[AuthorizationMode, object]>([
    ['AlwaysAllow', { kind: 'allow', reason: '' }],
    ['AlwaysDeny', { kind: 'noOpinion', reason: 'Everything is forbidden.' }],
    ['ABAC', { kind: 'noOpinion', reason: 'No policy matched.' }],
    ['RBAC', { kind: 'noOpinion', reason: '' }],
    ['Node', { kind: 'noOpinion', reason: 'unknown node for user "system:node:"' }],
    ['Webhook', { kind: 'noOpinion', reason: '', error: 'the authorization webhook has answered 400' }],
  ])('%s decides alone, and after AlwaysDeny', async (mode, expected) => {
    const node = aUser('system:node:', 'system:nodes')
    expect(await anAuthorization([mode]).ask(node)).toEqual(expected)
    const { reason } = expected as { reason: string }
    if (mode === 'AlwaysDeny') return
    const reasons = ['Everything is forbidden.', reason].filter((text) => text !== '').join('\n')
    const after = await anAuthorization(['AlwaysDeny', mode]).ask(node)
    expect(after).toEqual(mode === 'AlwaysAllow' ? expected : { ...expected, reason: reasons })
  })

  test('ABAC has the lines of its file', async () => {
    expect(await anAuthorization(['ABAC']).ask(aUser('bob'))).toEqual({ kind: 'allow', reason: '' })
  })

  test.each<[AuthorizationMode]>([['AlwaysDeny'], ['ABAC'], ['RBAC'], ['Node'], ['Webhook']])('%s lets administrators in', async (mode) => {
    const { ask } = anAuthorization([mode])
    expect(await ask(aUser('x', 'y', 'system:masters'))).toEqual({ kind: 'allow', reason: '' })
  })

  test('Webhook without an address is a mistake of the caller', () => {
    expect(() => anAuthorization(['Webhook'], { webhook: undefined })).toThrow('the mode Webhook needs a webhook to ask')
  })
})

test('AUTHZ-02: where everything is allowed no role is looked at', async () => {
  const { authorization, storage, ask } = anAuthorization(['AlwaysAllow', 'AlwaysAllow'])
  expect(authorization.authorizers).toEqual([alwaysAllow])
  expect(authorization.roles).toBeUndefined()
  expect(authorization.check.check()).toBeUndefined()
  await authorization.load()
  expect(storage.followers).toBe(0)
  expect(await ask(aUser('x'))).toEqual({ kind: 'allow', reason: '' })
})

test.each<[AuthorizationMode, number]>([
  ['RBAC', 4],
  ['ABAC', 4],
  ['Node', 7],
])('AUTHZ-07: with %s health is open to all who ask and readiness fails until roles are loaded', async (mode, followed) => {
  const { authorization, storage, ask } = anAuthorization([mode])
  expect(authorization.check.name).toBe('authorization')
  expect(authorization.check.check()).toBe('roles and bindings are being loaded')
  expect((await ask(aUser('x'), health)).kind).toBe('allow')
  await authorization.load()
  expect(authorization.check.check()).toBeUndefined()
  expect((await ask(aUser('x'), health)).kind).toBe('noOpinion')
  await new Promise((resolve) => setImmediate(resolve))
  expect(storage.followers).toBe(followed)
  authorization.close()
  expect(storage.followers).toBe(0)
})
