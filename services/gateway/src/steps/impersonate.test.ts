import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { type Authorizer, alwaysAllow, alwaysDeny } from '../authorization/authorizer.ts'
import type { GatewayRequest } from '../request/request.ts'
import { impersonate } from './impersonate.ts'

const jane: User = { name: 'jane', groups: [], uid: '', extra: {} }

/** A request of Jane with these headers, after the step. */
async function after(
  headers: Record<string, string | readonly string[]>,
  authorizer: Authorizer = alwaysAllow,
  constrainsImpersonation = true,
) {
  const left = new Map(Object.entries(headers))
  const exchange = {
    headerNames: () => [...left.keys()],
    headerValues: (name: string) => [left.get(name) ?? []].flat(),
    dropHeaders: (names: readonly string[]) => {
      for (const name of names) left.delete(name)
    },
  }
  const info = { kind: 'path', verb: 'get', path: '/version' }
  const request = { user: jane, info, exchange } as unknown as GatewayRequest
  const parts = { authorizers: [authorizer], names: namesOf('orch'), constrainsImpersonation }
  const refused = await (async () => impersonate(request, parts))().then(
    () => '',
    (error: Error) => error.message,
  )
  return { user: request.user.name, headers: [...left.keys()], refused, whole: request.user, constraint: request.impersonationConstraint }
}

const headers = { accept: 'x', 'impersonate-user': 'john', 'impersonate-group': 'g', 'impersonate-uid': '1', 'impersonate-extra-k': 'v' }

test('IMP-01: steps after this one see the impersonated user and none of its headers', async () => {
  expect(await after(headers)).toMatchObject({ user: 'john', headers: ['accept'], refused: '' })
  expect(await after({ accept: 'x' })).toMatchObject({ user: 'jane', headers: ['accept'], refused: '' })
})

test('IMP-16: a refused request keeps its caller', async () => {
  expect(await after(headers, alwaysDeny)).toMatchObject({ user: 'jane', refused: expect.stringContaining('users "john" is forbidden') })
})

/** An authorizer that allows only these verbs, and its requested verbs. */
function allowing(verbs: readonly string[]) {
  const asked: string[] = []
  const authorizer: Authorizer = {
    ...alwaysAllow,
    authorize: (_user, { verb }) => {
      asked.push(verb)
      return { kind: verbs.includes(verb) ? 'allow' : 'noOpinion', reason: '' }
    },
  }
  return { asked, authorizer }
}

test('READ-27: a caller with a constrained verb does not need the plain verb, and the request has the constraint', async () => {
  const verbs = ['impersonate-on:user-info:get', 'impersonate:user-info']
  const { asked, authorizer } = allowing(verbs)
  expect(await after({ 'impersonate-user': 'john' }, authorizer)).toMatchObject({ user: 'john', constraint: 'impersonate:user-info' })
  expect(asked).toEqual(verbs)
})

test('READ-27: no constrained verb is checked without the feature gate', async () => {
  const { asked, authorizer } = allowing(['impersonate'])
  expect(await after({ 'impersonate-user': 'john' }, authorizer, false)).toMatchObject({ user: 'john', constraint: '' })
  expect(asked).toEqual(['impersonate'])
})

test('IMP-17: groups, uid and extra attributes come from all their headers, empty ones among them', async () => {
  const given = {
    'impersonate-user': 'john',
    'impersonate-group': ['a', '', 'b'],
    'impersonate-uid': '7',
    'impersonate-extra-scopes': ['one', '', 'two'],
    'impersonate-extra-acme%2fproject': 'p',
    'x-impersonate-extra-': 'none',
    accept: 'x',
  }
  const { whole, headers: left } = await after(given)
  expect(whole).toMatchObject({ name: 'john', uid: '7', groups: ['a', '', 'b', 'system:authenticated'] })
  expect({ ...whole.extra }).toEqual({ scopes: ['one', '', 'two'], 'acme/project': ['p'] })
  expect(left).toEqual(['x-impersonate-extra-', 'accept'])
  expect(await after({ 'impersonate-user': 'john' })).toMatchObject({ whole: { uid: '' }, refused: '' })
})

test('an empty name alone asks for no impersonation, and an extra attribute may have an empty key', async () => {
  expect(await after({ 'impersonate-user': '' })).toMatchObject({ user: 'jane', refused: '' })
  expect((await after({ 'impersonate-user': 'a', 'impersonate-extra-': 'x' })).whole.extra).toEqual({ '': ['x'] })
})

test.each([
  [{ 'impersonate-user': ['a', 'b'] }, 'Impersonate-User: must be given once, not 2 times'],
  [{ 'impersonate-user': 'a', 'impersonate-uid': ['1', '2'] }, 'Impersonate-Uid: must be given once, not 2 times'],
  [
    { 'impersonate-user': '', 'impersonate-group': '' },
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{""}, Extra:map[string][]string(nil)} without impersonating a user name',
  ],
  [
    { 'impersonate-group': ['g', 'h'] },
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g", "h"}, Extra:map[string][]string(nil)} without impersonating a user name',
  ],
  [
    { 'impersonate-uid': '1', 'impersonate-extra-b': 'x', 'impersonate-extra-a': 'y' },
    'requested &user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"y"}, "b":[]string{"x"}}} without impersonating a user name',
  ],
  [
    { 'impersonate-extra-a': 'y' },
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"y"}}} without impersonating a user name',
  ],
])('IMP-04: headers that contradict one another or name no user are refused: %j', async (given, refused) => {
  expect(await after(given)).toMatchObject({ user: 'jane', refused })
})
