import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { open } from 'lmdb'
import { describe, expect, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import { DamagedStoreError } from './data-folder.ts'
import { openLmdbStore, openTables, viewFolder } from './lmdb-store.ts'
import type { Batch, LogEntry, Meta } from './tables.ts'

const opened = (directory: string, epoch = 'e') => openTables({ open, directory, profile: 'orch', unsafeNoSync: true, epoch })

const aBatch = (more: Partial<Batch>): Batch => ({ appended: [], removed: [], meta: {}, purpose: 'put', ...more })
const anEntry = (revision: number, key: string, value: string | Uint8Array | undefined, replaces = 0): LogEntry => ({
  ...{ revision, previous: revision - 1, replaces, key, writeId: `w${revision}` },
  value: typeof value === 'string' ? Buffer.from(value) : value,
})

/** A folder whose store has written a put at 2, a put at 3 and the deletion of the first at 4. */
async function aUsedFolder(): Promise<string> {
  const directory = aFolder()
  const tables = await opened(directory)
  const appended = [anEntry(2, 'a/x', 'x'), anEntry(3, 'a/y', 'y'), anEntry(4, 'a/x', undefined, 2)]
  await tables.write(aBatch({ appended, meta: { revision: 4 } }))
  await tables.close()
  return directory
}

type Tree = 'about' | 'latest' | 'log'

/** Writes to the data file without the store; undefined removes. */
async function meddle(directory: string, tree: Tree, key: string | number, value: Buffer | undefined): Promise<void> {
  const root = open({ path: join(directory, 'state.mdb'), noSubdir: true, encoding: 'binary' })
  const database = root.openDB<Buffer, string | number>({ name: tree, encoding: 'binary' })
  if (value === undefined) await database.remove(key)
  else await database.put(key, value)
  await root.close()
}

const revisionBytes = (revision: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(revision)
  return bytes
}

test('a new store begins at revision 1 with its epoch, in files that only their owner can read', async () => {
  const directory = join(aFolder(), 'deep', 'down')
  const store = await openLmdbStore({ directory, profile: 'orch', randomId: () => 'mine' })
  expect(store.status()).toMatchObject({ epoch: 'mine', revision: 1 })
  await store.close()
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  const lock = statSync(join(directory, 'state.mdb-lock'))
  expect([lock.mode & 0o077, lock.size >= 12 * 1024]).toEqual([0, true])
  const tables = await opened(directory)
  expect(tables.meta).toEqual({ profile: 'orch', epoch: 'mine', revision: 1, compacted: 1, swept: 1 })
  await tables.close()
})

test('the notes of a store are kept over another opening, with and without the mark of the folder', async () => {
  const directory = await aUsedFolder()
  for (const hasMark of [true, false]) {
    if (!hasMark) rmSync(join(directory, 'initialized'))
    const tables = await opened(directory, 'another')
    expect(tables.meta).toEqual({ profile: 'orch', epoch: 'e', revision: 4, compacted: 1, swept: 1 })
    await tables.close()
  }
})

test.each<[keyof Meta, string | undefined, string]>([
  ['profile', undefined, "its own record of 'profile' is missing or unreadable"],
  ['epoch', '{', "its own record of 'epoch' is missing or unreadable"],
  ['profile', '1', "its own record of 'profile' is not a text"],
  ['epoch', 'null', "its own record of 'epoch' is not a text"],
  ['revision', '"4"', "its own record of 'revision' is not a revision"],
  ['compacted', '1.5', "its own record of 'compacted' is not a revision"],
  ['swept', 'null', "its own record of 'swept' is not a revision"],
  ['revision', '3', 'its log goes on to revision 4, beyond 3'],
])('a record of %s that reads %s is damage', async (name, text, what) => {
  const directory = await aUsedFolder()
  await meddle(directory, 'about', name, text === undefined ? undefined : Buffer.from(text))
  const failure = await opened(directory).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(DamagedStoreError)
  expect(failure).toHaveProperty('message', expect.stringContaining(`(${what})`))
})

test('the latest revision of a key is that of its last put, and 0 after its deletion', async () => {
  const tables = await opened(await aUsedFolder())
  expect([tables.latest.get('a/x'), tables.latest.get('a/y'), tables.latest.get('a/z')]).toEqual([undefined, 3, undefined])
  expect(Buffer.from(tables.recall('a/y', 3)).toString()).toBe('y')
  expect(tables.entry(3)).toMatchObject({ key: 'a/y', revision: 3, previous: 2, writeId: 'w3' })
  expect(tables.entry(5)).toBeUndefined()
  expect(tables.entry(4)).toMatchObject({ key: 'a/x', replaces: 2 })
  expect(tables.entry(4)?.value).toBeUndefined()
  await tables.close()
})

test.each([
  ['nothing was written there', { key: 'a/y', revision: 9 }],
  ['the entry is a deletion', { key: 'a/x', revision: 4 }],
  ['the entry is of another key', { key: 'a/x', revision: 3 }],
])('an index entry of the latest revision is damage if %s', async (_why, latest) => {
  const tables = await opened(await aUsedFolder())
  const read = () => tables.recall(latest.key, latest.revision)
  expect(read).toThrow(DamagedStoreError)
  expect(read).toThrow(`the latest revision of ${latest.key} is ${latest.revision}, and nothing was written to it there`)
  await tables.close()
})

test.each([
  ['seven bytes', Buffer.alloc(7)],
  ['a fraction', revisionBytes(1.5)],
  ['no number', revisionBytes(Number.NaN)],
])('a latest revision that is %s is damage, in a read by key and of a range', async (_what, bytes) => {
  const directory = await aUsedFolder()
  await meddle(directory, 'latest', 'a/y', bytes)
  const tables = await opened(directory)
  const message = 'the latest revision of a/y is not a revision'
  expect(() => tables.latest.get('a/y')).toThrow(message)
  expect(() => [...tables.keys({ prefix: 'a/', start: '' })]).toThrow(message)
  expect(() => tables.visit(() => {})).toThrow(message)
  await tables.close()
})

test('a key of the log that is no revision is damage', async () => {
  const directory = await aUsedFolder()
  await meddle(directory, 'log', 2.5, Buffer.from('x'))
  const tables = await opened(directory)
  expect(() => [...tables.entries(0)]).toThrow('a key of its log is not a revision')
  await tables.close()
})

test('ranges of keys begin at the later of prefix and start, and end with the prefix', async () => {
  const tables = await opened(aFolder())
  const keys = ['a', 'a/x', 'a/y', 'a/z', 'a0', 'b/x']
  await tables.write(aBatch({ appended: keys.map((key, index) => anEntry(index + 2, key, key)), meta: { revision: 7 } }))
  const span = (prefix: string, start: string) => [...tables.keys({ prefix, start })].map(({ key }) => key)
  expect(span('', '')).toEqual(keys)
  expect(span('', 'a/y')).toEqual(['a/y', 'a/z', 'a0', 'b/x'])
  expect(span('a/', '')).toEqual(['a/x', 'a/y', 'a/z'])
  expect(span('a/', 'a/y')).toEqual(['a/y', 'a/z'])
  expect(span('a/', 'a')).toEqual(['a/x', 'a/y', 'a/z'])
  expect(span('a/', 'b')).toEqual([])
  expect([...tables.keys({ prefix: 'b/', start: '' })]).toEqual([{ key: 'b/x', revision: 7 }])
  await tables.close()
})

test('all keys are visited in order, for any number, until the callback fails', async () => {
  const tables = await opened(aFolder())
  const entries = Array.from({ length: 300 }, (_, index) => anEntry(index + 2, `k${String(299 - index).padStart(3, '0')}`, `v${index}`))
  await tables.write(aBatch({ appended: entries }))
  await tables.write(aBatch({ appended: [anEntry(302, 'k100', undefined, 201), anEntry(303, 'k101', 'new', 200)] }))
  const seen: string[] = []
  tables.visit(({ key, revision, value }) => void seen.push(`${key} ${revision} ${Buffer.from(value)}`))
  const expected = entries.map(({ key, revision, value }) => `${key} ${revision} ${value}`).toSorted()
  expect(seen).toEqual(expected.filter((one) => !one.startsWith('k100')).map((one) => (one.startsWith('k101') ? 'k101 303 new' : one)))
  const failing = vi.fn(() => {
    throw new Error('no')
  })
  expect(() => tables.visit(failing)).toThrow('no')
  expect(failing).toHaveBeenCalledTimes(1)
  await tables.close()
})

test('the first bytes of a large value are returned, and the rest is read on demand', async () => {
  const directory = aFolder()
  const tables = await opened(directory)
  const [large, small] = [Buffer.alloc(limits.unreadBytesMin, 'l'), Buffer.from('s')]
  await tables.write(aBatch({ appended: [anEntry(2, 'a', large), anEntry(3, 'b', small), anEntry(4, 'c', large)], meta: { revision: 4 } }))
  await tables.close()
  // The entry as a version without the first bytes has written it.
  await meddle(directory, 'latest', 'c', revisionBytes(4))
  // If the store read the value, it would find it missing.
  await meddle(directory, 'log', 2, undefined)
  const again = await opened(directory)
  const seen: unknown[] = []
  again.visit((record) => {
    const { key, revision, front } = record
    seen.push([key, revision, front && [Buffer.from(front.bytes), front.length]])
    if (key === 'a') expect(() => record.value).toThrow(DamagedStoreError)
    else expect(Buffer.from(record.value)).toEqual(key === 'b' ? small : large)
  })
  expect(seen).toEqual([
    ['a', 2, [large.subarray(0, limits.frontBytesMax), large.length]],
    ['b', 3, undefined],
    ['c', 4, [large, large.length]],
  ])
  expect([...again.keys({ prefix: '', start: '' })].map(({ revision }) => revision)).toEqual([2, 3, 4])
  expect(again.latest.get('a')).toBe(2)
  await again.close()
})

test('changed first bytes of a value in the index are damage', async () => {
  const directory = aFolder()
  const tables = await opened(directory)
  await tables.write(aBatch({ appended: [anEntry(2, 'a', Buffer.alloc(limits.unreadBytesMin))], meta: { revision: 2 } }))
  await tables.close()
  await meddle(directory, 'latest', 'a', Buffer.concat([revisionBytes(2), Buffer.alloc(20)]))
  const again = await opened(directory)
  expect(() => again.visit(() => {})).toThrow('what its index says of a has changed')
  await again.close()
})

test('entries after a revision are returned oldest first, without removed entries', async () => {
  const tables = await opened(await aUsedFolder())
  const after = (revision: number) => [...tables.entries(revision)].map((entry) => entry.revision)
  expect([after(0), after(2), after(4)]).toEqual([[2, 3, 4], [3, 4], []])
  await tables.write(aBatch({ removed: [2, 4], meta: { swept: 4 }, purpose: 'sweep' }))
  expect(after(0)).toEqual([3])
  await tables.close()
})

test('values of any length are read unchanged, in the same batch and in the next', async () => {
  const tables = await opened(aFolder())
  const value = (revision: number, length: number) => Buffer.alloc(length, revision)
  const lengths = [0, 10, 70_000, 40_000, 200_000, 30]
  const entries = lengths.map((length, index) => anEntry(index + 2, `k${index}`, value(index + 2, length)))
  for (const part of [entries.slice(0, 2), entries.slice(2, 5), entries.slice(5)]) await tables.write(aBatch({ appended: part }))
  for (const { revision, key, value } of entries) {
    expect(Buffer.compare(tables.entry(revision)?.value ?? Buffer.from('absent'), value ?? Buffer.from(''))).toBe(0)
    expect(Buffer.compare(tables.recall(key, revision), value ?? Buffer.from(''))).toBe(0)
  }
  await tables.close()
})

test('used and free pages equal the counts of LMDB', async () => {
  const tables = await opened(aFolder())
  const entries = Array.from({ length: 300 }, (_, index) => anEntry(index + 2, `k${index}`, Buffer.alloc(6_000)))
  await tables.write(aBatch({ appended: entries }))
  const { pageSize, usedPages, freePages, log, latest } = tables.measure()
  expect(tables.sizes()).toEqual({ bytes: usedPages * pageSize, freeBytes: freePages * pageSize })
  expect(log).toMatchObject({ depth: 2, branchPages: 1, overflowPages: 600 })
  expect(latest).toMatchObject({ depth: 2, branchPages: 1, overflowPages: 0 })
  expect(usedPages - freePages).toBeGreaterThan(600 + log.leafPages + latest.leafPages)
  expect(freePages).toBeLessThan(50)
  await tables.write(aBatch({ removed: entries.map(({ revision }) => revision), purpose: 'sweep' }))
  expect(tables.measure().freePages).toBeGreaterThan(550)
  await tables.close()
})

test('a batch that LMDB refuses is an error with the folder and the reason', async () => {
  const directory = aFolder()
  const tables = await opened(directory)
  const appended = [anEntry(2, 'a', 'a'), anEntry(3, 'k'.repeat(5_000), 'b')]
  await expect(tables.write(aBatch({ appended }))).rejects.toThrow(
    `the data file ${directory}/state.mdb can't be written (Key size is larger than the maximum key size (1978))`,
  )
  await tables.close()
})

describe('a view of a folder', () => {
  test.each([false, true])('shows the size, the revisions, the keys and the values of a store (in use: %s)', async (isInUse) => {
    const directory = await aUsedFolder()
    const tables = isInUse ? await opened(directory) : undefined
    const view = await viewFolder(directory, isInUse)
    expect(view.meta()).toEqual({ profile: 'orch', epoch: 'e', revision: 4, compacted: 1, swept: 1 })
    expect([...view.keys()]).toEqual([{ key: 'a/y', revision: 3 }])
    expect(Buffer.from(view.valueOf('a/y', 3)).toString()).toBe('y')
    await view.close()
    await tables?.close()
  })

  test('refuses a value that is absent, or that was not written to its key', async () => {
    const view = await viewFolder(await aUsedFolder(), false)
    for (const [key, revision] of [['a/x', 3], ['a/x', 4], ['a/y', 9]] as const) // biome-ignore format: a table
      expect(() => view.valueOf(key, revision)).toThrow(`the latest revision of ${key} is ${revision}, and nothing was written to it there`)
    await view.close()
  })

  test('refuses a folder without a data file, and a folder of an unknown profile', async () => {
    await expect(viewFolder(aFolder(), false)).rejects.toThrow('it is missing')
    await expect(viewFolder(aFolder(), true)).rejects.toThrow('it is missing')
    const directory = await aUsedFolder()
    await meddle(directory, 'about', 'profile', Buffer.from('"other"'))
    const view = await viewFolder(directory, false)
    expect(() => view.meta()).toThrow("its profile 'other' is unknown")
    await view.close()
  })
})
