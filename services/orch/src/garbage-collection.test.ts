import { setTimeout } from 'node:timers/promises'
import { createClient, type ResourceClient, type Transport } from '@orch/client'
import { garbageCollector } from '@orch/controllers'
import { type ApiObject, namesOf, StatusError } from '@orch/core'
import { silentLog, systemClock } from '@orch/platform'
import { aConfigMap, clusterStarter } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { start } from './start.ts'

const startCluster = clusterStarter({ embedded: start })
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }

function ownedBy({ metadata }: ApiObject, name: string): ApiObject {
  const object = aConfigMap({ name })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name ?? '', uid: metadata.uid ?? '' }
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }
}

function blocking(owner: ApiObject, name: string): ApiObject {
  const object = ownedBy(owner, name)
  const ownerReferences = object.metadata.ownerReferences?.map((reference) => ({ ...reference, blockOwnerDeletion: true }))
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** Resolves when the object is gone; the test's own time is the bound. */
async function gone(maps: ResourceClient, name: string): Promise<void> {
  for (;;) {
    const found = await maps.get(name, inDefault).catch((error: unknown) => {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    })
    if (found === undefined) return
  }
}

test('DEL-12: an owner that a restore brings back owns again', async () => {
  const server = await startCluster({ mode: 'embedded' })
  const maps = server.client.resource(configMaps)
  const owner = await maps.create(aConfigMap({ name: 'owner' }))
  await maps.create(ownedBy(owner, 'child'))
  const moment = server.snapshot()
  await maps.delete('owner', inDefault)
  await gone(maps, 'child')
  await server.restore(moment)
  // Collected after the restore: by then the collector has looked at everything that came back.
  await maps.create(ownedBy({ ...owner, metadata: { ...owner.metadata, uid: 'none' } }, 'stray'))
  await gone(maps, 'stray')
  expect((await maps.get('child', inDefault)).metadata.name).toBe('child')
  await maps.delete('owner', inDefault)
  await gone(maps, 'child')
})

test('FLAG-29: without the collector dependants stay, and a foreground deletion waits', async () => {
  const server = await startCluster({ mode: 'embedded', options: { controllers: ['*', '-garbage-collector'] } })
  const maps = server.client.resource(configMaps)
  const owner = await maps.create(aConfigMap({ name: 'owner' }))
  await maps.create(ownedBy(owner, 'child'))
  await maps.delete('owner', inDefault, { propagationPolicy: 'Foreground' })
  expect((await maps.get('owner', inDefault)).metadata.finalizers).toEqual(['foregroundDeletion'])
  expect((await maps.get('child', inDefault)).metadata.name).toBe('child')
})

/** Every other part of a watch comes late; other answers do not. */
function lateWatches({ send, close }: Transport): Transport {
  const delayed = async function* (body: AsyncIterable<Uint8Array>) {
    let isLate = false
    for await (const part of body) {
      isLate = !isLate
      if (isLate) await setTimeout(15)
      yield part
    }
  }
  return {
    close,
    async send(request) {
      const response = await send(request)
      return request.path.includes('watch=true') ? { ...response, body: delayed(response.body) } : response
    },
  }
}

test('DEL-12: cycles end, although the collector learns of changes later than it reads them', async () => {
  const server = await startCluster({ mode: 'embedded', options: { controllers: ['*', '-garbage-collector'] } })
  const ending = new AbortController()
  const running = garbageCollector.run({
    client: createClient(lateWatches(server.client.transport)),
    names: namesOf('orch'),
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    signal: ending.signal,
  })
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  const maps = server.client.resource(configMaps)
  for (let round = 0; round < 30; round++) {
    const first = await maps.create(aConfigMap({ name: `first-${round}` }))
    const second = await maps.create(blocking(first, `second-${round}`))
    const { ownerReferences } = blocking(second, '').metadata
    await maps.patch(`first-${round}`, { metadata: { ownerReferences } }, { ...inDefault, type: 'merge' })
    await maps.delete(`first-${round}`, inDefault, { propagationPolicy: 'Foreground' })
    await gone(maps, `first-${round}`)
    await gone(maps, `second-${round}`)
  }
  const { items } = await maps.list(inDefault)
  expect(items.filter(({ metadata }) => /^(first|second)-/.test(metadata.name ?? ''))).toEqual([])
})
