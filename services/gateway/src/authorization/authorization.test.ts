import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { silentLog } from '@orch/platform'
import { createFakeClock, createTinyStorage } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAttributePolicies } from './attribute-policy.ts'
import { type AuthorizationMode, type AuthorizationOptions, openAuthorization } from './authorization.ts'
import { type Access, type Authorizer, alwaysAllow, decide } from './authorizer.ts'
import { createAccessWebhook } from './webhook.ts'

const names = namesOf('orch')
const aUser = (name: string, ...groups: string[]): User => ({ name, groups, uid: '', extra: {} })
const pods: Access = {
  ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
}
const health: Access = { kind: 'path', verb: 'get', path: '/readyz' }

function anAuthorization(modes: readonly AuthorizationMode[], more: Partial<AuthorizationOptions> = {}) {
  const storage = createTinyStorage()
  const policies = parseAttributePolicies('{"user":"bob"}', names)
  const world = { storage, names, level: 25, clock: createFakeClock(), log: silentLog, random: () => 0 }
  const answer = { send: async () => ({ code: 400, body: '' }), version: 'v1', authorizedTtlMs: 0, unauthorizedTtlMs: 0 } as const
  const webhook = createAccessWebhook({ ...answer, ...world })
  const chain = modes.map((mode) => (mode === 'Webhook' ? webhook : mode))
  const authorization = openAuthorization({ chain, policies, ...world, ...more })
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
  ])('%s decides alone, also after AlwaysDeny', async (mode, expected) => {
    const node = aUser('system:node:', 'system:nodes')
    expect(await anAuthorization([mode]).ask(node)).toEqual(expected)
    const { reason } = expected as { reason: string }
    if (mode === 'AlwaysDeny') return
    const reasons = ['Everything is forbidden.', reason].filter((text) => text !== '').join('\n')
    const after = await anAuthorization(['AlwaysDeny', mode]).ask(node)
    expect(after).toEqual(mode === 'AlwaysAllow' ? expected : { ...expected, reason: reasons })
  })

  test('ABAC uses the lines of its file', async () => {
    expect(await anAuthorization(['ABAC']).ask(aUser('bob'))).toEqual({ kind: 'allow', reason: '' })
  })

  test.each<[AuthorizationMode]>([['AlwaysDeny'], ['ABAC'], ['RBAC'], ['Node'], ['Webhook']])('%s lets administrators in', async (mode) => {
    const { ask } = anAuthorization([mode])
    expect(await ask(aUser('x', 'y', 'system:masters'))).toEqual({ kind: 'allow', reason: '' })
  })
})

test('AUTHZ-02: if everything is allowed, roles are not evaluated', async () => {
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
])('AUTHZ-07: with %s anyone may read health, and readiness fails until roles are loaded', async (mode, followed) => {
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

describe('AZC-10: a chain whose authorizers may be replaced', () => {
  const saying = (kind: 'allow' | 'deny' | 'noOpinion', reason: string): Authorizer => ({
    authorize: () => ({ kind, reason }),
    rulesOf: () => ({ rules: [{ verbs: [reason] }], ...(kind === 'deny' ? { isIncomplete: true, error: reason } : {}) }),
  })

  test('asks in order, joins the reasons, and admits administrators first', async () => {
    const { authorization, ask } = anAuthorization([], { chain: [saying('noOpinion', 'a'), 'AlwaysDeny'], isReplaceable: true })
    expect(await ask(aUser('x'))).toEqual({ kind: 'noOpinion', reason: 'a\nEverything is forbidden.' })
    authorization.replace([saying('deny', 'b'), saying('allow', 'c')])
    expect(await ask(aUser('x'))).toEqual({ kind: 'deny', reason: 'b' })
    expect(await ask(aUser('x', 'system:masters'))).toMatchObject({ kind: 'allow' })
    expect(authorization.authorizers.at(-1)?.rulesOf(aUser('x'), '')).toEqual({
      rules: [{ verbs: ['b'] }, { verbs: ['c'] }],
      isIncomplete: true,
      error: 'b',
    })
  })

  test('finishes a running request with its original authorizers', async () => {
    const { promise, resolve } = Promise.withResolvers<{ kind: 'noOpinion'; reason: string }>()
    const slow: Authorizer = { authorize: () => promise, rulesOf: () => ({ rules: [] }) }
    const { authorization, ask } = anAuthorization([], { chain: [slow, saying('allow', 'old')], isReplaceable: true })
    const asked = ask(aUser('x'))
    authorization.replace([saying('deny', 'new')])
    resolve({ kind: 'noOpinion', reason: '' })
    expect(await asked).toEqual({ kind: 'allow', reason: 'old' })
  })
})
