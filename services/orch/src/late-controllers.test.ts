import { setTimeout } from 'node:timers/promises'
import { type Client, createClient, type ResourceAddress, type ResourceClient, type Transport } from '@orch/client'
import { type Controller, garbageCollector, secretTokenController } from '@orch/controllers'
import type { ApiObject, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { generateSigningKey, parseSigningKey, silentLog, systemClock } from '@orch/platform'
import { aConfigMap, aNamespace, clusterStarter, someQueueMetrics } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { RunningServer } from './start/running-server.ts'
import { start } from './start/start.ts'

const startCluster = clusterStarter({ embedded: start })
const configMaps: ResourceAddress = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const secrets: ResourceAddress = { ...configMaps, plural: 'secrets' }
const serviceAccounts: ResourceAddress = { ...configMaps, plural: 'serviceaccounts' }
const inDefault = { namespace: 'default' }

/** A transport whose watches wait before each part of an answer; other answers are immediate. */
function delayingWatches({ send, close }: Transport, wait: (path: string) => Promise<unknown> | undefined): Transport {
  const delayed = async function* (path: string, body: AsyncIterable<Uint8Array>) {
    for await (const part of body) {
      await wait(path)
      yield part
    }
  }
  return {
    close,
    async send(request) {
      const response = await send(request)
      return request.path.includes('watch=true') ? { ...response, body: delayed(request.path, response.body) } : response
    },
  }
}

/** Watches of one resource that send nothing while they are held. */
function holdingWatches(transport: Transport, { plural }: ResourceAddress) {
  let released: PromiseWithResolvers<void> | undefined
  return {
    transport: delayingWatches(transport, (path) => (path.includes(`/${plural}?`) ? released?.promise : undefined)),
    hold() {
      released = Promise.withResolvers()
    },
    release() {
      released?.resolve()
    },
  }
}

/** A server, and one controller that runs outside it. */
async function aServerWithout({ name }: Pick<Controller, 'name'>) {
  const server = await startCluster({ mode: 'embedded', options: { controllers: ['*', `-${name}`] } })
  const run = (controller: Controller, client: Client) => {
    const ending = new AbortController()
    const context = {
      client,
      names: namesOf('orch'),
      clock: systemClock,
      random: Math.random,
      log: silentLog,
      queues: someQueueMetrics(),
      signal: ending.signal,
    }
    const running = controller.run(context)
    onTestFinished(async () => {
      ending.abort()
      await running
    })
  }
  return { transport: server.client.transport, maps: server.client.resource(configMaps), server, run }
}

function ownedBy({ metadata }: ApiObject, object: ApiObject, fields: { blockOwnerDeletion?: boolean } = {}): ApiObject {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name ?? '', uid: metadata.uid ?? '', ...fields }
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }
}

/** Resolves when the object is deleted. */
const gone = (collection: ResourceClient, name: string) =>
  expect.poll(() => collection.get(name, inDefault).catch(({ code }: StatusError) => code), { interval: 5 }).toBe(404)

test('DEL-12: cycles are collected, even if events of the collector are late', async () => {
  const { transport, maps, run } = await aServerWithout(garbageCollector)
  let parts = 0
  run(garbageCollector, createClient(delayingWatches(transport, () => (++parts % 2 === 0 ? setTimeout(15) : undefined))))
  const blocks = { blockOwnerDeletion: true }
  for (let round = 0; round < 12; round++) {
    const first = await maps.create(aConfigMap({ name: `first-${round}` }))
    const second = await maps.create(ownedBy(first, aConfigMap({ name: `second-${round}` }), blocks))
    const { ownerReferences } = ownedBy(second, first, blocks).metadata
    await maps.patch(`first-${round}`, { metadata: { ownerReferences } }, { ...inDefault, type: 'merge' })
    await maps.delete(`first-${round}`, inDefault, { propagationPolicy: 'Foreground' })
    await gone(maps, `first-${round}`)
    await gone(maps, `second-${round}`)
  }
  const { items } = await maps.list(inDefault)
  expect(items.filter(({ metadata }) => /^(first|second)-/.test(metadata.name ?? ''))).toEqual([])
})

test('DEL-12: an orphaned dependant stays, even if its event reaches the collector after the owner’s deletion', async () => {
  const { transport, maps, server, run } = await aServerWithout(garbageCollector)
  const held = holdingWatches(transport, secrets)
  run(garbageCollector, createClient(held.transport))
  // Collected after the collector has seen all objects.
  await maps.create(ownedBy(aConfigMap({ name: 'none', uid: 'none' }), aConfigMap({ name: 'stray' })))
  await gone(maps, 'stray')
  held.hold()
  const owner = await maps.create(aConfigMap({ name: 'owner' }))
  const collection = server.client.resource(secrets)
  await collection.create(ownedBy(owner, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kept', namespace: 'default' } }))
  await maps.delete('owner', inDefault, { propagationPolicy: 'Orphan' })
  await gone(maps, 'owner')
  held.release()
  await expect.poll(async () => (await collection.get('kept', inDefault)).metadata.ownerReferences).toBeUndefined()
})

test('AUTHN-SA-14: the Secret of a new account stays, even if its event arrives before the account’s event', async () => {
  const options = { signingKey: parseSigningKey(generateSigningKey()), certificateAuthority: 'authority' }
  const controller = secretTokenController(options, { isGateOn: () => false })
  const { transport, server, run } = await aServerWithout(controller)
  const held = holdingWatches(transport, serviceAccounts)
  run(controller, createClient(held.transport))
  const accounts = server.client.resource(serviceAccounts)
  const collection = server.client.resource(secrets)
  const robot = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
  const makeSecret = (name: string, annotations: Record<string, string> = {}) => {
    const metadata = { name, namespace: 'default', annotations: { 'orch.io/service-account.name': 'robot', ...annotations } }
    return collection.create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'orch.io/service-account-token' })
  }
  const filled = async (name: string) => {
    const { metadata, data = {} } = (await collection.get(name, inDefault)) as ApiObject & { data?: object }
    return { uid: metadata.annotations?.['orch.io/service-account.uid'], fields: Object.keys(data).sort() }
  }
  const fields = ['ca.crt', 'namespace', 'token']
  const first = await accounts.create(robot)
  await makeSecret('early')
  await expect.poll(() => filled('early')).toEqual({ uid: first.metadata.uid, fields })
  held.hold()
  await accounts.delete('robot', inDefault)
  const second = await accounts.create(robot)
  await makeSecret('named')
  await makeSecret('exact', { 'orch.io/service-account.uid': second.metadata.uid ?? '' })
  await expect.poll(() => filled('named')).toEqual({ uid: second.metadata.uid, fields })
  await expect.poll(() => filled('exact')).toEqual({ uid: second.metadata.uid, fields })
  held.release()
  await gone(collection, 'early')
  expect([await filled('named'), await filled('exact')]).toEqual(Array(2).fill({ uid: second.metadata.uid, fields }))
})

/** The controllers with requests to a server, as the last parts of their user names. */
const activeIn = (server: RunningServer) =>
  new Set(server.requests().flatMap(({ user }) => (user.startsWith('system:') ? [user.slice(user.lastIndexOf(':') + 1)] : [])))

test('controllers start with their first work: those of new objects, of new owners, and of objects after a reset', async () => {
  // Servers with a seed are not forks of a server at rest.
  const server = await startCluster({ mode: 'embedded', options: { seed: 1 } })
  const names = ['namespace-controller', 'resourcequota-controller', 'generic-garbage-collector']
  const active = () => names.filter((name) => activeIn(server).has(name))
  await server.settled({ within: 60_000 })
  expect(active()).toEqual(['namespace-controller'])
  await server.reset()
  const maps = server.client.resource(configMaps)
  await maps.create(aConfigMap({ name: 'plain' }))
  await server.settled({ within: 60_000 })
  expect(active()).toEqual(['namespace-controller'])
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', ...inDefault }, spec: { hard: { pods: '1' } } }
  await server.client.objects.create(quota)
  await server.settled({ within: 60_000 })
  expect(active()).toEqual(['namespace-controller', 'resourcequota-controller'])
  await maps.create(ownedBy(aConfigMap({ name: 'none', uid: 'none' }), aConfigMap({ name: 'stray' })))
  await gone(maps, 'stray')
  expect(active()).toEqual(names)
})

test('no controller writes to a new server, and controllers of a later start wait for changes of what they watch', async () => {
  const controllers = ['*', 'workloads', 'nodes', '-serviceaccount', '-root-ca-cert-publisher']
  const server = await startCluster({ mode: 'embedded', options: { seed: 1, controllers } })
  const { revision } = server.snapshot()
  await server.settled({ within: 60_000 })
  expect([activeIn(server).size > 5, server.snapshot().revision]).toEqual([true, revision])
  await startCluster({ mode: 'embedded', options: {} })
  const last = await startCluster({ mode: 'embedded', options: {} })
  await last.client.resource(configMaps).create(aConfigMap({ name: 'plain' }))
  await last.settled({ within: 60_000 })
  expect(activeIn(last)).toEqual(new Set())
  await last.client.objects.create(aNamespace({ name: 'a' }))
  await last.settled({ within: 60_000 })
  expect([...activeIn(last)]).toContain('namespace-controller')
})
