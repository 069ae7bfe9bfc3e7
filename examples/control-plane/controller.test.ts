import { useServer } from 'orch/vitest'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runController } from './controller.ts'

const server = useServer({ profile: 'kubernetes', crds: ['./kinds.yaml'] })
const address = { group: 'example.dev', version: 'v1', namespaced: true }
const shop = { apiVersion: 'example.dev/v1', kind: 'Database', metadata: { name: 'shop', namespace: 'default' } }
const reference = { ...shop, name: 'shop', namespace: 'default' }

let ending: AbortController
let running: Promise<void>

beforeEach(() => {
  ending = new AbortController()
  running = runController(server.client, ending.signal)
})
afterEach(async () => {
  ending.abort()
  await running
})

const namesOfBackups = async () => {
  const { items } = await server.client.resource({ ...address, plural: 'backups' }).list({ namespace: 'default' })
  return items.map(({ metadata }) => metadata.name)
}
const untilBackupsAre = (names: readonly string[]) => vi.waitFor(async () => expect(await namesOfBackups()).toEqual(names), 60_000)
const setSpec = (spec: object) => server.client.objects.patch(reference, { spec }, { type: 'merge' })

test('a database gets as many backups as it asks for, more or fewer, and reports their number', async () => {
  await server.client.objects.create({ ...shop, spec: { engine: 'postgres', storageGb: 10 } })
  await untilBackupsAre(['shop-1'])
  await setSpec({ backups: 3 })
  await untilBackupsAre(['shop-1', 'shop-2', 'shop-3'])
  await setSpec({ backups: 2 })
  await untilBackupsAre(['shop-1', 'shop-2'])
  await vi.waitFor(async () => expect(await server.client.objects.get(reference)).toMatchObject({ status: { backups: 2 } }), 60_000)
})

test('a deleted backup is created again, and all backups are deleted with their database', async () => {
  await server.client.objects.create({ ...shop, spec: { engine: 'postgres', storageGb: 10 } })
  await untilBackupsAre(['shop-1'])
  const backups = server.client.resource({ ...address, plural: 'backups' })
  const { metadata } = await backups.get('shop-1', { namespace: 'default' })
  await backups.delete('shop-1', { namespace: 'default' })
  await vi.waitFor(async () => {
    expect((await backups.get('shop-1', { namespace: 'default' })).metadata.uid).not.toBe(metadata.uid)
  }, 60_000)
  await server.client.objects.delete(reference)
  await untilBackupsAre([])
})

test('a database refuses to shrink its storage', async () => {
  await server.client.objects.create({ ...shop, spec: { engine: 'postgres', storageGb: 10 } })
  await expect(setSpec({ storageGb: 5 })).rejects.toThrow('storage cannot shrink')
})
