import { createClient, createHttpsTransport } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { certificateMemory, readCertificates, readSettings, silentLog, systemChance, systemClock } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { everythingServed } from '../api/settings.ts'
import { keepSigningKey } from '../authentication/open.ts'
import { readGateway } from '../gateway/settings.ts'
import { flagsElsewhere } from '../settings/elsewhere.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { openGatewayReplica, readAdmissionPlace } from './gateway.ts'
import type { Replica } from './replica.ts'
import { gatewayCommandSettings } from './settings.ts'
import { openStorageReplica } from './storage.ts'
import { openWatchReplica } from './watch.ts'

const world = { clock: systemClock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }
const apart = { trust: { tls: undefined, insecureTransport: false }, hasProcessMetrics: false, listen: '127.0.0.1:0' }

async function closing<R extends Replica>(opened: Promise<R>): Promise<R> {
  const replica = await opened
  onTestFinished(() => replica.stop())
  return replica
}

/** Two gateways that host admission, with storage and watch as separate services. */
async function gateways() {
  const store = createMemoryStore()
  const storage = await closing(openStorageReplica({ ...apart, store, changeStream: undefined, watchHistoryMs: 60_000 }, world))
  const storageAddresses = [storage.address]
  const watch = await closing(openWatchReplica({ ...apart, storageAddresses, changeStream: undefined }, world))
  const files = certificateMemory()
  const ownSigningKey = keepSigningKey(files)
  const { serving: pair, authority, admin } = await readCertificates({ files, product: 'a', names: ['127.0.0.1'], clock: systemClock })
  const settings = readStartSettings({ flags: ['--disable-admission-plugins=ServiceAccount'] })
  const one = async () => {
    const options = { ...apart, ...readGateway(settings), storageAddresses, watchAddresses: [watch.address] }
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
    return client
  }
  return [await one(), await one()] as const
}

const pod = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})

test('a gateway hosts admission: plugins see the writes of another gateway', async () => {
  const [one, other] = await gateways()
  const created = await one.objects.create(pod('p'))
  expect(created).toMatchObject({ spec: { priority: 0 } })
  await one.objects.create({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'l', namespace: 'default' },
    spec: { limits: [{ type: 'Container', max: { memory: '1Gi' } }] },
  })
  const greedy = { ...pod('greedy'), spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { memory: '2Gi' } } }] } }
  await expect(other.objects.create(greedy)).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('maximum memory usage per Container is 1Gi, but limit is 2Gi'),
  })
})

const noTrust = { tls: undefined, insecureTransport: false }

test.each([
  [['--admission=in-process', '--admission-address=127.0.0.1:1'], '--admission-address and --admission=in-process exclude each other'],
  [['--admission-address=127.0.0.1:1', '--disable-admission-plugins=Priority'], '--disable-admission-plugins needs --admission=in-process'],
  [[], '--admission-address is needed'],
])('flags of a gateway that do not go together are refused: %j', (flags, reason) => {
  const { values, texts } = readSettings(gatewayCommandSettings, { flags, env: {}, elsewhere: flagsElsewhere })
  expect(() => readAdmissionPlace(values, texts, noTrust)).toThrow(reason)
})

test('the flags of admission belong to the gateway that hosts it', () => {
  const flags = ['--admission=in-process', '--disable-admission-plugins=Priority']
  const { values, texts } = readSettings(gatewayCommandSettings, { flags, env: {}, elsewhere: flagsElsewhere })
  expect(readAdmissionPlace(values, texts, noTrust)).toMatchObject({
    kind: 'in-process',
    settings: { plugins: { disabled: ['Priority'] } },
  })
})

test('a gateway accepts the addresses of webhooks and APIServices even if admission is a separate service', () => {
  const flags = ['--admission-address=127.0.0.1:1', '--webhook-service-map=team/api=127.0.0.1:2', '--webhook-link-local']
  const { values, texts } = readSettings(gatewayCommandSettings, { flags, env: {}, elsewhere: flagsElsewhere })
  expect(readAdmissionPlace(values, texts, { ...noTrust, insecureTransport: true })).toEqual({
    kind: 'service',
    addresses: ['127.0.0.1:1'],
  })
})
