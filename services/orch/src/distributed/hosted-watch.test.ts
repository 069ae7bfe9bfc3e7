import type { ApiObject } from '@orch/core/meta'
import { createMemoryStore } from '@orch/storage'
import { expect, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { apart, closing, gatewaysOver, world } from './replica-testing.ts'
import { openStorageReplica } from './storage.ts'

test('a storage hosts watch: a gateway that has its address for both sees each change once and in order', async () => {
  const hosting = { store: createMemoryStore(), changeStream: undefined, watchHistoryMs: 60_000, hostsWatch: true }
  const { address } = await closing(openStorageReplica({ ...apart, ...hosting }, world))
  const admission = { kind: 'in-process', settings: readAdmission(readStartSettings({})) } as const
  const { client } = await (await gatewaysOver({ storageAddresses: [address], watchAddresses: [address], admission }))()
  const configMap = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })
  const first = await client.objects.create(configMap('first'))
  const from = first.metadata.resourceVersion ?? ''
  const seen: string[] = []
  const ending = new AbortController()
  const watching = (async () => {
    const configMaps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const events = await configMaps.watch({ namespace: 'default', resourceVersion: from, signal: ending.signal })
    for await (const { type, object } of events) {
      seen.push(`${type} ${object.metadata.name}`)
      if (seen.length === 3) return
    }
  })()
  await client.objects.create(configMap('second'))
  await client.objects.create(configMap('third'))
  await client.objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'second', namespace: 'default' })
  await watching
  ending.abort()
  expect(seen).toEqual(['ADDED second', 'ADDED third', 'DELETED second'])
})
