import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { alwaysAllow, alwaysDeny } from '../authorization/authorizer.ts'
import type { GatewayRequest } from '../request.ts'
import { impersonate } from './impersonate.ts'

const jane: User = { name: 'jane', groups: [], uid: '', extra: {} }

/** What is left of a request of Jane with these headers, after the step. */
async function after(headers: Record<string, string>, authorizer = alwaysAllow) {
  const left = new Map(Object.entries(headers))
  const exchange = {
    headerNames: () => [...left.keys()],
    headerValues: (name: string) => [left.get(name) ?? ''],
    dropHeaders: (names: readonly string[]) => {
      for (const name of names) left.delete(name)
    },
  }
  const info = { kind: 'path', verb: 'get', path: '/version' }
  const request = { user: jane, info, exchange } as unknown as GatewayRequest
  const parts = { authorizers: [authorizer], names: namesOf('orch'), constrainsImpersonation: true }
  const refused = await Promise.resolve(impersonate(request, parts)).then(
    () => '',
    (error: Error) => error.message,
  )
  return { user: request.user.name, headers: [...left.keys()], refused }
}

const headers = { accept: 'x', 'impersonate-user': 'john', 'impersonate-group': 'g', 'impersonate-uid': '1', 'impersonate-extra-k': 'v' }

test('IMP-01: what comes after the step sees the impersonated user and none of its headers', async () => {
  expect(await after(headers)).toEqual({ user: 'john', headers: ['accept'], refused: '' })
  expect(await after({ accept: 'x' })).toEqual({ user: 'jane', headers: ['accept'], refused: '' })
})

test('IMP-16: a refused request stays that of its caller', async () => {
  expect(await after(headers, alwaysDeny)).toMatchObject({ user: 'jane', refused: expect.stringContaining('users "john" is forbidden') })
})
