import type { Store } from '@orch/core/contracts'
import { virtualClock } from '@orch/platform'
import { aDelete, aPut, shown, written } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createStorage, type Storage, type StorageOptions } from './service.ts'
import { openLmdbStore } from './store/lmdb-store.ts'
import { createMemoryStore } from './store/memory-store.ts'

const stores: Readonly<Record<string, (now: () => number) => Store | Promise<Store>>> = {
  memory: (now) => createMemoryStore({ now }),
  lmdb: (now) => {
    const directory = aFolder()
    return openLmdbStore({ directory, profile: 'orch', now })
  },
}

async function aStorage(name: string, options: Partial<StorageOptions> = {}) {
  const time = { ms: 1_000 }
  const store = await (stores[name] ?? stores.memory)?.(() => time.ms)
  if (store === undefined) throw new Error(`no store ${name}`)
  const storage = await createStorage({ store, ...options })
  onTestFinished(async () => {
    storage.close()
    await store.close()
  })
  return { storage, store, time }
}

const all = { prefix: '', after: 0, limit: 100 }
const textOf = (value: Uint8Array | undefined) => (value === undefined ? undefined : shown(value).data.text)

/** Three changes of one object by one user, a second apart, and one of another object. */
async function someChanges(storage: Storage, time: { ms: number }): Promise<number[]> {
  const key = aPut({ name: 'a' }).key
  const first = await storage.commit(aPut({ name: 'a', data: 'one' }, { user: 'ann' }), { requestId: 'r1' })
  if (first.kind !== 'written') throw new Error(first.kind)
  time.ms += 1_000
  const second = await written(storage, aPut({ name: 'a', data: 'two' }, { expected: first.revision, user: 'ann' }))
  time.ms += 1_000
  const other = await written(storage, aPut({ name: 'ab', data: 'other' }))
  const third = await written(storage, aDelete(key, second))
  return [first.revision, second, other, third]
}

describe.each(Object.keys(stores))('the history of a store, %s', (name) => {
  test('has each change with its time, its request, its user and the objects before and after it, newest first', async () => {
    const { storage, time } = await aStorage(name)
    const [first, second, other, third] = await someChanges(storage, time)
    const { changes, revision, next } = await storage.history({ ...all, prefix: aPut({ name: 'a' }).key, isKey: true })
    expect(changes.map(({ before, after, ...change }) => ({ ...change, before: textOf(before), after: textOf(after) }))).toEqual([
      { revision: third, key: aPut({ name: 'a' }).key, timeMs: 3_000, before: 'two', after: undefined },
      { revision: second, key: aPut({ name: 'a' }).key, timeMs: 2_000, request: '', user: 'ann', before: 'one', after: 'two' },
      { revision: first, key: aPut({ name: 'a' }).key, timeMs: 1_000, request: 'r1', user: 'ann', before: undefined, after: 'one' },
    ])
    expect([revision, next]).toEqual([third, undefined])
    const prefixed = await storage.history({ ...all, prefix: aPut({ name: 'a' }).key })
    expect(prefixed.changes.map((change) => change.revision)).toEqual([third, other, second, first])
  })

  test('is read in pages, and between two revisions', async () => {
    const { storage, time } = await aStorage(name)
    const [first = 0, second = 0, other, third] = await someChanges(storage, time)
    const page = await storage.history({ ...all, limit: 2 })
    expect([page.changes.map(({ revision }) => revision), page.next]).toEqual([[third, other], other])
    const rest = await storage.history({ ...all, limit: 2, before: page.next })
    expect([rest.changes.map(({ revision }) => revision), rest.next]).toEqual([[second, first], undefined])
    const middle = await storage.history({ ...all, after: first, before: other })
    expect(middle.changes.map(({ revision }) => revision)).toEqual([second])
    const ofObject = { ...all, prefix: aPut({ name: 'a' }).key, isKey: true, limit: 1 }
    const newest = await storage.history(ofObject)
    expect([newest.changes.map(({ revision }) => revision), newest.next]).toEqual([[third], third])
    const oldest = await storage.history({ ...ofObject, before: second })
    expect([oldest.changes.map(({ revision }) => revision), oldest.next]).toEqual([[first], undefined])
    await expect(storage.history({ ...all, limit: 0 })).rejects.toMatchObject({ code: 400 })
    await expect(storage.history({ ...all, limit: 1_001 })).rejects.toMatchObject({ code: 400 })
  })

  test('has the changes after a compaction that takes place during the read', async () => {
    const { storage, time } = await aStorage(name)
    const [, second = 0, other, third] = await someChanges(storage, time)
    const reading = storage.history({ ...all, prefix: 'core/', limit: 3 })
    await storage.compact(second)
    const { changes, compacted } = await reading
    expect([changes.map(({ revision }) => revision), compacted]).toEqual([[third, other], second])
  })

  test('gives the revision of a time, and a 410 for a dropped time', async () => {
    const { storage, time } = await aStorage(name)
    await expect(storage.revisionAt({ timeMs: 5_000 })).rejects.toMatchObject({ code: 410 })
    const [first, second, , third] = await someChanges(storage, time)
    const at = async (timeMs: number) => (await storage.revisionAt({ timeMs })).revision
    expect([await at(0), await at(1_000), await at(1_999), await at(2_000), await at(9_000)]).toEqual([1, first, first, second, third])
    await storage.compact(second ?? 0)
    await expect(at(1_500)).rejects.toMatchObject({ code: 410 })
    expect(await at(9_000)).toBe(third)
  })

  test('is read in parts of about a megabyte of objects', async () => {
    const { storage, store, time } = await aStorage(name)
    let expected = 0
    for (let version = 0; version < 8; version++) {
      time.ms += 1_000
      expected = await written(storage, aPut({ name: 'a', data: String(version).repeat(200_000) }, { expected }))
    }
    const part = await store.history(1, 1_000)
    expect(part.kind === 'changes' && part.changes.length).toBe(6)
    expect(await storage.revisionAt({ timeMs: 9_000 })).toEqual({ revision: expected })
  })

  test('includes changes before a restore if the past is requested', async () => {
    const { storage, time } = await aStorage(name)
    const empty = storage.snapshot()
    const [first = 0] = await someChanges(storage, time)
    await storage.restore(empty)
    const { key } = aPut({ name: 'a' })
    const exact = { kind: 'exact', revision: first, asked: String(first) } as const
    await expect(storage.get({ key, read: exact })).rejects.toMatchObject({ code: 410 })
    const { entry } = await storage.get({ key, read: { ...exact, isPast: true } })
    expect(textOf(entry?.value)).toBe('one')
    expect((await storage.history({ ...all, prefix: key, isKey: true })).changes).toHaveLength(3)
  })

  test('has no state in the future: the read is a 400 at once, on a clock that stands still', async () => {
    const { storage } = await aStorage(name, { clock: virtualClock() })
    const { key } = aPut({ name: 'a' })
    const future = { kind: 'exact', revision: 1_000_000, asked: '1000000', isPast: true } as const
    const refused = { code: 400, message: expect.stringMatching(/^the state at 1000000 is in the future: the newest revision is \d+$/) }
    await expect(storage.get({ key, read: future })).rejects.toMatchObject(refused)
  })
})

/** About 20 KB of text that differs between versions at its beginning and end. */
const largeText = (version: number) =>
  `${version} ${Array.from({ length: 2_500 }, (_, index) => `item ${(index * 7_919) % 10_007}`).join()} ${version}`

/** Writes versions of one object; returns their revisions. */
async function largeVersions(storage: Storage, versions: number, earlier: readonly number[] = []): Promise<number[]> {
  const revisions = [...earlier]
  for (let version = earlier.length; version < earlier.length + versions; version++)
    revisions.push(await written(storage, aPut({ name: 'a', data: largeText(version) }, { expected: revisions.at(-1) ?? 0 })))
  return revisions
}

test('old versions of 20 KB with small changes take less than 400 bytes each beyond the newest 4 MB, and are read unchanged', async () => {
  const { storage, store } = await aStorage('memory', { historyBytesMax: 100_000, watchHistoryMs: Number.POSITIVE_INFINITY })
  expect(largeText(1).length).toBeGreaterThan(20_000)
  const first = await largeVersions(storage, 250)
  const before = store.status().bytes
  const later = await largeVersions(storage, 250, first)
  expect((store.status().bytes - before) / 250).toBeLessThan(400)
  const { key } = aPut({ name: 'a' })
  for (const [version, revision] of later.entries()) {
    const { entry } = await storage.get({ key, read: { kind: 'exact', revision, asked: '' } })
    expect(textOf(entry?.value), `version ${version}`).toBe(largeText(version))
  }
})

test('an old version is readable in a fork and in its base after many writes to both', async () => {
  const options = { historyBytesMax: 50_000 }
  const { storage, store } = await aStorage('memory', options)
  const { key } = aPut({ name: 'a' })
  const first = await written(storage, aPut({ name: 'a', data: largeText(0) }))
  const from = storage.snapshot()
  const forkStore = createMemoryStore({ from: store.snapshot?.() })
  const fork = await createStorage({ store: forkStore, from, ...options })
  onTestFinished(async () => {
    fork.close()
    await forkStore.close()
  })
  for (const [which, side] of [storage, fork].entries()) {
    let expected = first
    for (let version = 1; version < 250; version++)
      expected = await written(side, aPut({ name: 'a', data: largeText(which * 100 + version) }, { expected }))
  }
  for (const side of [storage, fork]) {
    const { entry } = await side.get({ key, read: { kind: 'exact', revision: first, asked: '' } })
    expect(textOf(entry?.value)).toBe(largeText(0))
  }
})

test('the past drops its oldest changes beyond its bound, and reports the last dropped one', async () => {
  const forgotten: number[] = []
  const { storage } = await aStorage('memory', { pastBytesMax: 200_000, onPastFull: (upTo) => void forgotten.push(upTo) })
  let expected = 0
  for (let version = 0; version < 12; version++)
    expected = await written(storage, aPut({ name: 'a', data: largeText(version) }, { expected }))
  expect(forgotten.length).toBeGreaterThan(0)
  await new Promise((resolve) => setImmediate(resolve))
  const { changes, compacted } = await storage.history(all)
  expect(compacted).toBe(forgotten.at(-1))
  expect(changes.map(({ revision }) => revision)).toEqual(Array.from({ length: expected - compacted }, (_, index) => expected - index))
})
