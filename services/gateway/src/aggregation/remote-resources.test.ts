import { describe, expect, test } from 'vitest'
import { resourcesInAggregated, resourcesInList } from './remote-discovery.ts'

const [group, version] = ['taste.example.com', 'v1']
const noKind = { group: '', version: '', kind: '' }
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
      { resource: 'odd', responseKind: noKind, scope: '', singularResource: '', verbs: [], categories: ['all'] },
    ])
  })

  test('has an empty kind if it has none, as clients before 1.26.4 expect one, and no group version of its own', () => {
    const subresources = [{ subresource: 'scale', responseKind: { kind: 'Scale' }, verbs: null }, { verbs: ['get'] }]
    expect(read({ resource: 'parents', verbs: null, subresources }, { ...whole, responseKind: { kind: '' }, subresources: {} })).toEqual([
      {
        resource: 'parents',
        responseKind: noKind,
        scope: '',
        singularResource: '',
        verbs: [],
        subresources: [{ subresource: 'scale', responseKind: { ...noKind, kind: 'Scale' }, verbs: [] }],
      },
      { ...whole, responseKind: noKind, subresources: undefined },
    ])
  })

  test('of a group version names the resources that only have subresources', () => {
    const entry = { namespaced: true, kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get'] }
    const resources = ['parents/scale', 'parents/status'].map((name) => ({ name, ...entry }))
    const shown = resourcesInList({ groupVersion: `${group}/${version}`, resources }, group, version)
    expect(shown).toMatchObject([
      {
        resource: 'parents',
        responseKind: noKind,
        scope: 'Namespaced',
        subresources: [{ subresource: 'scale' }, { subresource: 'status' }],
      },
    ])
    expect(shown?.[0]?.['subresources']).toMatchObject([{ responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } }, {}])
  })

  test('is empty if the group version is absent', () => {
    expect(resourcesInAggregated({ items: [{ metadata: { name: 'other' }, versions: [] }] }, group, version)).toBeUndefined()
    expect(resourcesInAggregated([], group, version)).toBeUndefined()
    expect(read()).toEqual([])
  })
})
