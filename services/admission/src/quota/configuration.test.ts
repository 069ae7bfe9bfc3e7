import { expect, test } from 'vitest'
import { readLimitedResources } from './configuration.ts'

const group = 'apiserver.config.orch.io'
const head = { apiVersion: `${group}/v1`, kind: 'ResourceQuotaConfiguration' }
const read = (value: unknown) => readLimitedResources({ value, file: 'f.yaml' }, group)

test('what may be used only under a quota', () => {
  expect(readLimitedResources(undefined, group)).toEqual([])
  const scope = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }
  expect(
    read({
      ...head,
      limitedResources: [
        { resource: 'pods', matchScopes: [scope] },
        { apiGroup: 'apps', resource: 'deployments', matchContains: ['count'] },
      ],
    }),
  ).toEqual([
    { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [scope] },
    { apiGroup: 'apps', resource: 'deployments', matchContains: ['count'], matchScopes: [] },
  ])
})

test.each([
  ['nothing', null, 'configuration: expected an object'],
  ['another version', { ...head, apiVersion: 'v1' }, 'apiVersion: expected apiserver.config.orch.io/v1'],
  ['another kind', { ...head, kind: 'Pod' }, 'kind: expected ResourceQuotaConfiguration'],
  ['a field that there is not', { ...head, x: 1 }, 'x: expected no such field'],
  ['no resource', { ...head, limitedResources: [{}] }, 'limitedResources[0].resource: expected the name of a resource'],
  [
    'no list',
    { ...head, limitedResources: [{ resource: 'pods', matchContains: 'x' }] },
    'limitedResources[0].matchContains: expected a list',
  ],
])('%s is refused', (_, value, message) => {
  expect(() => read(value)).toThrow(message)
})
