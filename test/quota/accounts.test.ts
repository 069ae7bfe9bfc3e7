import { randomUUID } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import { objectKey, type StorageService } from '@orch/core/contracts'
import { encodeObject, encodeStoredObject } from '@orch/core/stored'
import { silentLog, systemChance } from '@orch/platform'
import { noPlaces } from '@orch/platform/webhooks'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ledgerPrefix } from '../../services/admission/src/quota/account.ts'
import { QuotaAccounts } from '../../services/admission/src/quota/accounts.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'

const catalogue = createCatalogue('orch')
const { stored } = catalogue.find('', 'v1', 'resourcequotas')!
const keyOf = (namespace: string, name: string) => `core/resourcequotas/${namespace}/${name}`
const rowOf = (namespace: string, name: string) => objectKey(ledgerPrefix, namespace, name)
const within = { timeout: 90_000 }
const reservation = { id: 'r', amounts: { pods: '1' }, key: 'core/pods/a/p', uid: 'u', expected: 0, deadlineMs: 10_000_000_000_000 }

/** The quotas of a storage. Held changes have not arrived yet. */
async function someAccounts({ isHeld = false } = {}) {
  const store = createMemoryStore()
  const real = await createStorage({ store })
  const clock = createFakeClock()
  const gate = Promise.withResolvers<void>()
  if (!isHeld) gate.resolve()
  const storage = new Proxy<StorageService>(real, {
    get: (target, name) => {
      if (name !== 'changes') return Reflect.get(target, name, target) as unknown
      return (...words: Parameters<StorageService['changes']>) => {
        const stream = target.changes(...words)
        return Object.assign(later(stream, gate.promise), { close: () => stream.close() })
      }
    },
  })
  const settings = { notReadyTolerationSeconds: 0, unreachableTolerationSeconds: 0, webhookPlaces: noPlaces } as never
  const accounts = new QuotaAccounts({
    ...{ storage, catalogue, clock, log: silentLog, random: () => 0.5, chance: systemChance },
    ...{ configuration: undefined, settings },
  })
  onTestFinished(async () => {
    gate.resolve()
    accounts.close()
    real.close()
    await store.close()
  })
  const commit = async (key: string, value?: Uint8Array, writeId = randomUUID()) => {
    const { entry } = await real.get({ key, read: { kind: 'latest' } })
    return real.commit({ key, expected: entry?.revision ?? 0, conditions: [], writeId, ...(value && { value }) })
  }
  return {
    ...{ accounts, clock, arrive: gate.resolve },
    has: async (key: string) => (await real.get({ key, read: { kind: 'latest' } })).entry !== undefined,
    put: (namespace: string, name: string, uid = 'u') => {
      const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name, namespace, uid }, spec: { hard: { pods: '5' } } }
      const writeId = randomUUID()
      const value = encodeStoredObject({ stored, object, encoded: encodeObject(object), writeId, expiresAtMs: 0 })
      return commit(keyOf(namespace, name), value, writeId)
    },
    remove: (namespace: string, name: string) => commit(keyOf(namespace, name)),
    names: (namespace: string) => accounts.in(namespace).map(({ object }) => object.metadata.name),
  }
}

async function* later<T>(items: AsyncIterable<T>, when: Promise<void>): AsyncIterable<T> {
  for await (const item of items) {
    await when
    yield item
  }
}

test('quotas are listed by namespace in the order of their names, and namespaces without quotas are dropped', async () => {
  const { accounts, put, remove, names } = await someAccounts()
  expect(accounts.namespaces).toBeUndefined()
  for (const [namespace, name] of [['a', 'two'], ['a', 'one'], ['b', 'one']] as const) await put(namespace, name) // biome-ignore format: a table
  await vi.waitFor(() => expect([names('a'), names('b')]).toEqual([['one', 'two'], ['one']]), within)
  expect([...(accounts.namespaces ?? [])].sort()).toEqual(['a', 'b'])
  expect(accounts.sources[0]?.revision).toBeGreaterThan(0)
  await remove('a', 'one')
  await vi.waitFor(() => expect(names('a')).toEqual(['two']), within)
  expect(accounts.namespaces).toContain('a')
  await remove('a', 'two')
  await vi.waitFor(() => expect(accounts.namespaces).toEqual(['b']), within)
  expect(names('a')).toEqual([])
})

test('the row of a quota is deleted with it, and a new quota of its name gets a new account', async () => {
  const { accounts, put, remove, has } = await someAccounts()
  await put('a', 'q')
  await accounts.surelyIn('a')
  const account = accounts.account(keyOf('a', 'q'))
  expect(accounts.account(keyOf('a', 'q'))).toBe(account)
  expect(await account.reserve(reservation)).toEqual({ kind: 'reserved' })
  expect(await has(rowOf('a', 'q'))).toBe(true)
  await remove('a', 'q')
  await vi.waitFor(async () => expect(await has(rowOf('a', 'q'))).toBe(false), within)
  await put('a', 'q', 'other')
  await accounts.surelyIn('a')
  expect(accounts.account(keyOf('a', 'q'))).not.toBe(account)
})

test('a change of a quota keeps its account and its row', async () => {
  const { accounts, put, has } = await someAccounts()
  await put('a', 'q')
  await accounts.surelyIn('a')
  const account = accounts.account(keyOf('a', 'q'))
  await account.reserve(reservation)
  const changed = vi.fn()
  accounts.onChange(changed)
  await put('a', 'q')
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), within)
  expect(accounts.account(keyOf('a', 'q'))).toBe(account)
  expect(await has(rowOf('a', 'q'))).toBe(true)
  expect(accounts.namespaces).toEqual(['a'])
})

test('a quota that is in storage and not yet in memory is waited for', async () => {
  const { accounts, put, arrive, names } = await someAccounts({ isHeld: true })
  expect(await accounts.surelyIn('a')).toEqual([])
  for (const name of ['one', 'two']) await put('a', name)
  let isAnswered = false
  const waiting = accounts.surelyIn('a').finally(() => {
    isAnswered = true
  })
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect([isAnswered, names('a')]).toEqual([false, []])
  arrive()
  expect((await waiting).map(({ object }) => object.metadata.name)).toEqual(['one', 'two'])
})

test('a quota that does not arrive in time is a 503', async () => {
  const { accounts, put, clock } = await someAccounts({ isHeld: true })
  await accounts.surelyIn('a')
  await put('a', 'q')
  const waiting = accounts.surelyIn('a').catch((error: unknown) => error)
  const before = clock.pendingTimers
  await vi.waitFor(() => expect(clock.pendingTimers).toBeGreaterThan(before), within)
  clock.advance(5_000)
  expect(await waiting).toMatchObject({ code: 503, message: 'the quotas of the namespace are not known yet' })
  expect(clock.pendingTimers).toBe(before)
})

test('a loaded list of quotas counts as a change, even if it is empty', async () => {
  const { accounts } = await someAccounts()
  const changed = vi.fn(() => accounts.namespaces)
  accounts.onChange(changed)
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), within)
  expect(changed).toHaveLastReturnedWith([])
  expect(accounts.in('a')).toEqual([])
})

test('a quota that replaces another gets a new account, and the row of its name stays', async () => {
  const { accounts, put, has, names } = await someAccounts()
  await put('a', 'q')
  await accounts.surelyIn('a')
  const account = accounts.account(keyOf('a', 'q'))
  await account.reserve(reservation)
  await put('a', 'q', 'other')
  await vi.waitFor(() => expect(accounts.in('a')[0]?.object.metadata.uid).toBe('other'), within)
  expect(accounts.account(keyOf('a', 'q'))).not.toBe(account)
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect([await has(rowOf('a', 'q')), names('a'), accounts.namespaces]).toEqual([true, ['q'], ['a']])
})

test('no timer remains after a quota has arrived', async () => {
  const { accounts, put, arrive, clock } = await someAccounts({ isHeld: true })
  await accounts.surelyIn('a')
  const before = clock.pendingTimers
  await put('a', 'q')
  const waiting = accounts.surelyIn('a')
  await vi.waitFor(() => expect(clock.pendingTimers).toBeGreaterThan(before), within)
  arrive()
  expect(await waiting).toHaveLength(1)
  expect(clock.pendingTimers).toBe(before)
})
