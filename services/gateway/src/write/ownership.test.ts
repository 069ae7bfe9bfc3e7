import { createCatalogue } from '@orch/core/catalogue'
import type { ApiObject, ManagedFieldsEntry } from '@orch/core/meta'
import { runAtOnce } from '@orch/core/steps'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { createServedResources, type Served, type Target } from '../target/target.ts'
import { type OwnershipParts, ownersAfter } from './ownership.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))
const time = '2026-05-03T02:01:00Z'
const ownParts: OwnershipParts = {
  names: catalogue.names,
  level: catalogue.level,
  clock: createFakeClock(Date.parse(time)),
  served: resources,
}

function servedOf(group: string, version: string, plural: string): Served {
  const served = resources.find(group, version, plural)
  if (served === undefined) throw new Error(`no resource ${plural}`)
  return served
}

/** A writer of the main part of an object, or of a subresource of it. */
function writer(served: Served, subresource?: string, fieldManager = 'writer', userAgent = 'tool/v1') {
  const target = { served, subresource: subresource === undefined ? undefined : served.subresource(subresource) } as unknown as Target
  const request = { exchange: { header: () => userAgent } }
  return { target, request, options: { fieldManager } } as never
}

const autoscalers = (version: string) => servedOf('autoscaling', version, 'horizontalpodautoscalers')
const owner = (apiVersion: string, fieldsV1: object, manager = 'other'): ManagedFieldsEntry =>
  ({ manager, operation: 'Update', apiVersion, time: '2026-01-01T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1 }) as ManagedFieldsEntry

/** An autoscaler in version 1, whose metrics are one number there and a list in version 2. */
function autoscaler(percentage: number, managedFields: ManagedFieldsEntry[]): ApiObject {
  const spec = {
    scaleTargetRef: { kind: 'Deployment', name: 'd' },
    minReplicas: 1,
    maxReplicas: 3,
    targetCPUUtilizationPercentage: percentage,
  }
  return { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata: { name: 'a', managedFields }, spec }
}

/** The owners of the fields after the percentage of an autoscaler has changed from 50 to 60 in version 1. */
function afterChange(entries: ManagedFieldsEntry[], parts: OwnershipParts = ownParts, served = autoscalers('v1')) {
  const states = { before: autoscaler(50, entries), after: autoscaler(60, entries) }
  const owners = runAtOnce(ownersAfter(writer(served), states, parts))
  return Object.fromEntries(owners.map(({ manager, fieldsV1 }) => [manager, fieldsV1]))
}

const changed = { 'f:spec': { 'f:targetCPUUtilizationPercentage': {} } }

test('SSA-66: a change in one version takes its fields from their owners in another version', () => {
  const ofBoth = { 'f:spec': { 'f:maxReplicas': {}, 'f:metrics': {} } }
  expect(afterChange([owner('autoscaling/v2', ofBoth)])).toEqual({
    writer: changed,
    other: { 'f:spec': { 'f:maxReplicas': {} } },
  })
  const inSame = { 'f:spec': { 'f:maxReplicas': {}, 'f:targetCPUUtilizationPercentage': {} } }
  expect(afterChange([owner('autoscaling/v1', inSame)])).toEqual({
    writer: changed,
    other: { 'f:spec': { 'f:maxReplicas': {} } },
  })
})

test.each(['autoscaling/v9', 'apps/v1', 'a/b/c'])(
  'SSA-66: what was owned in %s, in which the kind is not served, is forgotten',
  (apiVersion) => {
    const kept = owner('autoscaling/v1', { 'f:spec': { 'f:maxReplicas': {} } }, 'kept')
    expect(Object.keys(afterChange([owner(apiVersion, { 'f:spec': { 'f:maxReplicas': {} } }), kept])).sort()).toEqual(['kept', 'writer'])
  },
)

test('SSA-66: ownership in other versions is forgotten if the version of the writer is no longer served', () => {
  const find = (group: string, version: string, plural: string) => (version === 'v1' ? undefined : resources.find(group, version, plural))
  const entries = [owner('autoscaling/v2', { 'f:spec': { 'f:maxReplicas': {} } })]
  expect(afterChange(entries, { ...ownParts, served: { find } })).toEqual({ writer: changed })
})

test('SSA-66: a kind of the same name with another storage is no version of the kind', () => {
  const elsewhere = servedOf('apps', 'v1', 'deployments')
  const found = (group: string, version: string, plural: string) => (version === 'v2' ? elsewhere : resources.find(group, version, plural))
  const entries = [owner('autoscaling/v2', { 'f:spec': { 'f:maxReplicas': {} } })]
  expect(afterChange(entries, { ...ownParts, served: { find: found } })).toEqual({ writer: changed })
})

test('an owner’s version of a converted object comes from the webhook, and the present version is taken unchanged', () => {
  const asked: string[] = []
  const convertOwned: OwnershipParts['convertOwned'] = (object, to) => {
    asked.push(`${object.apiVersion} → ${to.resource.apiVersion}`)
    const { maxReplicas } = object['spec'] as { maxReplicas?: number }
    return { ...object, apiVersion: to.resource.apiVersion, spec: { maxReplicas, metrics: [object['spec']] } } as ApiObject
  }
  const first = autoscalers('v1')
  const converted = { ...first, converted: first }
  const entries = [owner('autoscaling/v2', { 'f:spec': { 'f:maxReplicas': {}, 'f:metrics': {} } })]
  expect(afterChange(entries, { ...ownParts, convertOwned }, converted)).toEqual({
    writer: changed,
    other: { 'f:spec': { 'f:maxReplicas': {} } },
  })
  expect(new Set(asked)).toEqual(new Set(['autoscaling/v1 → autoscaling/v2']))
})

test('SSA-66: a body for a subresource changes the owners only if it has the kind of the object or is a Scale', () => {
  const pods = servedOf('', 'v1', 'pods')
  const deployments = servedOf('apps', 'v1', 'deployments')
  const entries = [owner('v1', { 'f:spec': { 'f:nodeName': {} } })]
  const managersAfter = (served: Served, subresource: string | undefined, managedFields: ManagedFieldsEntry[] | undefined) => {
    const { apiVersion, kind } = served.resource
    const metadata = { name: 'a', ...(managedFields === undefined ? {} : { managedFields }) }
    const before = { apiVersion, kind, metadata, spec: { replicas: 1 }, status: {} }
    const after = { ...before, spec: { replicas: 2 }, status: { reason: 'r' } }
    const owners = runAtOnce(ownersAfter(writer(served, subresource), { before, after }, ownParts))
    return owners.map(({ manager, subresource: part = 'main', time: at }) => [manager, part, at])
  }
  const other = ['other', 'main', '2026-01-01T00:00:00Z']
  expect(managersAfter(pods, 'binding', entries)).toEqual([other])
  expect(managersAfter(pods, 'binding', undefined)).toEqual([])
  expect(managersAfter(pods, 'status', entries)).toEqual([other, ['writer', 'status', time]])
  const owned = [owner('apps/v1', { 'f:spec': { 'f:paused': {} } })]
  expect(managersAfter(deployments, undefined, owned)).toContainEqual(['writer', 'main', time])
  expect(managersAfter(deployments, 'scale', owned)).toContainEqual(['writer', 'scale', undefined])
})
