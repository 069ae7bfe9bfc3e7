import type { DiscoveredResource, Transport } from '@orch/client'
import { notFound } from '@orch/core/meta'
import { expect, test } from 'vitest'
import { bytesOf, configMaps, nodes, testContext } from '../controller-testing.ts'
import type { Node } from './graph.ts'
import { createReporter } from './misplaced-owner.ts'
import { Owners } from './owners.ts'

const deployments: DiscoveredResource = { ...configMaps, group: 'apps', plural: 'deployments', kind: 'Deployment' }
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' }

/** A reporter with a server whose lists have these uids, or fail. */
function aReporter(uids: readonly string[] | 'failing' = []) {
  const events: Record<string, unknown>[] = []
  const lists: string[] = []
  const send: Transport['send'] = async ({ method, path, body }) => {
    if (method === 'POST') events.push({ path, ...(JSON.parse(String(body)) as object) })
    else lists.push(path)
    if (uids === 'failing') return { status: 404, headers: {}, body: bytesOf(notFound({ group: '', resource: 'x' }, 'x').status) }
    const items = uids.map((uid) => ({ metadata: { name: 'owner', uid } }))
    return { status: 200, headers: {}, body: bytesOf({ kind: 'List', metadata: { resourceVersion: '1' }, items }) }
  }
  const context = testContext(send, { random: () => 0.5 })
  const owners = new Owners(context, [configMaps, nodes])
  return { report: createReporter(context, owners), owners, events, lists }
}

const aNode = (more: Partial<Node> = {}): Node => {
  return { uid: 'd', name: 'dependant', namespace: 'n', owners: [owner], phase: 'live', resource: configMaps, ...more }
}

test('DEL-12: the Event names the object, its owner and the namespace, and is created once for each pair', async () => {
  const { report, events } = aReporter(['u'])
  await report(aNode(), owner, 'absent')
  await report(aNode(), owner, 'absent')
  expect(events).toEqual([
    {
      path: expect.stringMatching(/^\/api\/v1\/namespaces\/n\/events/),
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'dependant.18867251ee01a120', namespace: 'n' },
      involvedObject: { kind: 'ConfigMap', apiVersion: 'v1', name: 'dependant', uid: 'd', namespace: 'n' },
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: 'ownerRef [v1/ConfigMap, name: owner, uid: u] does not exist in namespace "n"',
      source: { component: 'garbage-collector-controller' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
      reportingComponent: 'garbage-collector-controller',
      reportingInstance: '',
    },
  ])
  await report(aNode({ uid: 'e' }), owner, 'absent')
  await report(aNode(), { ...owner, uid: 'v' }, 'misplaced')
  expect(events).toHaveLength(3)
})

test('DEL-12: events about a cluster-scoped object are in the namespace default', async () => {
  const { report, events, lists } = aReporter()
  const node = aNode({ namespace: undefined, resource: { ...deployments, namespaced: false }, name: 'x'.repeat(300) })
  await report(node, owner, 'misplaced')
  expect(events).toMatchObject([
    {
      path: expect.stringMatching(/^\/api\/v1\/namespaces\/default\/events/),
      metadata: { name: `${'x'.repeat(236)}.18867251ee01a120`, namespace: 'default' },
      message: 'ownerRef [v1/ConfigMap, name: owner, uid: u] does not exist at cluster scope',
    },
  ])
  expect(events[0]?.['involvedObject']).toEqual({ kind: 'Deployment', apiVersion: 'apps/v1', name: 'x'.repeat(300), uid: 'd' })
  expect(lists).toEqual([])
})

test.each(['solid', 'waiting'] as const)('DEL-12: an owner that is %s causes no Event', async (standing) => {
  const { report, events, lists } = aReporter(['u'])
  await report(aNode(), owner, standing)
  expect([events, lists]).toEqual([[], []])
})

test('DEL-12: an absent owner is searched by name in all namespaces, once if it is in none', async () => {
  const { report, events, lists } = aReporter(['another'])
  await report(aNode(), owner, 'absent')
  await report(aNode({ uid: 'e' }), owner, 'absent')
  expect(events).toEqual([])
  expect(lists).toEqual([expect.stringMatching(/^\/api\/v1\/configmaps\?.*fieldSelector=metadata\.name(=|%3D)owner/)])
  await report(aNode(), { ...owner, name: 'other' }, 'absent')
  await report(aNode(), { ...owner, uid: 'v' }, 'absent')
  expect(lists).toHaveLength(3)
})

test('DEL-12: an owner that is known to be deleted, or is cluster-scoped, is not searched', async () => {
  const { report, owners, events, lists } = aReporter(['u'])
  owners.setGone('u', true)
  await report(aNode(), owner, 'absent')
  await report(aNode(), { ...owner, uid: 'v', kind: 'Node' }, 'absent')
  expect([events, lists]).toEqual([[], []])
})

test('DEL-12: a failed search for an owner is repeated, and an Event that cannot be written is no error', async () => {
  const { report, events, lists } = aReporter('failing')
  await report(aNode(), owner, 'absent')
  await report(aNode(), owner, 'absent')
  expect([events, lists.length]).toEqual([[], 2])
  await report(aNode(), owner, 'misplaced')
  expect(events).toHaveLength(1)
})

test('DEL-12: an owner in another namespace is found among objects with the same name', async () => {
  const { report, events } = aReporter(['another', 'u', 'a third'])
  await report(aNode(), owner, 'absent')
  expect(events).toHaveLength(1)
})

test('LIM-12: the cache of owners that are in no namespace is bounded', async () => {
  const { report, lists } = aReporter(['another'])
  const look = (index: number) => report(aNode(), { ...owner, uid: `u${index}` }, 'absent')
  for (let index = 0; index < 10_000; index++) await look(index)
  await look(0)
  expect(lists).toHaveLength(10_000)
  await look(10_000)
  await look(0)
  expect(lists).toHaveLength(10_002)
})

test('LIM-12: the cache of reported owners is bounded', async () => {
  const { report, events } = aReporter()
  for (let index = 0; index < 10_000; index++) await report(aNode({ uid: `d${index}` }), owner, 'misplaced')
  await report(aNode({ uid: 'd0' }), owner, 'misplaced')
  expect(events).toHaveLength(10_000)
  await report(aNode({ uid: 'more' }), owner, 'misplaced')
  await report(aNode({ uid: 'd0' }), owner, 'misplaced')
  expect(events).toHaveLength(10_002)
})
