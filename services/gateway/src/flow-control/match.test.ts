import type { User } from '@orch/core/contracts'
import { describe, expect, test } from 'vitest'
import { parseRequestInfo, type RequestInfo } from '../request/request-info.ts'
import type { FlowSchema } from './configuration.ts'
import { type FlowResourceRule, type FlowRule, type FlowSubject, inOrderOfPrecedence, schemaMatches } from './flow-control.ts'

const user: User = { name: 'system:serviceaccount:shop:till', uid: '', groups: ['dev'], extra: {} }
const everyone: FlowSubject = { kind: 'User', user: { name: '*' } }
const any: FlowResourceRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }

const get = (path: string): RequestInfo => parseRequestInfo({ method: 'GET', path, isWatch: false })

function aSchema(rule: Partial<FlowRule>, name = 's', matchingPrecedence = 1): FlowSchema {
  const rules = [{ subjects: [everyone], ...rule }]
  return { name, uid: 'u', spec: { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence, rules } }
}

const pods = '/api/v1/namespaces/shop/pods'

describe('a rule about resources', () => {
  test.each<[string, Partial<FlowResourceRule>, string, boolean]>([
    ['everything', {}, pods, true],
    ['another verb', { verbs: ['create'] }, pods, false],
    ['the verb', { verbs: ['create', 'list'] }, pods, true],
    ['another group', { apiGroups: ['apps'] }, pods, false],
    ['another resource', { resources: ['secrets'] }, pods, false],
    ['the resource, not its subresource', { resources: ['pods'] }, `${pods}/p/status`, false],
    ['the subresource', { resources: ['pods/status'] }, `${pods}/p/status`, true],
    ['another namespace', { namespaces: ['store'] }, pods, false],
    ['no namespace, with clusterScope', { namespaces: [] }, '/api/v1/nodes', true],
    ['no namespace, without clusterScope', { clusterScope: false }, '/api/v1/nodes', false],
    ['all namespaces at once, without clusterScope', { clusterScope: false }, '/api/v1/pods', false],
    ['a namespace, without clusterScope', { clusterScope: false }, pods, true],
    ['a path', {}, '/healthz', false],
  ])('LIM-11: matches as expected: %s', (_, rule, path, isMatch) => {
    expect(schemaMatches(aSchema({ resourceRules: [{ ...any, ...rule }] }), user, get(path))).toBe(isMatch)
  })
})

describe('a rule about paths', () => {
  test.each([
    ['*', '/healthz', true],
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', false],
    ['/healthz/*', '/healthz/etcd', true],
    ['/healthz/*', '/healthz', false],
    ['/healthz/*', '/healthzz', false],
    ['*', pods, false],
  ])('LIM-11: matches by path: %s and %s', (url, path, isMatch) => {
    const schema = aSchema({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }] })
    expect(schemaMatches(schema, user, get(path))).toBe(isMatch)
  })

  test('LIM-11: another verb does not match', () => {
    const schema = aSchema({ nonResourceRules: [{ verbs: ['post'], nonResourceURLs: ['*'] }] })
    expect(schemaMatches(schema, user, get('/healthz'))).toBe(false)
  })
})

describe('a subject', () => {
  test.each<[FlowSubject, boolean]>([
    [{ kind: 'User', user: { name: 'jane' } }, false],
    [{ kind: 'User', user: { name: user.name } }, true],
    [{ kind: 'Group', group: { name: 'dev' } }, true],
    [{ kind: 'Group', group: { name: 'ops' } }, false],
    [{ kind: 'Group', group: { name: '*' } }, true],
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'shop', name: 'till' } }, true],
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'shop', name: '*' } }, true],
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'shop', name: 'tills' } }, false],
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'store', name: 'till' } }, false],
    [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'store', name: '*' } }, false],
  ])('LIM-11: %j', (subject, isMatch) => {
    expect(schemaMatches(aSchema({ subjects: [subject], resourceRules: [any] }), user, get(pods))).toBe(isMatch)
  })
})

test('LIM-11: the lowest precedence is first, and the name decides between equals', () => {
  const schemas = [aSchema({}, 'c', 2), aSchema({}, 'b', 2), aSchema({}, 'd', 1)]
  expect(inOrderOfPrecedence(schemas).map(({ name }) => name)).toEqual(['d', 'b', 'c'])
})
