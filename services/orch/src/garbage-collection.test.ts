import type { ResourceClient } from '@orch/client'
import type { ApiObject, StatusError } from '@orch/core/meta'
import { aConfigMap, clusterStarter } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { start } from './start/start.ts'

const startCluster = clusterStarter({ embedded: start })
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }

function ownedBy({ metadata }: ApiObject, name: string): ApiObject {
  const object = aConfigMap({ name })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name ?? '', uid: metadata.uid ?? '' }
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }
}

/** Resolves when the object is deleted. */
const gone = (collection: ResourceClient, name: string) =>
  expect.poll(() => collection.get(name, inDefault).catch(({ code }: StatusError) => code), { interval: 5 }).toBe(404)

test('DEL-12: an owner that a restore brings back owns again', async () => {
  const server = await startCluster({ mode: 'embedded' })
  const maps = server.client.resource(configMaps)
  const owner = await maps.create(aConfigMap({ name: 'owner' }))
  await maps.create(ownedBy(owner, 'child'))
  const moment = server.snapshot()
  await maps.delete('owner', inDefault)
  await gone(maps, 'child')
  await server.restore(moment)
  // Collected after the restore, so the collector has read all restored objects.
  await maps.create(ownedBy({ ...owner, metadata: { ...owner.metadata, uid: 'none' } }, 'stray'))
  await gone(maps, 'stray')
  expect((await maps.get('child', inDefault)).metadata.name).toBe('child')
  await maps.delete('owner', inDefault)
  await gone(maps, 'child')
})

test('FLAG-29: dependants stay without the collector, and a foreground deletion waits', async () => {
  const server = await startCluster({ mode: 'embedded', options: { controllers: ['*', '-garbage-collector'] } })
  const maps = server.client.resource(configMaps)
  const owner = await maps.create(aConfigMap({ name: 'owner' }))
  await maps.create(ownedBy(owner, 'child'))
  await maps.delete('owner', inDefault, { propagationPolicy: 'Foreground' })
  expect((await maps.get('owner', inDefault)).metadata.finalizers).toEqual(['foregroundDeletion'])
  expect((await maps.get('child', inDefault)).metadata.name).toBe('child')
})

test('a server whose first objects lack their owners settles after these are deleted', async () => {
  const base = await startCluster({ mode: 'embedded', options: { controllers: ['namespace'] } })
  const classes = { group: 'storage.orch.io', version: 'v1', plural: 'storageclasses', namespaced: false }
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Namespace', name: 'none', uid: 'none' }]
  const stray = { apiVersion: 'storage.orch.io/v1', kind: 'StorageClass', metadata: { name: 'stray', ownerReferences }, provisioner: 'a' }
  await base.client.objects.create(stray)
  const fork = await base.fork({ controllers: ['garbage-collector'] })
  onTestFinished(() => fork.stop())
  await fork.settled({ within: 60_000 })
  await expect(fork.client.resource(classes).get('stray')).rejects.toMatchObject({ code: 404 })
})
