import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import { createAttributePolicy, parseAttributePolicies } from './attribute-policy.ts'
import type { Access } from './authorizer.ts'

const names = namesOf('orch')
const head = { apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy' }
const line = (spec: object) => JSON.stringify({ ...head, spec })
const aUser = (name: string, ...groups: string[]): User => ({ name, groups, uid: '', extra: {} })
const anAccess = (given: object = {}): Access =>
  ({
    ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
    ...given,
  }) as Access
const aPath = (path: string, verb = 'get'): Access => ({ kind: 'path', path, verb })

const isAllowed = (user: User, access: Access, ...lines: string[]) => {
  const { kind, reason } = createAttributePolicy(parseAttributePolicies(lines.join('\n'), names)).authorize(user, access) as {
    kind: string
    reason: string
  }
  expect([kind, reason]).toEqual(kind === 'allow' ? ['allow', ''] : ['noOpinion', 'No policy matched.'])
  return kind === 'allow'
}

test('AUTHZ-04: empty lines and comments with # are no policies', () => {
  expect(parseAttributePolicies('\n# one\n  \n  # two', names)).toEqual([])
})

describe('AUTHZ-04: a line', () => {
  const full = { user: 'bob', namespace: 'n', resource: 'pods', apiGroup: 'apps' }

  test.each<[string, object, object, boolean]>([
    ['allows what it names', full, { group: 'apps' }, true],
    ['allows every verb', full, { group: 'apps', verb: 'deletecollection' }, true],
    ['allows no other namespace', full, { group: 'apps', namespace: 'other' }, false],
    ['allows no other resource', full, { group: 'apps', resource: 'secrets' }, false],
    ['allows no other group', full, { group: '' }, false],
    ['without an API group is about the core group', { ...full, apiGroup: undefined }, { group: '' }, true],
    ['without an API group is not about others', { ...full, apiGroup: undefined }, { group: 'apps' }, false],
    ['without a namespace is about the cluster scope', { ...full, namespace: undefined }, { group: 'apps', namespace: '' }, true],
    ['without a namespace is about no namespace', { ...full, namespace: undefined }, { group: 'apps' }, false],
    ['without a resource allows none', { ...full, resource: undefined }, { group: 'apps' }, false],
    ['with stars is about everything', { user: 'bob', namespace: '*', resource: '*', apiGroup: '*' }, { group: 'x', resource: 'y' }, true],
    ['that is readonly allows get', { ...full, readonly: true }, { group: 'apps' }, true],
    ['that is readonly allows list', { ...full, readonly: true }, { group: 'apps', verb: 'list' }, true],
    ['that is readonly allows watch', { ...full, readonly: true }, { group: 'apps', verb: 'watch' }, true],
    ['that is readonly allows no update', { ...full, readonly: true }, { group: 'apps', verb: 'update' }, false],
  ])('%s', (_name, spec, asked, expected) => {
    expect(isAllowed(aUser('bob'), anAccess(asked), line(spec))).toBe(expected)
  })

  test.each<[string, object, User, boolean]>([
    ['a user', { user: 'bob' }, aUser('bob', 'g'), true],
    ['no other user', { user: 'bob' }, aUser('joe', 'g'), false],
    ['a group', { group: 'g' }, aUser('joe', 'x', 'g'), true],
    ['no other group', { group: 'g' }, aUser('joe', 'x'), false],
    ['a user in a group', { user: 'bob', group: 'g' }, aUser('bob', 'g'), true],
    ['not the user outside of the group', { user: 'bob', group: 'g' }, aUser('bob', 'x'), false],
    ['not others of the group', { user: 'bob', group: 'g' }, aUser('joe', 'g'), false],
    ['by a star, users who are known', { user: '*' }, aUser('joe', 'system:authenticated'), true],
    ['by a star, no strangers', { user: '*' }, aUser('system:anonymous', 'system:unauthenticated'), false],
    ['by a star as the group, users who are known', { group: '*' }, aUser('joe', 'system:authenticated'), true],
    ['by a star beside a name, users who are known', { user: 'bob', group: '*' }, aUser('joe', 'system:authenticated'), true],
    ['by neither user nor group, no user', {}, aUser('', ''), false],
  ])('is about %s', (_name, spec, user, expected) => {
    expect(isAllowed(user, anAccess(), line({ ...spec, namespace: '*', resource: '*' }))).toBe(expected)
  })

  test.each([
    ['/metrics', '/metrics', true],
    ['/metrics', '/metrics/x', false],
    ['/metrics*', '/metrics/x', true],
    ['/metrics*', '/metric', false],
    ['/a**', '/ab', true],
    ['*', '/anything', true],
    ['/a', '/b', false],
    ['', '', false],
  ])('with the path %s is about %s: %s', (nonResourcePath, path, expected) => {
    expect(isAllowed(aUser('bob'), aPath(path), line({ user: 'bob', nonResourcePath }))).toBe(expected)
  })

  test('that is readonly allows GET of a path, and no POST', () => {
    const policy = line({ user: 'bob', nonResourcePath: '*', readonly: true })
    expect(isAllowed(aUser('bob'), aPath('/x'), policy)).toBe(true)
    expect(isAllowed(aUser('bob'), aPath('/x', 'post'), policy)).toBe(false)
  })

  test('about paths only allows no resource, and a line about resources allows no path', () => {
    expect(isAllowed(aUser('bob'), anAccess(), line({ user: 'bob', nonResourcePath: '*' }))).toBe(false)
    expect(isAllowed(aUser('bob'), aPath('/x'), line({ user: 'bob', namespace: '*', resource: '*', apiGroup: '*' }))).toBe(false)
  })

  test('decides alone: the user of one line and the resource of another give nothing together', () => {
    const lines = [
      line({ user: 'bob', namespace: 'n', resource: 'pods' }),
      '',
      '  # text',
      `  ${line({ user: 'joe', namespace: 'n', resource: 'secrets' })}  `,
    ]
    expect(isAllowed(aUser('bob'), anAccess({ resource: 'secrets' }), ...lines)).toBe(false)
    expect(isAllowed(aUser('joe'), anAccess({ resource: 'secrets' }), ...lines)).toBe(true)
  })
})

describe('AUTHZ-08: a line of the older format', () => {
  const known = aUser('joe', 'system:authenticated')

  test.each<[string, object, User, Access, boolean]>([
    ['for a user alone allows resources', { user: 'bob' }, aUser('bob'), anAccess({ group: 'apps' }), true],
    ['for a user alone allows paths', { user: 'bob' }, aUser('bob'), aPath('/x'), true],
    ['for a user allows no other user', { user: 'bob' }, known, anAccess(), false],
    ['for a group allows no other group', { group: 'g' }, known, anAccess(), false],
    ['without user and group is about users who are known', { resource: 'pods' }, known, anAccess(), true],
    ['without user and group is about no strangers', { resource: 'pods' }, aUser('x', 'system:unauthenticated'), anAccess(), false],
    ['with a resource is about it in every namespace', { resource: 'pods' }, known, anAccess({ namespace: 'other' }), true],
    ['with a resource is about no other', { resource: 'pods' }, known, anAccess({ resource: 'secrets' }), false],
    ['with a resource gives no paths', { resource: 'pods' }, known, aPath('/x'), false],
    ['with a namespace is about everything there', { namespace: 'n' }, known, anAccess({ resource: 'secrets', group: 'apps' }), true],
    ['with a namespace is about no other', { namespace: 'n' }, known, anAccess({ namespace: 'other' }), false],
    ['with a namespace gives no paths', { namespace: 'n' }, known, aPath('/x'), false],
    ['with a star as the user is about users who are known', { user: '*' }, known, anAccess(), true],
    ['with a star as the user is about no strangers', { user: '*' }, aUser('x', 'system:unauthenticated'), anAccess(), false],
    ['that is readonly changes nothing', { readonly: true }, known, anAccess({ verb: 'patch' }), false],
  ])('%s', (_name, policy, user, access, expected) => {
    expect(isAllowed(user, access, JSON.stringify(policy))).toBe(expected)
  })
})

test.each([
  ['[]', 'line 1: must be an object with "apiVersion"'],
  ['null', 'line 1: must be an object with "apiVersion"'],
  ['3', 'line 1: must be an object with "apiVersion"'],
  ['{"kind":"Policy"}', 'line 1: must be an object with "apiVersion"'],
  ['{"apiVersion":"abac.authorization.orch.io/v1beta1"}', 'line 1: must be an object with "apiVersion"'],
  [JSON.stringify({ ...head, kind: 'Other', spec: {} }), 'line 1: must be an object with "apiVersion"'],
  [JSON.stringify({ ...head, apiVersion: 'abac.authorization.orch.io/v1', spec: {} }), 'line 1: must be an object with "apiVersion"'],
  [JSON.stringify(head), 'line 1: spec: must be an object'],
  [JSON.stringify({ ...head, spec: [] }), 'line 1: spec: must be an object'],
  [line({ user: 3 }), 'line 1: spec.user: must be a text'],
  [line({ group: {} }), 'line 1: spec.group: must be a text'],
  [line({ nonResourcePath: 3 }), 'line 1: spec.nonResourcePath: must be a text'],
  ['{"namespace":3}', 'line 1: namespace: must be a text'],
  ['{"readonly":1}', 'line 1: readonly: must be true or false'],
  ['{"nonResourcePath":"*"}', 'line 1: nonResourcePath: is not known'],
])('AUTHZ-08: %s is refused', (text, message) => {
  expect(() => parseAttributePolicies(text, names)).toThrow(message)
})

describe('VIRT-05: the rules of a user', () => {
  const rulesOf = (spec: object, namespace = 'n', user = aUser('bob')) =>
    createAttributePolicy(parseAttributePolicies(line(spec), names)).rulesOf(user, namespace).rules

  test('are the resources and paths of the lines about the user', () => {
    const spec = { user: 'bob', namespace: 'n', resource: 'pods', apiGroup: 'apps', nonResourcePath: '/x' }
    expect(rulesOf(spec)).toEqual([
      { verbs: ['*'], apiGroups: ['apps'], resources: ['pods'] },
      { verbs: ['*'], nonResourceURLs: ['/x'] },
    ])
    expect(rulesOf(spec, 'n', aUser('joe'))).toEqual([])
  })

  test('contain only resources of the namespace', () => {
    expect(rulesOf({ user: 'bob', namespace: 'other', resource: 'pods', nonResourcePath: '/x' })).toEqual([
      { verbs: ['*'], nonResourceURLs: ['/x'] },
    ])
    expect(rulesOf({ user: 'bob', namespace: '*', resource: 'pods', readonly: true })).toEqual([
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
    ])
  })
})
