import { expect, test } from 'vitest'
import { readLimitedResources } from './configuration.ts'

const group = 'apiserver.config.orch.io'
const head = { apiVersion: `${group}/v1`, kind: 'ResourceQuotaConfiguration' }
const read = (value: unknown) => readLimitedResources({ value, file: 'f.yaml' }, group)

test('the configuration limits resources to namespaces with a quota', () => {
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

test.each(['v1beta1', 'v1alpha1'])('the older version %s is accepted as well', (version) => {
  const older = {
    apiVersion: `resourcequota.admission.orch.io/${version}`,
    kind: 'Configuration',
    limitedResources: [{ resource: 'pods' }],
  }
  expect(read(older)).toMatchObject([{ resource: 'pods' }])
})

test.each([
  ['nothing', null, 'expected ResourceQuotaConfiguration of apiserver.config.orch.io/v1 or Configuration of resourcequota'],
  ['another version', { ...head, apiVersion: 'v1' }, 'got ResourceQuotaConfiguration of v1'],
  ['another kind', { ...head, kind: 'Configuration' }, 'got Configuration of apiserver.config.orch.io/v1'],
  [
    'a field of an unknown resource',
    { ...head, limitedResources: [{ resource: 'pods', scope: 1 }] },
    'limitedResources[0].scope: expected no such field',
  ],
  ['an unknown field', { ...head, x: 1 }, 'x: expected no such field'],
  ['no resource', { ...head, limitedResources: [{}] }, 'limitedResources[0].resource: expected the name of a resource'],
  [
    'no list',
    { ...head, limitedResources: [{ resource: 'pods', matchContains: 'x' }] },
    'limitedResources[0].matchContains: expected a list',
  ],
  ['resources that are no list', { ...head, limitedResources: {} }, 'f.yaml: ResourceQuota: limitedResources: expected a list'],
  ['a resource that is no object', { ...head, limitedResources: [{ resource: 'pods' }, []] }, 'limitedResources[1]: expected an object'],
  ['a resource that is null', { ...head, limitedResources: [null] }, 'limitedResources[0]: expected an object'],
  ['a resource that is a text', { ...head, limitedResources: ['pods'] }, 'limitedResources[0]: expected an object'],
  ['an empty resource', { ...head, limitedResources: [{ resource: '' }] }, 'limitedResources[0].resource: expected the name of a resource'],
  [
    'a number as a resource',
    { ...head, limitedResources: [{ resource: 3 }] },
    'limitedResources[0].resource: expected the name of a resource',
  ],
  [
    'a number as a group',
    { ...head, limitedResources: [{ resource: 'pods', apiGroup: 3 }] },
    'limitedResources[0].apiGroup: expected a text',
  ],
  [
    'a number as a word',
    { ...head, limitedResources: [{ resource: 'pods', matchContains: ['x', 3] }] },
    'limitedResources[0].matchContains: expected a list of texts',
  ],
  [
    'scopes that are no list',
    { ...head, limitedResources: [{ resource: 'pods', matchScopes: 3 }] },
    'limitedResources[0].matchScopes: expected a list',
  ],
  ['a scope that is no object', { ...head, limitedResources: [{ resource: 'pods', matchScopes: [3] }] }, 'matchScopes: expected an object'],
  [
    'a scope without an operator',
    { ...head, limitedResources: [{ resource: 'pods', matchScopes: [{ scopeName: 'BestEffort' }] }] },
    'limitedResources[0].matchScopes: expected scopeName and operator',
  ],
  [
    'a scope without a name',
    { ...head, limitedResources: [{ resource: 'pods', matchScopes: [{ operator: 'Exists' }] }] },
    'limitedResources[0].matchScopes: expected scopeName and operator',
  ],
  [
    'values of a scope that are no list',
    { ...head, limitedResources: [{ resource: 'pods', matchScopes: [{ scopeName: 'x', operator: 'In', values: 'y' }] }] },
    'limitedResources[0].matchScopes: expected a list',
  ],
])('%s is refused', (_, value, message) => {
  expect(() => read(value)).toThrow(message)
})

test('absent and null lists are empty', () => {
  for (const limitedResources of [undefined, null, []]) expect(read({ ...head, limitedResources })).toEqual([])
  const matchScopes = [{ scopeName: 'BestEffort', operator: 'Exists' }]
  expect(read({ ...head, limitedResources: [{ resource: 'pods', matchContains: null, matchScopes }] })).toEqual([
    { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [{ ...matchScopes[0], values: [] }] },
  ])
})
