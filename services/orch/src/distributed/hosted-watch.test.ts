import { createClient, createHttpsTransport } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { certificateMemory, readCertificates, silentLog, systemChance, systemClock } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { everythingServed } from '../api/settings.ts'
import { keepSigningKey } from '../authentication/open.ts'
import { readGateway } from '../gateway/settings.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { openGatewayReplica } from './gateway.ts'
import type { Replica } from './replica.ts'
import { openStorageReplica } from './storage.ts'

const world = { clock: systemClock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }
const apart = { trust: { tls: undefined, insecureTransport: false }, hasProcessMetrics: false, listen: '127.0.0.1:0' }

async function closing<R extends Replica>(opened: Promise<R>): Promise<R> {
  const replica = await opened
  onTestFinished(() => replica.stop())
  return replica
}

test('a storage hosts watch: a gateway that has its address for both sees each change once and in order', async () => {
  const hosting = { store: createMemoryStore(), changeStream: undefined, watchHistoryMs: 60_000, hostsWatch: true }
  const { address } = await closing(openStorageReplica({ ...apart, ...hosting }, world))
  const files = certificateMemory()
  const ownSigningKey = keepSigningKey(files)
  const { serving: pair, authority, admin } = await readCertificates({ files, product: 'a', names: ['127.0.0.1'], clock: systemClock })
  const settings = readStartSettings({})
  const options = { ...apart, ...readGateway(settings), storageAddresses: [address], watchAddresses: [address] }
  const own = { pair, ownSigningKey, ownClients: authority, advertiseAddress: '' }
  const admission = { kind: 'in-process', settings: readAdmission(settings) } as const
  const gateway = await closing(openGatewayReplica({ ...options, ...own, admission }, world))
  await gateway.ready
  const client = createClient(
    createHttpsTransport({
      server: gateway.address,
      certificateAuthority: authority,
      clientCertificate: admin.certificate,
      clientKey: admin.key,
    }),
  )
  onTestFinished(() => client.close())
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
