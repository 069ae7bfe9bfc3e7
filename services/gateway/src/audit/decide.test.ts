import type { User } from '@orch/core/contracts'
import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import { parseRequestInfo } from '../request/request-info.ts'
import { createDecider } from './decide.ts'
import { parseAuditPolicy } from './policy.ts'

const jane: User = { name: 'jane', uid: '', groups: ['dev'], extra: {} }

function levelOf(rules: readonly object[], path: string, method = 'GET'): string {
  const text = JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules })
  const reading = parseAuditPolicy(text, namesOf('orch'))
  if (reading.kind === 'refused') throw new Error(reading.problems.join('; '))
  return createDecider(reading.policy)(jane, parseRequestInfo({ method, path, isWatch: false })).level
}

const pods = '/api/v1/namespaces/a/pods'
const of = (...resources: string[]) => ({ resources: [{ group: '', resources }] })

const cases: [string, object, string, boolean][] = [
  ['no condition', {}, pods, true],
  ['a user', { users: ['jane'] }, pods, true],
  ['another user', { users: ['joe'] }, pods, false],
  ['a group', { userGroups: ['ops', 'dev'] }, pods, true],
  ['another verb', { verbs: ['create'] }, pods, false],
  ['a namespace', { namespaces: ['a'] }, pods, true],
  ['no namespace', { namespaces: [''] }, '/api/v1/nodes', true],
  ['a namespace, asked about a path', { namespaces: [''] }, '/version', false],
  ['a resource', of('pods'), pods, true],
  ['a resource, not its parts', of('pods'), `${pods}/x/log`, false],
  ['a part', of('pods/log'), `${pods}/x/log`, true],
  ['a resource with its parts', of('pods/*'), `${pods}/x/log`, true],
  ['a part of anything', of('*/log'), `${pods}/x/log`, true],
  ['everything of a group', of('*'), `${pods}/x/log`, true],
  ['a whole group', { resources: [{ group: '' }] }, pods, true],
  ['another group', { resources: [{ group: 'apps' }] }, pods, false],
  ['a name', { resources: [{ group: '', resources: ['pods'], resourceNames: ['x'] }] }, `${pods}/x`, true],
  ['another name', { resources: [{ group: '', resources: ['pods'], resourceNames: ['x'] }] }, `${pods}/y`, false],
  ['a path', { nonResourceURLs: ['/version'] }, '/version', true],
  ['all paths below', { nonResourceURLs: ['/openapi/*'] }, '/openapi/v2', true],
  ['all paths, asked about a resource', { nonResourceURLs: ['*'] }, pods, false],
]

test.each(cases)('AUDIT-08: a rule matches as expected: %s', (_, rule, path, isMatch) => {
  expect(levelOf([{ level: 'Request', ...rule }], path)).toBe(isMatch ? 'Request' : 'None')
})

test('AUDIT-08: the first rule that matches decides', () => {
  expect(levelOf([{ level: 'None', users: ['joe'] }, { level: 'Metadata' }, { level: 'RequestResponse' }], pods)).toBe('Metadata')
})
