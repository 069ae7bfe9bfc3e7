import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { readSettings } from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { expect, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { flagsElsewhere } from '../settings/general.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { readAdmissionPlace } from './gateway.ts'
import { apart, closing, gatewaysOver, world } from './replica-testing.ts'
import { gatewayCommandSettings } from './settings.ts'
import { openStorageReplica } from './storage.ts'
import { openWatchReplica } from './watch.ts'

/** Two gateways that host admission, with storage and watch as separate services. */
async function gateways() {
  const store = createMemoryStore()
  const storage = await closing(openStorageReplica({ ...apart, store, changeStream: undefined, watchHistoryMs: 60_000 }, world))
  const storageAddresses = [storage.address]
  const watch = await closing(openWatchReplica({ ...apart, storageAddresses, changeStream: undefined }, world))
  const settings = readAdmission(readStartSettings({ flags: ['--disable-admission-plugins=ServiceAccount'] }))
  const admission = { kind: 'in-process', settings } as const
  const open = await gatewaysOver({ storageAddresses, watchAddresses: [watch.address], admission })
  return [await open(), await open()].map(({ client }) => client)
}

const pod = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})

test('a gateway hosts admission: plugins see the writes of another gateway', async () => {
  const [one, other] = (await gateways()) as [Client, Client]
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
