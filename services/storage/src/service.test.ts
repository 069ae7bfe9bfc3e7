import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangesPart, Store, StoreCommit } from '@orch/core/contracts'
import { at } from '@orch/core/json'
import { aDelete, aPut, createFakeClock, type FakeClock, listed, shown, storageSuite, takeChanges, written } from '@orch/testkit'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { limits } from './limits.ts'
import { createStorage, type Storage, type StorageOptions } from './service.ts'
import { openLmdbStore } from './store/lmdb-store.ts'
import { createMemoryStore } from './store/memory-store.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function openDisk(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), 'storage-test-'))
  folders.push(directory)
  return openLmdbStore({ directory, profile: 'orch' })
}

const opening =
  (openStore: () => Store | Promise<Store>, options: Partial<StorageOptions> = {}) =>
  async () => {
    const store = await openStore()
    const storage = await createStorage({ store, ...options })
    const close = async () => {
      storage.close()
      await store.close()
    }
    return { storage, store, close }
  }

storageSuite('memory', opening(createMemoryStore))
storageSuite('lmdb', opening(openDisk))
storageSuite('no history in memory: the past comes from the store', opening(openDisk, { historyBytesMax: 0 }))

interface Opened {
  readonly storage: Storage
  readonly store: Store
  readonly clock: FakeClock
}

async function withFakeClock(body: (opened: Opened) => Promise<void>, options: Partial<StorageOptions> = {}): Promise<void> {
  const store = createMemoryStore()
  const clock = createFakeClock()
  const storage = await createStorage({ store, clock, ...options })
  try {
    await body({ storage, store, clock })
  } finally {
    storage.close()
    await store.close()
  }
  expect(clock.pendingTimers).toBe(0)
}

/** Waits until all ready work is done. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** The same store for callers that commit one by one. */
function withoutCommitAll(store: Store): Store {
  return new Proxy(store, {
    get(_, name) {
      const member: unknown = name === 'commitAll' ? undefined : Reflect.get(store, name, store)
      return typeof member === 'function' ? member.bind(store) : member
    },
  })
}

test.each([
  ['together', createMemoryStore],
  ['one by one', () => withoutCommitAll(createMemoryStore())],
])('commits that the store takes %s are decided in order, and a refused one holds up no other', async (_, openStore) => {
  const { storage, close } = await opening(openStore)()
  const commits = [aPut({ name: 'a' }), aPut({ name: 'a'.repeat(3_000) }), aPut({ name: 'a' }), aPut({ name: 'b' })]
  const current = expect.objectContaining({ revision: 2 })
  const failed = { kind: 'failed', error: expect.objectContaining({ code: 400 }) }
  expect(await storage.commitAll(commits)).toEqual([
    { kind: 'written', revision: 2 },
    failed,
    { kind: 'stale', current },
    { kind: 'written', revision: 3 },
  ])
  expect((await listed(storage)).names).toEqual(['a', 'b'])
  await close()
})

describe('waiting reads', () => {
  test('RV-03: a get not older than a future revision waits for that revision', () =>
    withFakeClock(async ({ storage }) => {
      const { revision } = await storage.status({})
      const waiting = storage.get({ key: 'core/configmaps/default/a', read: { kind: 'notOlderThan', revision: revision + 1, asked: 'x' } })
      await written(storage, aPut({ name: 'a', data: 'new' }))
      expect(shown((await waiting).entry!.value).data.text).toBe('new')
    }))

  test('RV-36, RV-38: a revision that does not arrive within 3 s is a 504 with that reason', () =>
    withFakeClock(async ({ storage, clock }) => {
      const { revision } = await storage.status({})
      const read = { kind: 'notOlderThan' as const, revision: 999, asked: '0999' }
      const failures = Promise.all(
        [listed(storage, { read }), storage.get({ key: 'a', read })].map((one) => one.catch((error: unknown) => error)),
      )
      await settle()
      clock.advance(2_999)
      await settle()
      clock.advance(1)
      for (const failure of await failures) {
        expect(failure).toMatchObject({
          code: 504,
          reason: 'Timeout',
          message: `Timeout: Too large resource version: 0999, current: ${revision}`,
        })
      }
    }))
})

describe('the window', () => {
  test('WATCH-20, CHUNK-09: keeps changes for its length, and not much longer', () =>
    withFakeClock(async ({ storage, store, clock }) => {
      const first = await written(storage, aPut({ name: 'a' }))
      clock.advance(30_000)
      const second = await written(storage, aPut({ name: 'b' }))
      clock.advance(269_999)
      expect(store.status().compacted).toBeLessThan(first)
      clock.advance(60_001)
      await settle()
      expect(store.status().compacted).toBe(second)
      const stream = storage.changes({ after: first, epoch: '', resources: [] })
      expect(await takeChanges(stream, 1)).toEqual([`expired ${second}`])
      const exact = listed(storage, { read: { kind: 'exact', revision: first, asked: String(first) } })
      await expect(exact).rejects.toMatchObject({ code: 410, message: 'The resourceVersion for the provided list is too old.' })
    }))

  test('CHUNK-10: a page of a list that is older than the window is expired', () =>
    withFakeClock(async ({ storage, clock }) => {
      for (const name of ['a', 'b', 'c']) await written(storage, aPut({ name }))
      const { head } = await listed(storage, { limit: 1 })
      await written(storage, aPut({ name: 'd' }))
      const next = () =>
        listed(storage, { limit: 1, start: head.next!, read: { kind: 'page', revision: head.revision, epoch: head.epoch } })
      expect((await next()).names).toEqual(['b'])
      clock.advance(400_000)
      await settle()
      await expect(next()).rejects.toMatchObject({ code: 410, reason: 'Expired' })
    }))

  test('setting the wall clock does not shorten the window', () =>
    withFakeClock(async ({ storage, store, clock }) => {
      await written(storage, aPut({ name: 'a' }))
      const { compacted } = store.status()
      clock.setNow(clock.now() + 86_400_000)
      clock.advance(60_000)
      await settle()
      expect(store.status().compacted).toBe(compacted)
    }))
})

describe('expiry', () => {
  test('an expired object is deleted by an ordinary change, and a renewed object is not', () =>
    withFakeClock(async ({ storage, clock }) => {
      const inMinutes = (minutes: number) => clock.now() + minutes * 60_000
      await written(storage, aPut({ name: 'a', expiresAtMs: inMinutes(60) }))
      const b = await written(storage, aPut({ name: 'b', expiresAtMs: inMinutes(30) }))
      const stays = await written(storage, aPut({ name: 'c' }))
      const renewed = await written(storage, aPut({ name: 'b', expiresAtMs: inMinutes(90), data: 'renewed' }, { expected: b }))
      const stream = storage.changes({ after: renewed, epoch: '', resources: [] })
      for (let minute = 0; minute < 61; minute++) {
        clock.advance(60_000)
        await settle()
      }
      expect((await listed(storage)).names).toEqual(['b', 'c'])
      expect(await takeChanges(stream, 1)).toEqual([`${renewed + 1} -core/configmaps/default/a`])
      expect(stays).toBeLessThan(renewed)
    }))

  test('objects with an expiry keep their time over a restart', async () => {
    const store = createMemoryStore()
    const clock = createFakeClock()
    const first = await createStorage({ store, clock })
    await written(first, aPut({ name: 'a', expiresAtMs: clock.now() + 5_000 }))
    first.close()
    const second = await createStorage({ store, clock })
    expect((await listed(second)).names).toEqual(['a'])
    clock.advance(5_000)
    await settle()
    expect((await listed(second)).names).toEqual([])
    second.close()
  })
})

test('a write that is repeated after a restart gets the same answer, and is written once', async () => {
  const store = createMemoryStore()
  const first = await createStorage({ store })
  const request = aPut({ name: 'a' })
  const answer = await first.commit(request)
  first.close()
  const second = await createStorage({ store })
  expect(await second.commit(request)).toEqual(answer)
  expect(await second.commit({ ...request, conditions: [{ key: 'core/namespaces/default', revision: 77 }] })).toEqual(answer)
  expect(await second.commit({ ...request, writeId: 'other' })).toMatchObject({ kind: 'stale' })
  expect((await second.status({})).revision).toBe(answer.kind === 'written' && answer.revision)
  second.close()
})

test('objects are counted by resource, for any names', () =>
  withFakeClock(async ({ storage }) => {
    expect(storage.objectCounts()).toEqual(new Map())
    const put = (key: string) => storage.commit({ ...aPut({ name: 'a' }), key, writeId: key })
    for (const key of [
      'notes',
      'rows/a',
      'apps/deployments/default/a',
      'core/pods/default/a',
      'core/pods/other/z~',
      'core/podtemplates/default/a',
      'core/nodes/a',
    ])
      expect(await put(key)).toMatchObject({ kind: 'written' })
    expect(Object.fromEntries(storage.objectCounts())).toEqual({
      'apps/deployments': 1,
      'core/nodes': 1,
      'core/pods': 2,
      'core/podtemplates': 1,
      notes: 1,
      'rows/a': 1,
    })
  }))

test('a commit whose deadline has passed is refused and not written', async () => {
  const clock = createFakeClock()
  const inner = createMemoryStore()
  const slow: Store = Object.create(inner, {
    commit: {
      value: (commit: StoreCommit) => {
        clock.advance(50)
        return inner.commit(commit)
      },
    },
    listen: { value: inner.listen.bind(inner) },
    status: { value: inner.status.bind(inner) },
    visit: { value: inner.visit.bind(inner) },
  })
  const storage = await createStorage({ store: slow, clock })
  await expect(storage.commit(aPut({ name: 'a' }), { timeoutMs: 49 })).rejects.toMatchObject({ code: 504 })
  expect((await storage.commit(aPut({ name: 'b' }), { timeoutMs: 51 })).kind).toBe('written')
  expect((await listed(storage)).names).toEqual(['b'])
  storage.close()
})

test('a change is delivered in the turn in which the commit is answered', () =>
  withFakeClock(async ({ storage }) => {
    const { revision } = await storage.status({})
    const order: string[] = []
    const next = storage.changes({ after: revision, epoch: '', resources: [] })[Symbol.asyncIterator]()
    const delivered = next.next().then(() => order.push('delivered'))
    const turn = settle().then(() => order.push('next turn'))
    await written(storage, aPut({ name: 'a' }))
    await Promise.all([delivered, turn])
    expect(order).toEqual(['delivered', 'next turn'])
    await next.return?.()
  }))

test('a stream without a reader holds nothing and resumes later, even over changes that memory has dropped', async () => {
  const { storage, close } = await opening(openDisk, { historyBytesMax: 2_000 })()
  const { revision } = await storage.status({})
  const stream = storage.changes({ after: revision, epoch: '', resources: [] })
  for (let index = 0; index < 50; index++) await written(storage, aPut({ name: `n${index}`, data: 'x'.repeat(300) }))
  const lines = await takeChanges(stream, 50)
  expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(Array.from({ length: 50 }, (_, index) => revision + 1 + index))
  await close()
})

test('a value of another schema is encoded again when it is loaded, and its version stays', async () => {
  const store = createMemoryStore()
  const first = await createStorage({ store })
  const revision = await written(first, aPut({ name: 'a', data: 'old' }))
  first.close()
  const convert = () => aPut({ name: 'a', data: 'converted' }).value!
  const second = await createStorage({ store, reencode: { isCurrent: () => false, convert } })
  expect((await listed(second)).objects).toMatchObject([{ metadata: { resourceVersion: String(revision) }, data: { text: 'converted' } }])
  second.close()
})

test('a commit of bytes that are no encoded object is refused', () =>
  withFakeClock(async ({ storage }) => {
    const commit = storage.commit({ key: 'a', expected: 0, conditions: [], value: new Uint8Array(10), writeId: 'x' })
    await expect(commit).rejects.toMatchObject({ code: 500 })
  }))

describe('restore', () => {
  test('brings earlier objects back with their uids and new versions, and removes later ones', () =>
    withFakeClock(async ({ storage }) => {
      const a = await written(storage, aPut({ name: 'a', data: 'one' }))
      const b = await written(storage, aPut({ name: 'b', data: 'kept' }))
      const c = await written(storage, aPut({ name: 'c', data: 'deleted' }))
      const snapshot = storage.snapshot()
      await written(storage, aPut({ name: 'a', data: 'two' }, { expected: a }))
      await written(storage, aDelete('core/configmaps/default/c', c))
      const late = await written(storage, aPut({ name: 'd' }))
      await storage.restore(snapshot)
      const { objects } = await listed(storage)
      expect(objects.map(({ metadata, data }) => `${metadata.name} ${metadata.uid} ${data.text}`)).toEqual([
        'a uid-a one',
        'b uid-b kept',
        'c uid-c deleted',
      ])
      expect(objects.map(({ metadata }) => Number(metadata.resourceVersion) > late)).toEqual([true, false, true])
      expect(objects[1]?.metadata.resourceVersion).toBe(String(b))
    }))

  test('ends open streams as expired, and refuses older tokens and revisions', () =>
    withFakeClock(async ({ storage }) => {
      await written(storage, aPut({ name: 'a' }))
      const snapshot = storage.snapshot()
      const before = await listed(storage)
      await written(storage, aPut({ name: 'b' }))
      const parts: ChangesPart[] = []
      const reading = (async () => {
        for await (const part of storage.changes({ after: before.head.revision, epoch: '', resources: [] })) parts.push(part)
      })()
      await storage.restore(snapshot)
      await reading
      const { epoch, revision } = await storage.status({})
      expect(epoch).not.toBe(before.head.epoch)
      expect(parts.at(-1)).toEqual({ kind: 'expired', oldest: revision, epoch })
      expect(await takeChanges(storage.changes({ after: before.head.revision, epoch: '', resources: [] }), 1)).toEqual([
        `expired ${revision}`,
      ])
      const page = { kind: 'page' as const, revision: before.head.revision, epoch: before.head.epoch }
      await expect(listed(storage, { read: page })).rejects.toMatchObject({ code: 410 })
    }))

  test.each<[string, (storage: Storage) => Promise<{ readonly kind: string }>]>([
    ['a commit', (storage) => storage.commit(aPut({ name: 'b' }))],
    ['commits together', async (storage) => at(await storage.commitAll([aPut({ name: 'b' })]), 0)],
  ])('undoes %s under way when it begins, and writes a commit requested meanwhile after it', async (_, begin) => {
    const { storage, close } = await opening(openDisk)()
    await written(storage, aPut({ name: 'a' }))
    const snapshot = storage.snapshot()
    const underWay = begin(storage)
    await Promise.resolve()
    const restored = storage.restore(snapshot)
    const meanwhile = storage.commit(aPut({ name: 'c' }))
    expect((await underWay).kind).toBe('written')
    await restored
    expect((await meanwhile).kind).toBe('written')
    expect((await listed(storage)).names).toEqual(['a', 'c'])
    await close()
  })

  test('works again and again with the same snapshot', () =>
    withFakeClock(async ({ storage }) => {
      await written(storage, aPut({ name: 'a' }))
      const snapshot = storage.snapshot()
      for (let round = 0; round < 3; round++) {
        await written(storage, aPut({ name: `extra-${round}` }))
        await storage.restore(snapshot)
        expect((await listed(storage)).names).toEqual(['a'])
      }
    }))
})

test('a store without a disk drops the past when it takes too much memory, and keeps the current state', async () => {
  const { storage, close } = await opening(createMemoryStore, { pastBytesMax: 10_000 })()
  const { revision: first } = await storage.status({})
  let expectedRevision = 0
  for (let round = 0; round < 50; round++)
    expectedRevision = await written(storage, aPut({ name: 'a', data: `${round}` }, { expected: expectedRevision }))
  await settle()
  const { compacted } = await storage.status({})
  expect(compacted).toBeGreaterThan(first)
  expect(compacted).toBeLessThan(expectedRevision)
  expect((await listed(storage)).objects.map(({ data: { text } }) => text)).toEqual(['49'])
  await close()
})

test('a store without a disk returns present and past records', async () => {
  const { storage, store, close } = await opening(createMemoryStore)()
  const first = await written(storage, aPut({ name: 'a', data: 'one' }))
  const second = await written(storage, aPut({ name: 'a', data: 'two' }, { expected: first }))
  const texts = await Promise.all(
    [first, second].map(async (revision) => new TextDecoder().decode((await store.recordAt(aPut({ name: 'a' }).key, revision))?.value)),
  )
  expect(texts.map((text) => /"text":"(\w+)"/.exec(text)?.[1])).toEqual(['one', 'two'])
  await close()
})

test('memory shows every object unchanged after its leaves are joined', async () => {
  const { storage, close } = await opening(createMemoryStore, { historyBytesMax: 100_000 })()
  const revisions = new Map<string, number>()
  const data = (name: string, round: number) => `${name} ${round} ${'x'.repeat(60_000)}`
  // Leaves are joined after so many written bytes.
  const rounds = Math.ceil(limits.tidyAtLeastBytes / 6_000_000) + 1
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < 100; index++) {
      const name = `n${String(index).padStart(3, '0')}`
      revisions.set(name, await written(storage, aPut({ name, data: data(name, round) }, { expected: revisions.get(name) ?? 0 })))
    }
    await settle()
  }
  const { objects } = await listed(storage)
  expect(objects.map(({ metadata, data: { text } }) => text === data(metadata.name, rounds - 1))).toEqual(
    Array.from({ length: 100 }, () => true),
  )
  expect(objects.map(({ metadata }) => Number(metadata.resourceVersion))).toEqual([...revisions.values()])
  await close()
})

test('LIM-12: a few large objects of the past are restored in each turn, for all readers together', async () => {
  const { storage, store, close } = await opening(createMemoryStore, { historyBytesMax: 0 })()
  const first = store.status().revision
  let revision = 0
  for (let round = 0; round < 8; round++) {
    revision = await written(storage, aPut({ name: 'a', data: `${round}${'x'.repeat(700_000)}` }, { expected: revision }))
  }
  const asked = vi.spyOn(store, 'recordAt')
  const read = async () => {
    const texts: string[] = []
    for await (const part of storage.changes({ after: first, epoch: '', resources: [] }, {})) {
      if (part.kind !== 'changes') continue
      for (const { after, before } of part.changes) texts.push([before?.value, after?.value].map(roundOf).join('→'))
      if (part.changes.at(-1)?.revision === revision) break
    }
    return texts
  }
  const reading = Promise.all([read(), read()])
  let isOver = false
  void reading.then(() => {
    isOver = true
  })
  const perTurn: number[] = []
  while (!isOver) {
    const before = asked.mock.calls.length
    await settle()
    perTurn.push(asked.mock.calls.length - before)
  }
  const all = ['→0', '0→1', '1→2', '2→3', '3→4', '4→5', '5→6', '6→7']
  expect(await reading).toEqual([all, all])
  expect(asked.mock.calls).toHaveLength(14)
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(4)
  await close()
})

const roundOf = (value: Uint8Array | undefined) => (value === undefined ? '' : /"text":"(\d)/.exec(Buffer.from(value).toString())?.[1])
