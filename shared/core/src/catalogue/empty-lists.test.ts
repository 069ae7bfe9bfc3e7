import { expect, test } from 'vitest'
import { emptyListsRemover } from './empty-lists.ts'

test.each([
  ['a list of the object itself', 'rbac/v1.Role', { rules: [] }, { rules: null }],
  ['a list deep in other lists', 'core/v1.Pod', { spec: podOf([]) }, { spec: podOf(null) }],
  [
    'one of several lists',
    'discovery/v1.EndpointSlice',
    { endpoints: [{ addresses: ['a'] }], ports: [] },
    { endpoints: [{ addresses: ['a'] }], ports: null },
  ],
])('an empty list that the API prints is stored as null: %s', (_title, type, object, stored) => {
  expect(emptyListsRemover(type)?.(object)).toEqual(stored)
})

test.each([
  ['a list with items', 'rbac/v1.Role', { rules: [{ verbs: ['get'] }] }],
  ['a list that is left out where it is empty', 'core/v1.ServiceAccount', { secrets: [] }],
  ['a definition, which kube-apiserver stores as JSON', 'apiextensions/v1.CustomResourceDefinition', { status: { conditions: [] } }],
  ['an object of a type that is not built in', 'x.example.com/v1.W', { rules: [] }],
])('%s is returned unchanged', (_title, type, object) => {
  expect(emptyListsRemover(type)?.(object) ?? object).toBe(object)
})

test('a part that is in a printed object is not searched', () => {
  const spec = podOf([])
  const remove = emptyListsRemover('core/v1.Pod')
  expect(remove?.({ spec, status: {} }, { spec })).toEqual({ spec: podOf([]), status: {} })
  expect(remove?.({ spec: { ...spec } }, { spec })).toEqual({ spec: podOf([]) })
  expect(remove?.({ spec: podOf([]) }, { spec })).toEqual({ spec: podOf(null) })
})

function podOf(sources: unknown) {
  return { volumes: [{ name: 'a' }, { name: 'v', projected: { sources } }] }
}
