import { describe, expect, test } from 'vitest'
import { resourcesInAggregated } from './remote-discovery.ts'

const [group, version] = ['taste.example.com', 'v1']
const read = (...resources: readonly unknown[]) =>
  resourcesInAggregated({ items: [{ metadata: { name: group }, versions: [{ version, resources }] }] }, group, version)

describe('AGG-27: a server’s resource list', () => {
  const whole = {
    resource: 'flavors',
    responseKind: { group, version, kind: 'Flavor' },
    scope: 'Namespaced',
    singularResource: 'flavor',
    verbs: ['get', 'list'],
    shortNames: ['fl'],
    categories: ['all'],
    subresources: [{ subresource: 'status', responseKind: { group, version, kind: 'Flavor' }, verbs: ['get'] }],
  }

  test('is passed on if it is valid', () => {
    expect(read(whole)).toEqual([whole])
  })

  test('loses members of another type, and entries without a name', () => {
    const odd = { resource: 'odd', scope: 7, verbs: 'all', shortNames: 'o', categories: [1, 'all'], responseKind: 'Odd', extra: true }
    expect(read(odd, { ...whole, resource: 7 }, null, 'text')).toEqual([
      { resource: 'odd', scope: 'Cluster', singularResource: '', verbs: [], categories: ['all'] },
    ])
  })

  test('uses the kind’s group version if the list has none, and omits kinds with only subresources', () => {
    const subresources = [{ subresource: 'scale', responseKind: { kind: 'Scale' }, verbs: null }, { verbs: ['get'] }]
    expect(read({ resource: 'parents', verbs: null, subresources }, { ...whole, responseKind: { kind: '' }, subresources: {} })).toEqual([
      {
        resource: 'parents',
        scope: 'Cluster',
        singularResource: '',
        verbs: [],
        subresources: [{ subresource: 'scale', responseKind: { group, version, kind: 'Scale' }, verbs: [] }],
      },
      { ...whole, responseKind: undefined, subresources: undefined },
    ])
  })

  test('is empty if the group version is absent', () => {
    expect(resourcesInAggregated({ items: [{ metadata: { name: 'other' }, versions: [] }] }, group, version)).toBeUndefined()
    expect(resourcesInAggregated([], group, version)).toBeUndefined()
    expect(read()).toEqual([])
  })
})
