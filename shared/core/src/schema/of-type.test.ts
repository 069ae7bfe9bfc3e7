import { expect, test } from 'vitest'
import { isKindOfType, isOfType, parseStored } from './of-type.ts'

test.each([
  ['a kind of the core group', 'core/v1.Pod', { kind: 'Pod', apiVersion: 'v1' }, true],
  ['a kind of a group without a domain', 'apps/v1.Deployment', { kind: 'Deployment', apiVersion: 'apps/v1' }, true],
  ['a kind of a group in any domain', 'rbac/v1.Role', { kind: 'Role', apiVersion: 'rbac.authorization.example.com/v1' }, true],
  ['another kind', 'core/v1.Pod', { kind: 'Node', apiVersion: 'v1' }, false],
  ['the kind in another version', 'core/v1.Pod', { kind: 'Pod', apiVersion: 'v2' }, false],
  ['the kind in another group', 'core/v1.Pod', { kind: 'Pod', apiVersion: 'apps/v1' }, false],
  ['the kind in a group of another word', 'apps/v1.Deployment', { kind: 'Deployment', apiVersion: 'apps.example.com/v1' }, false],
  ['an object without a kind', 'core/v1.Pod', { apiVersion: 'v1' }, false],
  ['an object without a version', 'core/v1.Pod', { kind: 'Pod' }, false],
  ['no object', 'core/v1.Pod', null, false],
] as const)('%s: it is of type %s', (_title, type, object, expected) => {
  expect(isOfType(type, object)).toBe(expected)
})

test('a kind belongs to a type by group, version and name', () => {
  expect(isKindOfType('core/v1.Pod', { group: '', version: 'v1', kind: 'Pod' })).toBe(true)
  expect(
    isKindOfType('certificates/v1.CertificateSigningRequest', { group: 'certificatesx', version: 'v1', kind: 'CertificateSigningRequest' }),
  ).toBe(false)
})

test('a stored object is decoded as its type, and as no other type', () => {
  const stored = new TextEncoder().encode('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}')
  expect(parseStored('core/v1.Pod', stored).spec.containers?.[0]?.name).toBe('c')
  expect(() => parseStored('core/v1.Node', stored)).toThrow('a stored object is not of type core/v1.Node')
})
