import { expect, test } from 'vitest'
import { allowHealth, allowMasters, alwaysAllow, alwaysDeny } from './authorizer.ts'

const stranger = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }

test('before roles are loaded, only requests for health are allowed', async () => {
  let isLoaded = false
  const authorizer = allowHealth(() => !isLoaded)
  const decide = async (verb: 'get' | 'post', path: string) => (await authorizer.authorize(stranger, { kind: 'path', verb, path })).kind
  for (const path of ['/livez', '/readyz', '/healthz']) expect(await decide('get', path)).toBe('allow')
  for (const path of ['/metrics', '/livez/etcd', '/livezz', '/', '/x/livez']) expect(await decide('get', path)).toBe('noOpinion')
  expect(await decide('post', '/livez')).toBe('noOpinion')
  isLoaded = true
  expect(await decide('get', '/livez')).toBe('noOpinion')
})

test('VIRT-05: the modes without roles list all rules or none', () => {
  const everything = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]
  expect(alwaysAllow.rulesOf(stranger, 'n')).toEqual({ rules: everything })
  for (const authorizer of [alwaysDeny, allowMasters, allowHealth(() => true)]) {
    expect(authorizer.rulesOf(stranger, 'n')).toEqual({ rules: [] })
  }
})
