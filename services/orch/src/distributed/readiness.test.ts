import { request } from 'node:https'
import { defaultPluginSettings } from '@orch/admission'
import { type Store, storageContract } from '@orch/core/contracts'
import { silentLog } from '@orch/platform'
import { dialContract, healthContract, servingStatus } from '@orch/platform/rpc'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { openAdmissionReplica } from './admission.ts'
import type { Replica } from './replica.ts'
import { apart, closing, gatewaysOver, world } from './replica-testing.ts'
import { openStorageReplica } from './storage.ts'
import { openWatchReplica } from './watch.ts'

/** Names of the failing checks of `/readyz`. */
async function lacks({ address }: Replica): Promise<string[]> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(`${address}/readyz?verbose`, { rejectUnauthorized: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve(Buffer.concat(chunks).toString())
    })
    asked.on('error', reject)
    asked.end()
  })
  return [...text.matchAll(/^\[-\](\S+)/gm)].map((found) => found[1] ?? '')
}

/** Names of the failing checks of a service with a probe port. */
async function lacksOf({ checks }: Replica): Promise<string[]> {
  const results = await Promise.all(checks.map(async ({ name, check }) => ({ name, problem: await check() })))
  return results.flatMap(({ name, problem }) => (problem === undefined ? [] : [name]))
}

const soon = { timeout: 30_000, interval: 20 }

test('CARD-23: each process names in /readyz the service that it lacks, and is ready again with it', async () => {
  const store = createMemoryStore()
  const openStorage = (listen: string) =>
    closing(openStorageReplica({ ...apart, listen, store, changeStream: undefined, watchHistoryMs: 60_000 }, world))
  const storage = await openStorage(apart.listen)
  const storageAddresses = [storage.address]
  const admissionSettings = { plugins: { enabled: [], disabled: [] }, configFile: undefined, settings: defaultPluginSettings }
  const openWatch = (listen: string) => closing(openWatchReplica({ ...apart, listen, storageAddresses, changeStream: undefined }, world))
  const openAdmission = (listen: string) =>
    closing(openAdmissionReplica({ ...apart, listen, storageAddresses, admission: admissionSettings }, world))
  const [watch, admission] = await Promise.all([openWatch(apart.listen), openAdmission(apart.listen)])
  const openGateway = await gatewaysOver({
    storageAddresses,
    watchAddresses: [watch.address],
    admission: { kind: 'service', addresses: [admission.address] },
  })
  const { gateway } = await openGateway()
  await expect.poll(() => lacks(gateway), soon).toEqual([])

  await watch.stop()
  await expect.poll(() => lacks(gateway), soon).toEqual(['watch'])
  const watchAgain = await openWatch(watch.address)
  await expect.poll(() => lacks(gateway), soon).toEqual([])

  await admission.stop()
  await expect.poll(() => lacks(gateway), soon).toEqual(['admission'])
  const admissionAgain = await openAdmission(admission.address)
  await expect.poll(() => lacks(gateway), soon).toEqual([])

  await storage.stop()
  await expect.poll(() => lacks(gateway), soon).toEqual(['etcd', 'etcd-readiness', 'poststarthook/storage-readiness', 'storage'])
  for (const inner of [watchAgain, admissionAgain]) await expect.poll(() => lacksOf(inner), soon).toEqual(['storage'])
})

test('a process of admission has the metrics of conversion webhooks, and so has a gateway that hosts admission, once', async () => {
  const store = createMemoryStore()
  const storage = await closing(openStorageReplica({ ...apart, store, changeStream: undefined, watchHistoryMs: 60_000 }, world))
  const behind = { ...apart, storageAddresses: [storage.address] }
  const settings = { plugins: { enabled: [], disabled: [] }, configFile: undefined, settings: defaultPluginSettings }
  const admission = await closing(openAdmissionReplica({ ...behind, admission: settings }, world))
  const watch = await closing(openWatchReplica({ ...behind, changeStream: undefined }, world))
  const addresses = { ...behind, watchAddresses: [watch.address] }
  const { gateway } = await (await gatewaysOver({ ...addresses, admission: { kind: 'in-process', settings } }))()
  for (const { metrics } of [admission, gateway]) {
    const text = await metrics.text()
    expect(text.match(/^# TYPE apiserver_conversion_webhook_request_total counter$/gm)).toHaveLength(1)
  }
})

test('CARD-25: a storage that is cut off from its backend reports it in its health', async () => {
  const inner = createMemoryStore()
  const listeners = new Set<(isReachable: boolean) => void>()
  const shared: NonNullable<Store['shared']> = {
    latest: async () => inner.status().revision,
    askPosition: () => true,
    onReplaced: () => () => {},
    onReachable(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    visitRevisions: async () => 0,
    members: async () => [],
    mayLoseChanges: false,
  }
  const store: Store = new Proxy(inner, {
    get(target, name) {
      if (name === 'shared') return shared
      const member = target[name as keyof Store]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const storage = await openStorageReplica({ ...apart, store, changeStream: undefined, watchHistoryMs: 60_000 }, world)
  const health = dialContract(healthContract, { addresses: [storage.address], random: Math.random, log: silentLog })
  onTestFinished(() => health.close())
  await health.reached
  const status = async () => (await health.service.check({ service: storageContract.name })).status
  expect(await status()).toBe(servingStatus.serving)
  for (const listener of listeners) listener(false)
  expect(await status()).toBe(servingStatus.unknown)
  for (const listener of listeners) listener(true)
  expect(await status()).toBe(servingStatus.serving)
  await storage.stop()
  expect(listeners.size).toBe(0)
})
