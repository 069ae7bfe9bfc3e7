import { createClient, type DiscoveredResource } from '@orch/client'
import { namesOf, notFound } from '@orch/core'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { collect } from './collect.ts'
import { Graph } from './graph.ts'
import { type Metadata, observe } from './observed.ts'
import { Owners } from './owners.ts'

const configMaps: DiscoveredResource = { group: '', version: 'v1', plural: 'configmaps', namespaced: true, kind: 'ConfigMap', verbs: [] }
const nodes: DiscoveredResource = { ...configMaps, plural: 'nodes', namespaced: false, kind: 'Node' }

const goingInForeground = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] }
const ownedBy = (...owners: Metadata[]) => ({
  ownerReferences: owners.map(({ uid, name, namespace }) => {
    return { apiVersion: 'v1', kind: namespace === undefined ? 'Node' : 'ConfigMap', name, uid, blockOwnerDeletion: true }
  }),
})

async function* bytesOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(JSON.stringify(value))
}

const resourceOf = ({ namespace }: Metadata) => (namespace === undefined ? nodes : configMaps)
const pathOf = ({ namespace, name }: Metadata) =>
  namespace === undefined ? `/api/v1/nodes/${name}` : `/api/v1/namespaces/${namespace}/configmaps/${name}`

/** What one look at an object asks for and changes, where these objects are all that there is, and all are known. */
async function lookAt(uid: string, objects: readonly Metadata[]): Promise<{ changes: unknown[]; asked: string[] }> {
  const asked: string[] = []
  const changes: unknown[] = []
  const client = createClient({
    async send({ method, path, body }) {
      if (method === 'GET') asked.push(path)
      else changes.push({ method, path, ...(JSON.parse(String(body)) as object) })
      const metadata = objects.find((object) => pathOf(object) === path)
      const answer = metadata === undefined ? notFound({ group: '', resource: 'configmaps' }, path).status : { metadata }
      return { status: metadata === undefined ? 404 : 200, headers: {}, body: bytesOf(answer) }
    },
    close() {},
  })
  const { signal } = new AbortController()
  const context = { client, names: namesOf('orch'), clock: createFakeClock(), random: () => 0, log: silentLog, signal }
  const graph = new Graph()
  for (const object of objects) graph.put({ ...observe(object), resource: resourceOf(object) })
  const owners = new Owners(context, [configMaps, nodes])
  await collect(uid, { context, graph, owners, report: async () => {}, dropped: () => {} })
  return { changes, asked }
}

const aDependant = (namespace: string, ...owners: Metadata[]): Metadata => {
  return { uid: 'd', name: 'd', namespace, resourceVersion: '7', ...ownedBy(...owners) }
}
/** What the dependant owns itself. */
const belowOf = (dependant: Metadata): Metadata => ({
  uid: 'b',
  name: 'b',
  namespace: dependant.namespace as string,
  ...ownedBy(dependant),
})

const deletion = (namespace: string, propagationPolicy: string) => ({
  method: 'DELETE',
  path: `/api/v1/namespaces/${namespace}/configmaps/d`,
  propagationPolicy,
  preconditions: { uid: 'd', resourceVersion: '7' },
})

test('DEL-12: an owner that is deleted in the foreground waits for dependants of its own namespace, and is not asked for', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', namespace: 'n', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect(await lookAt('d', [owner, dependant, belowOf(dependant)])).toEqual({
    changes: [deletion('n', 'Foreground')],
    asked: [pathOf(dependant)],
  })
})

test('DEL-12: an owner of the whole cluster that is deleted in the foreground waits for dependants of any namespace, and is not asked for', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect(await lookAt('d', [owner, dependant, belowOf(dependant)])).toEqual({
    changes: [deletion('n', 'Foreground')],
    asked: [pathOf(dependant)],
  })
})

test('DEL-12: an owner that is deleted in the foreground in another namespace is absent', async () => {
  const owner: Metadata = { uid: 'o', name: 'o', namespace: 'other', ...goingInForeground }
  const dependant = aDependant('n', owner)
  expect((await lookAt('d', [owner, dependant, belowOf(dependant)])).changes).toEqual([deletion('n', 'Background')])
})

test('DEL-12: beside an owner that is there, one that waits in its namespace or is in another is no longer named', async () => {
  const solid: Metadata = { uid: 's', name: 's', namespace: 'n' }
  for (const namespace of ['n', 'other']) {
    const owner: Metadata = { uid: 'o', name: 'o', namespace, ...goingInForeground }
    const { ownerReferences } = ownedBy(solid)
    const { changes } = await lookAt('d', [owner, solid, aDependant('n', solid, owner)])
    expect(changes).toMatchObject([{ method: 'PATCH', metadata: { ownerReferences } }])
  }
})
