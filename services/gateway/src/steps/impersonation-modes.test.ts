import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { describe, expect, test } from 'vitest'
import type { Access } from '../authorization/authorizer.ts'
import { constrained } from './impersonation-modes.ts'

const nodeKey = 'authentication.kubernetes.io/node-name'
const pods: Access = {
  ...{ kind: 'resource', verb: 'list', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
}
const aUser = (name: string, more: Partial<User> = {}): User => ({ name, groups: [], uid: '', extra: {}, ...more })
const agent = aUser('system:serviceaccount:n:agent', { extra: { [nodeKey]: ['n1'], 'authentication.kubernetes.io/pod-name': ['p'] } })

function waysOf(asked: User, caller = aUser('jane')) {
  return constrained({ caller, asked, access: pods, names: namesOf('kubernetes') })
}

const verbsOf = (asked: User, caller?: User) => waysOf(asked, caller).map(({ constraint }) => constraint)

describe('READ-27: modes', () => {
  test.each([
    ['a user', aUser('john', { groups: ['dev'], uid: '1', extra: { 'acme.com/p': ['a'] } }), ['impersonate:user-info']],
    ['a user in the group of administrators', aUser('john', { groups: ['system:masters'] }), []],
    ['an attribute without a domain', aUser('john', { extra: { scopes: ['a'] } }), []],
    ['an attribute in capitals', aUser('john', { extra: { 'acme.com/P': ['a'] } }), []],
    ['an attribute whose domain is none', aUser('john', { extra: { 'acme_com/p': ['a'] } }), []],
    ['an attribute without values', aUser('john', { extra: { 'acme.com/p': [] } }), []],
    ['a service account', aUser('system:serviceaccount:n:a'), ['impersonate:serviceaccount']],
    ['a service account with groups', aUser('system:serviceaccount:n:a', { groups: ['dev'] }), []],
    ['a service account with a uid', aUser('system:serviceaccount:n:a', { uid: '1' }), []],
    ['a node', aUser('system:node:n1'), ['impersonate:arbitrary-node']],
    ['a node with groups', aUser('system:node:n1', { groups: ['system:nodes'] }), []],
    ['a node with attributes', aUser('system:node:n1', { extra: { 'acme.com/p': ['a'] } }), []],
    ['what is no name of a node', aUser('system:node:N_1'), ['impersonate:user-info']],
  ])('follow from the user: %s', (_name, asked, verbs) => {
    expect(verbsOf(asked)).toEqual(verbs)
  })

  test.each([
    ['a service account on the node', agent, ['impersonate:associated-node', 'impersonate:arbitrary-node']],
    ['one on another node', { ...agent, extra: { [nodeKey]: ['n2'] } }, ['impersonate:arbitrary-node']],
    ['one on two nodes', { ...agent, extra: { [nodeKey]: ['n1', 'n2'] } }, ['impersonate:arbitrary-node']],
    ['another user on the node', { ...agent, name: 'jane' }, ['impersonate:arbitrary-node']],
  ])('of a node follow from the caller: %s', (_name, caller, verbs) => {
    expect(verbsOf(aUser('system:node:n1'), caller)).toEqual(verbs)
  })

  test('for its own node a caller is the same on all nodes', () => {
    const [own] = waysOf(aUser('system:node:n1'), agent)
    expect(own?.user).toEqual(aUser('system:node:n1', { groups: ['system:nodes', 'system:authenticated'] }))
    expect(own?.caller.extra).toEqual({
      'authentication.kubernetes.io/associated-node-keys': [nodeKey, 'authentication.kubernetes.io/pod-name'],
    })
    expect(own?.accesses).toMatchObject([
      { verb: 'impersonate-on:associated-node:list', resource: 'pods', namespace: 'n' },
      { verb: 'impersonate:associated-node', group: 'authentication.k8s.io', resource: 'nodes', name: '*' },
    ])
  })
})
