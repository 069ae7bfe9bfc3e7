import { randomUUID } from 'node:crypto'
import type { GatewayAddress } from '@orch/controllers'
import type { StorageService } from '@orch/core/contracts'
import { serviceUnavailable } from '@orch/core/meta'
import { silentLog } from '@orch/platform'
import { createMemoryStore, createStorage } from '@orch/storage'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createGatewayRoster } from './gateway.ts'

/** A storage with gateways that register there. */
async function aStorage() {
  const clock = createFakeClock()
  const store = createMemoryStore()
  const storage = await createStorage({ store, clock })
  const told: GatewayAddress[][] = []
  onTestFinished(async () => {
    storage.close()
    await store.close()
  })
  const aGateway = (address: string, port: number, of: StorageService = storage) =>
    createGatewayRoster({
      writeId: randomUUID,
      storage: of,
      own: { address, port },
      clock,
      log: silentLog,
      onGateways: async (gateways) => void told.push([...gateways]),
    })
  /** Advances time in steps, and runs the due work. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { storage, aGateway, told, pass }
}

test('each gateway receives all gateways in the same order', async () => {
  const { aGateway, told } = await aStorage()
  await aGateway('10.0.0.2', 6443).renew()
  await aGateway('fd00::1', 6443).renew()
  expect(told).toEqual([
    [{ address: '10.0.0.2', port: 6443 }],
    [
      { address: '10.0.0.2', port: 6443 },
      { address: 'fd00::1', port: 6443 },
    ],
  ])
})

test('a gateway that leaves is removed at once', async () => {
  const { aGateway, told } = await aStorage()
  const first = aGateway('10.0.0.1', 6443)
  const second = aGateway('10.0.0.2', 6443)
  await first.renew()
  await second.renew()
  await first.close()
  await second.renew()
  expect(told.at(-1)).toEqual([{ address: '10.0.0.2', port: 6443 }])
})

test('a gateway that has ended is removed after fifteen seconds, and a live gateway stays', async () => {
  const { aGateway, told, pass } = await aStorage()
  await aGateway('10.0.0.1', 6443).renew()
  const living = aGateway('10.0.0.2', 6443)
  onTestFinished(() => living.close())
  await living.renew()
  living.keep()
  await pass(10)
  expect(told.at(-1)).toHaveLength(2)
  await pass(30)
  expect(told.at(-1)).toEqual([{ address: '10.0.0.2', port: 6443 }])
})

test('a renewal that storage refuses is repeated', async () => {
  const { storage, aGateway, told, pass } = await aStorage()
  let isAway = false
  const gateway = aGateway('10.0.0.1', 6443, {
    ...storage,
    commit: (request, context) => (isAway ? Promise.reject(serviceUnavailable('away')) : storage.commit(request, context)),
  })
  onTestFinished(() => gateway.close())
  await gateway.renew()
  gateway.keep()
  isAway = true
  await pass(10)
  expect(told).toHaveLength(1)
  isAway = false
  await pass(10)
  expect(told.length).toBeGreaterThan(1)
  isAway = true
  await expect(gateway.renew()).rejects.toThrow('away')
})
