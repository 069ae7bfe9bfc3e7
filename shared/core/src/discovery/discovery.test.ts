import { expect, test } from 'vitest'
import { createCatalogue } from '../catalogue/catalogue.ts'
import { decodeProtobuf, parseEnvelope, printAggregatedProtobuf } from '../protobuf/index.ts'
import { aggregatedDocument, aggregatedMediaType } from './aggregated.ts'
import { apiGroupDocument, apiGroupListDocument, apiResourceListDocument, apiVersionsDocument } from './legacy.ts'

const catalogue = createCatalogue('orch')
const listOf = (group: string, version: string) =>
  apiResourceListDocument(
    group === '' ? version : `${group}/${version}`,
    catalogue.inGroupVersion(group, version),
    (type) => `hash of ${type}`,
  )

test('ADDR-17: the core group lists its versions', () => {
  expect(apiVersionsDocument('127.0.0.1:6443')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  })
})

test('ADDR-17: the groups are in order, without the core group', () => {
  const { kind, apiVersion, groups } = apiGroupListDocument(catalogue.groups)
  expect([kind, apiVersion]).toEqual(['APIGroupList', 'v1'])
  expect(groups.slice(0, 3).map(({ name }) => name)).toEqual(['apiregistration.orch.io', 'apps', 'events.orch.io'])
  expect(groups.map(({ name }) => name)).not.toContain('')
})

test('ADDR-17: a group has its preferred version', () => {
  const group = catalogue.groups.find(({ name }) => name === 'autoscaling')
  expect(group && apiGroupDocument(group)).toMatchObject({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'autoscaling',
    preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
  })
})

test('ADDR-17: the resources of a group version are sorted by name, each followed by its subresources', () => {
  const { resources } = listOf('', 'v1')
  const names = resources.map(({ name }) => name)
  expect(names).toEqual([...names].sort())
  expect(names.slice(names.indexOf('pods'), names.indexOf('pods') + 3)).toEqual(['pods', 'pods/attach', 'pods/binding'])
})

test('ADDR-17: an entry has its documented members', () => {
  expect(listOf('apps', 'v1').resources.find(({ name }) => name === 'deployments')).toEqual({
    name: 'deployments',
    singularName: '',
    namespaced: true,
    kind: 'Deployment',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['deploy'],
    categories: ['all'],
    storageVersionHash: 'hash of apps/v1/Deployment',
  })
})

test('ADDR-09: a subresource with a kind of another group names that group', () => {
  const entry = (name: string) => listOf('', 'v1').resources.find((resource) => resource.name === name)
  expect(entry('pods/eviction')).toMatchObject({ group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] })
  expect(entry('serviceaccounts/token')).toMatchObject({ group: 'authentication.orch.io', version: 'v1', kind: 'TokenRequest' })
  expect(entry('pods/status')).not.toHaveProperty('group')
})

test('ADDR-17: aggregated discovery has all groups in one document', () => {
  const document = aggregatedDocument(catalogue, catalogue.groups, (group, version) => catalogue.inGroupVersion(group, version))
  expect(document).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.orch.io/v2' })
  const storage = document.items.find(({ metadata }) => metadata.name === 'storage.orch.io')
  expect(storage?.versions.map(({ version }) => version)).toEqual(['v1', 'v1beta1'])
  expect(storage?.versions[0]?.resources?.find(({ resource }) => resource === 'volumeattachments')).toMatchObject({
    responseKind: { group: '', version: '', kind: 'VolumeAttachment' },
    scope: 'Cluster',
    singularResource: 'volumeattachment',
    subresources: [{ subresource: 'status', verbs: ['get', 'patch', 'update'] }],
  })
})

test('MACH-DISC-01: aggregated discovery in Protobuf equals that in JSON', () => {
  const document = aggregatedDocument(catalogue, catalogue.groups, (group, version) => catalogue.inGroupVersion(group, version))
  const reading = parseEnvelope(printAggregatedProtobuf(document), catalogue.names)
  if (reading.kind !== 'envelope') throw new Error(reading.message)
  const { kind, apiVersion, raw } = reading.envelope
  expect([kind, apiVersion]).toEqual(['APIGroupDiscoveryList', 'apidiscovery.orch.io/v2'])
  const decoded = decodeProtobuf('apidiscovery/v2.APIGroupDiscoveryList', raw)
  if (decoded.kind !== 'decoded') throw new Error(decoded.message)
  expect(decoded.object).toMatchObject({ items: JSON.parse(JSON.stringify(document.items)) })
})

test('ADDR-17: the media type of the answer repeats the requested one', () => {
  expect(aggregatedMediaType(catalogue.names, 'application/json')).toBe(
    'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList',
  )
})
