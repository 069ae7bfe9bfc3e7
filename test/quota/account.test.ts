import { randomUUID } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import { type CommitRequest, objectKey, type StorageService, UnknownOutcomeError } from '@orch/core/contracts'
import { serviceUnavailable, timeout } from '@orch/core/meta'
import { encodeObject, encodeStoredObject } from '@orch/core/stored'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ledgerPrefix, openQuotaAccount, type QuotaAccount } from '../../services/admission/src/quota/account.ts'
import { decodeLedger, type Reservation } from '../../services/admission/src/quota/ledger.ts'
import { decodeQuota, type QuotaObject, type StoredQuota } from '../../services/admission/src/quota/quota-object.ts'
import { createMemoryStore, createStorage } from '../../services/storage/src/index.ts'

const catalogue = createCatalogue('orch')
const resourceOf = (plural: string) => catalogue.find('', 'v1', plural)!
const quotaKey = 'core/resourcequotas/team/q'
const ledgerKey = objectKey(ledgerPrefix, 'team', 'q')
const within = { timeout: 90_000 }

function aReservation(id: string, more: Partial<Reservation> = {}): Reservation {
  return { id, amounts: { pods: '1' }, key: `core/pods/team/${id}`, uid: `uid-${id}`, expected: 0, deadlineMs: 10_000_000_000_000, ...more }
}

function aQuota(pods: string, more: Partial<QuotaObject> = {}, uid = 'uid-q'): QuotaObject {
  const managedFields = [
    { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:hard': {} } } },
  ] as const
  const metadata = { name: 'q', namespace: 'team', uid, managedFields: [...managedFields] }
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods } }, ...more }
}

/** A storage with a quota, and accounts of the quota; each account could run in a separate process. */
async function aTeam(quota = aQuota('2')) {
  const store = createMemoryStore()
  const real = await createStorage({ store })
  const clock = createFakeClock()
  const accounts: QuotaAccount[] = []
  const commits: CommitRequest[] = []
  let [reads, lists] = [0, 0]
  /** Hooks between an account and the storage, by the key of the write. */
  const before = new Map<string, (request: CommitRequest, commit: () => ReturnType<StorageService['commit']>) => unknown>()
  onTestFinished(async () => {
    for (const account of accounts) account.close()
    real.close()
    await store.close()
  })
  const storage = new Proxy<StorageService>(real, {
    get: (target, name) => {
      if (name === 'get') reads += 1
      if (name === 'list') lists += 1
      if (name !== 'commit') return Reflect.get(target, name, target) as unknown
      return async (request: CommitRequest) => {
        commits.push(request)
        const commit = () => target.commit(request)
        return (await before.get(request.key)?.(request, commit)) ?? commit()
      }
    },
  })
  const put = async (key: string, plural: string, object: QuotaObject) => {
    const { entry } = await real.get({ key, read: { kind: 'latest' } })
    const writeId = randomUUID()
    const encoded = encodeObject(object)
    const value = encodeStoredObject({ stored: resourceOf(plural).stored, object, encoded, writeId, expiresAtMs: 0 })
    return real.commit({ key, expected: entry?.revision ?? 0, conditions: [], value, writeId })
  }
  const stored = async (): Promise<StoredQuota | undefined> => {
    const { entry } = await real.get({ key: quotaKey, read: { kind: 'latest' } })
    return entry && decodeQuota(entry)
  }
  /** The quota in the cache, which follows the storage when the test says so. */
  let known: StoredQuota | undefined
  const see = async () => {
    known = await stored()
  }
  await put(quotaKey, 'resourcequotas', quota)
  await see()
  const open = () => {
    const account = openQuotaAccount({ writeId: randomUUID, storage, catalogue, clock, log: silentLog, quota: () => known })
    accounts.push(account)
    return account
  }
  return {
    ...{ account: open(), open, clock, commits, before, see },
    putQuota: (object: QuotaObject) => put(quotaKey, 'resourcequotas', object),
    putPod: (name: string) =>
      put(`core/pods/team/${name}`, 'pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'team', uid: `uid-${name}` } }),
    removePod: async (name: string) => {
      const key = `core/pods/team/${name}`
      const { entry } = await real.get({ key, read: { kind: 'latest' } })
      await real.commit({ key, expected: entry?.revision ?? 0, conditions: [], writeId: randomUUID() })
    },
    removeQuota: async () => {
      const { entry } = await real.get({ key: quotaKey, read: { kind: 'latest' } })
      await real.commit({ key: quotaKey, expected: entry?.revision ?? 0, conditions: [], writeId: randomUUID() })
    },
    used: async () => (await stored())?.object.status?.used,
    quota: stored,
    ledger: async () => {
      const { entry } = await real.get({ key: ledgerKey, read: { kind: 'latest' } })
      return entry && decodeLedger(entry)
    },
    /** The number of reads of a row or a quota by accounts, and of counts. */
    asked: () => ({ reads, lists }),
    writesTo: (key: string) => commits.filter((commit) => commit.key === key).length,
  }
}

const exceeded = { kind: 'exceeded', message: 'exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2' }

test('a reservation is in the row and in the status, and a reservation beyond the limit is refused', async () => {
  const team = await aTeam()
  await team.putPod('old')
  expect(await team.account.reserve(aReservation('a'))).toEqual({ kind: 'reserved' })
  expect(await team.used()).toEqual({ pods: '2' })
  expect(await team.ledger()).toMatchObject({ quotaUid: 'uid-q', counted: { pods: '1' }, reservations: [{ id: 'a' }] })
  expect(await team.account.reserve(aReservation('b'))).toEqual(exceeded)
  expect((await team.ledger())?.reservations).toHaveLength(1)
})

test('the server owns the status, and the limits in it stay', async () => {
  const team = await aTeam(aQuota('3', { status: { hard: { pods: '2' }, used: { pods: '0' } } }))
  await team.account.reserve(aReservation('a'))
  const { object } = (await team.quota())!
  expect(object.status).toEqual({ hard: { pods: '2' }, used: { pods: '1' } })
  const owner = object.metadata.managedFields?.find(({ subresource }) => subresource === 'status')
  expect(owner).toMatchObject({ manager: 'orch-apiserver', fieldsV1: { 'f:status': { 'f:used': { 'f:pods': {} } } } })
  expect(object.metadata.managedFields?.some(({ manager }) => manager === 'm')).toBe(true)
})

test('a check has the same result as a reservation, and reserves nothing', async () => {
  const team = await aTeam()
  expect(await team.account.check(aReservation('a'))).toEqual({ kind: 'reserved' })
  expect((await team.ledger())?.reservations ?? []).toEqual([])
  for (const id of ['a', 'b']) await team.account.reserve(aReservation(id))
  expect(await team.account.check(aReservation('c'))).toEqual(exceeded)
})

test('parallel reservations are committed together, and each gets its own answer', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  const before = team.writesTo(ledgerKey)
  const outcomes = await Promise.all(['b', 'c', 'd', 'e'].map((id) => team.account.reserve(aReservation(id))))
  expect(outcomes.map(({ kind }) => kind)).toEqual(['reserved', 'exceeded', 'exceeded', 'exceeded'])
  expect(team.writesTo(ledgerKey) - before).toBeLessThanOrEqual(2)
})

test('a failed write releases its reservation, and the status shows it', async () => {
  const team = await aTeam()
  for (const id of ['a', 'b']) await team.account.reserve(aReservation(id))
  await team.account.settle({ id: 'b', revision: undefined })
  expect(await team.used()).toEqual({ pods: '1' })
  expect(await team.account.reserve(aReservation('c'))).toEqual({ kind: 'reserved' })
})

test('the end of a successful write waits for others, and changes no amount', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  const [rows, quotas] = [team.writesTo(ledgerKey), team.writesTo(quotaKey)]
  const settled = team.account.settle({ id: 'a', revision: 1_000_000 })
  expect(team.clock.pendingTimers).toBe(1)
  expect(team.writesTo(ledgerKey)).toBe(rows)
  team.clock.advance(1_000)
  await settled
  expect([team.writesTo(ledgerKey), team.writesTo(quotaKey)]).toEqual([rows + 1, quotas])
  expect(await team.ledger()).toMatchObject({ counted: { pods: '1' }, reservations: [] })
})

test('the end of a reservation waits for the next reservation, and both are committed together', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  const settled = team.account.settle({ id: 'a', revision: 1_000_000 })
  await team.account.reserve(aReservation('b'))
  await settled
  expect(team.clock.pendingTimers).toBe(0)
  expect(await team.ledger()).toMatchObject({ counted: { pods: '1' }, reservations: [{ id: 'b' }] })
})

test('objects are counted again before a refusal, so that deleted objects free capacity, but not twice in a moment', async () => {
  const team = await aTeam()
  for (const name of ['x', 'y']) await team.putPod(name)
  expect(await team.account.reserve(aReservation('a'))).toEqual(exceeded)
  await team.removePod('x')
  expect(await team.account.reserve(aReservation('b'))).toEqual(exceeded)
  team.clock.advance(1_000)
  expect(await team.account.reserve(aReservation('c'))).toEqual({ kind: 'reserved' })
  expect(await team.used()).toEqual({ pods: '2' })
})

test('two accounts of one quota share its row, and the last unit is reserved once', async () => {
  const team = await aTeam()
  const accounts = [team.account, team.open()]
  await accounts[0]!.reserve(aReservation('a'))
  const outcomes = await Promise.all(accounts.map((account, index) => account.reserve(aReservation(`b${index}`))))
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['exceeded', 'reserved'])
  expect(await team.used()).toEqual({ pods: '2' })
  expect((await team.ledger())?.reservations).toHaveLength(2)
})

test('a commit of the row with an unknown outcome is repeated, and reserves once', async () => {
  const team = await aTeam()
  let losses = 0
  team.before.set(ledgerKey, async (_request, commit) => {
    if (losses++ > 0) return undefined
    await commit()
    throw new UnknownOutcomeError(timeout('no answer').status)
  })
  expect(await team.account.reserve(aReservation('a'))).toEqual({ kind: 'reserved' })
  expect((await team.ledger())?.reservations.map(({ id }) => id)).toEqual(['a'])
  expect(await team.used()).toEqual({ pods: '1' })
})

test('a status that another writer has changed is read again and overwritten', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  await team.see()
  // The cache is behind: the label came later.
  const { object } = (await team.quota())!
  const { resourceVersion: _resourceVersion, ...metadata } = object.metadata
  await team.putQuota({ ...object, metadata: { ...metadata, labels: { changed: 'yes' } } })
  await team.account.reserve(aReservation('b'))
  expect(await team.used()).toEqual({ pods: '2' })
  expect((await team.quota())?.object.metadata.labels).toEqual({ changed: 'yes' })
})

test('a status with an unknown outcome is read again, and written if it was not', async () => {
  const team = await aTeam()
  let losses = 0
  team.before.set(quotaKey, () => {
    if (losses++ === 0) throw new UnknownOutcomeError(timeout('no answer').status)
  })
  await team.account.reserve(aReservation('a'))
  expect([losses, await team.used()]).toEqual([2, { pods: '1' }])
})

test('the last writer of a row publishes its status', async () => {
  const team = await aTeam()
  const other = team.open()
  let hasCome = false
  team.before.set(quotaKey, async () => {
    if (hasCome) return
    hasCome = true
    await other.reserve(aReservation('b'))
  })
  await team.account.reserve(aReservation('a'))
  expect(await team.used()).toEqual({ pods: '2' })
})

test('a deleted quota limits nothing, and nothing is written for it', async () => {
  const team = await aTeam(aQuota('0'))
  expect(await team.account.reserve(aReservation('a'))).toMatchObject({ kind: 'exceeded' })
  await team.removeQuota()
  await team.see()
  const before = team.commits.length
  expect(await team.account.reserve(aReservation('b'))).toEqual({ kind: 'reserved' })
  expect(await team.account.recount()).toMatchObject({ used: {} })
  expect(team.commits).toHaveLength(before)
})

test('a quota that is deleted while its status is written stays deleted', async () => {
  const team = await aTeam()
  team.before.set(quotaKey, () => team.removeQuota())
  expect(await team.account.reserve(aReservation('a'))).toEqual({ kind: 'reserved' })
  expect(await team.quota()).toBeUndefined()
})

test('another quota of the same name starts with an empty ledger', async () => {
  const team = await aTeam()
  for (const id of ['a', 'b']) await team.account.reserve(aReservation(id))
  await team.removeQuota()
  await team.putQuota(aQuota('2', {}, 'uid-other'))
  await team.see()
  expect(await team.account.reserve(aReservation('c'))).toEqual({ kind: 'reserved' })
  expect(await team.ledger()).toMatchObject({ quotaUid: 'uid-other', reservations: [{ id: 'c' }] })
})

test('a new resource of a quota is counted before the next write', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  await team.putQuota(aQuota('2', { spec: { hard: { pods: '2', configmaps: '5' } } }))
  await team.see()
  await team.account.reserve(aReservation('b'))
  expect((await team.ledger())?.counted).toMatchObject({ configmaps: '0' })
})

test('a count has the used amounts for the limits of the spec, and its caller writes the status', async () => {
  const team = await aTeam(aQuota('2', { status: { hard: { pods: '7', secrets: '1' }, used: { pods: '9' } } }))
  await team.putPod('x')
  const { used, ledger } = await team.account.recount()
  expect(used).toEqual({ pods: '1' })
  expect(ledger.key).toBe(ledgerKey)
  expect(ledger.revision).toBeGreaterThan(0)
  expect(await team.used()).toEqual({ pods: '9' })
})

test('a count without a change writes nothing', async () => {
  const team = await aTeam()
  await team.putPod('x')
  const first = await team.account.recount()
  const before = team.commits.length
  expect(await team.account.recount()).toEqual(first)
  expect(team.commits).toHaveLength(before)
  await team.putPod('y')
  expect((await team.account.recount()).used).toEqual({ pods: '2' })
})

test('a count includes reserved and written objects', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  await team.putPod('a')
  expect((await team.account.recount()).used).toEqual({ pods: '1' })
  expect((await team.ledger())?.reservations).toEqual([])
  // An outcome that is reported later does not count.
  const settled = team.account.settle({ id: 'a', revision: 1_000_000 })
  team.clock.advance(1_000)
  await settled
  expect((await team.ledger())?.counted).toEqual({ pods: '1' })
})

test('a refusal by storage is returned to all waiting callers', async () => {
  const team = await aTeam()
  team.before.set(ledgerKey, () => Promise.reject(new Error('no disk')))
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => team.account.reserve(aReservation(id))))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  team.before.clear()
  expect(await team.account.reserve(aReservation('d'))).toEqual({ kind: 'reserved' })
})

test('a row that other writers change in each attempt leads to a 503', async () => {
  const team = await aTeam()
  team.before.set(ledgerKey, () => ({ kind: 'conflict', revision: 1 }))
  await expect(team.account.reserve(aReservation('a'))).rejects.toMatchObject({
    code: 503,
    message: expect.stringContaining('quota team/q is changed by too many at once'),
  })
  expect(team.writesTo(ledgerKey)).toBe(32)
})

test('a closed account refuses waiting and later requests', async () => {
  const team = await aTeam()
  const gate = Promise.withResolvers<void>()
  team.before.set(ledgerKey, () => gate.promise)
  const underway = team.account.reserve(aReservation('a'))
  await vi.waitFor(() => expect(team.writesTo(ledgerKey)).toBe(1), within)
  const waiting = team.account.reserve(aReservation('b'))
  const unhurried = team.account.settle({ id: 'z', revision: 5 })
  team.account.close()
  for (const refused of [waiting, unhurried, team.account.reserve(aReservation('c'))])
    await expect(refused).rejects.toMatchObject({ code: 503, message: 'admission is ending' })
  expect(team.clock.pendingTimers).toBe(0)
  gate.resolve()
  expect(await underway).toEqual({ kind: 'reserved' })
})

test('a reservation needs one commit of the row and one of the status, and only the first needs a read', async () => {
  const team = await aTeam(aQuota('9'))
  await team.account.reserve(aReservation('a'))
  const before = team.asked()
  for (const id of ['b', 'c']) await team.account.reserve(aReservation(id))
  expect(team.asked()).toEqual(before)
  expect([team.writesTo(ledgerKey), team.writesTo(quotaKey)]).toEqual([3, 3])
})

test('an update starts from the newer of the cached and the last written status', async () => {
  const team = await aTeam(aQuota('9'))
  await team.account.reserve(aReservation('a'))
  const { object } = (await team.quota())!
  const { resourceVersion: _resourceVersion, ...metadata } = object.metadata
  await team.putQuota({ ...object, metadata: { ...metadata, labels: { changed: 'yes' } } })
  await team.see()
  await team.account.reserve(aReservation('b'))
  expect(team.writesTo(quotaKey)).toBe(2)
  expect((await team.quota())?.object.metadata.labels).toEqual({ changed: 'yes' })
})

test('a reservation that is made together with a count is in the status', async () => {
  const team = await aTeam(aQuota('9'))
  const gate = Promise.withResolvers<void>()
  team.before.set(ledgerKey, () => gate.promise)
  const first = team.account.reserve(aReservation('a'))
  await vi.waitFor(() => expect(team.writesTo(ledgerKey)).toBe(1), within)
  const both = Promise.all([team.account.recount(), team.account.reserve(aReservation('b'))])
  gate.resolve()
  await Promise.all([first, both])
  expect(await team.used()).toEqual({ pods: '2' })
})

test('an end that arrives during a commit is committed in time', async () => {
  const team = await aTeam(aQuota('9'))
  await team.account.reserve(aReservation('a'))
  const gate = Promise.withResolvers<void>()
  team.before.set(ledgerKey, () => gate.promise)
  const second = team.account.reserve(aReservation('b'))
  await vi.waitFor(() => expect(team.writesTo(ledgerKey)).toBe(2), within)
  const settled = team.account.settle({ id: 'a', revision: 1_000_000 })
  gate.resolve()
  await second
  await team.account.recount()
  await settled
  const rows = team.writesTo(ledgerKey)
  const other = team.account.settle({ id: 'b', revision: 1_000_000 })
  expect([team.writesTo(ledgerKey), team.clock.pendingTimers]).toEqual([rows, 1])
  team.clock.advance(1_000)
  await other
})

test('a resource without a collection is not counted, and causes no list', async () => {
  const team = await aTeam(aQuota('9', { spec: { hard: { pods: '9', strange: '1' } } }))
  await team.account.reserve(aReservation('a'))
  const { lists } = team.asked()
  await team.account.reserve(aReservation('b'))
  expect(team.asked().lists).toBe(lists)
})

test('a quota status with endless conflicts is not updated, and the reservation succeeds', async () => {
  const team = await aTeam()
  team.before.set(quotaKey, () => ({ kind: 'conflict', revision: 1 }))
  expect(await team.account.reserve(aReservation('a'))).toEqual({ kind: 'reserved' })
  expect(team.writesTo(quotaKey)).toBe(32)
})

test('the status of a quota that is deleted after the commit of its row is not written', async () => {
  const team = await aTeam()
  await team.account.reserve(aReservation('a'))
  team.before.set(ledgerKey, async () => {
    await team.removeQuota()
    await team.see()
  })
  expect(await team.account.reserve(aReservation('b'))).toEqual({ kind: 'reserved' })
  expect(team.writesTo(quotaKey)).toBe(1)
})

test('a quota without managedFields gets none from a status update', async () => {
  const { metadata, ...rest } = aQuota('2')
  const team = await aTeam({ ...rest, metadata: { name: metadata.name ?? '', namespace: 'team', uid: 'uid-q' } })
  await team.account.reserve(aReservation('a'))
  expect((await team.quota())?.object.metadata).not.toHaveProperty('managedFields')
  expect(await team.used()).toEqual({ pods: '1' })
})

test('an unreachable storage is reported, and not asked again', async () => {
  const team = await aTeam()
  team.before.set(ledgerKey, () => Promise.reject(serviceUnavailable('storage cannot be reached')))
  await expect(team.account.reserve(aReservation('a'))).rejects.toMatchObject({ code: 503, message: 'storage cannot be reached' })
  expect(team.writesTo(ledgerKey)).toBe(1)
})
