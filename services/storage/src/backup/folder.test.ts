import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { openLmdbStore } from '../store/lmdb-store.ts'
import { openBackup } from './backup-file.ts'
import { backupFolder, hasState, restoreFolder } from './folder.ts'

async function openStore(directory: string): Promise<Store> {
  const store = await openLmdbStore({ directory, profile: 'orch' })
  onTestFinished(() => store.close())
  return store
}

async function put(store: Store, key: string, value: string, expected = 0): Promise<number> {
  const outcome = await store.commit({ key, value: Buffer.from(value), expected, conditions: [], writeId: 'w' })
  return outcome.kind === 'written' ? outcome.revision : expect.fail(outcome.kind)
}

async function recordsOf(store: Store) {
  const { records } = await store.range({ prefix: '', start: '', limit: 0, revision: store.status().revision })
  return records.map(({ key, revision, value }) => ({ key, revision, value: Buffer.from(value).toString() }))
}

/** A folder with two keys, of which one was changed and a third one deleted. */
async function aStore() {
  const directory = aFolder()
  const store = await openStore(directory)
  const first = await put(store, 'a/x', 'one')
  await put(store, 'a/x', 'two', first)
  await put(store, 'a/y', 'y')
  const gone = await put(store, 'a/z', 'z')
  await store.commit({ key: 'a/z', expected: gone, conditions: [], writeId: 'w' })
  return { directory, store }
}

/** A backup of `aStore`, closed. */
async function aBackup() {
  const { directory, store } = await aStore()
  const path = join(aFolder(), 'backup')
  const { epoch, revision } = store.status()
  await backupFolder(directory, path, true)
  await store.close()
  return { directory, path, epoch, revision }
}

test('a backup of a store in use has all keys at one revision, in a file with access only for its owner', async () => {
  const { directory, store } = await aStore()
  const path = join(aFolder(), 'backup')
  const { epoch, revision } = store.status()
  const before = await recordsOf(store)
  expect(await backupFolder(directory, path, true)).toEqual({ profile: 'orch', revision, records: 2 })
  await put(store, 'a/later', 'later')
  const backup = openBackup(path)
  expect(backup).toMatchObject({ profile: 'orch', epoch, revision, records: 2 })
  expect([...backup.read()].map((record) => ({ ...record, value: Buffer.from(record.value).toString() }))).toEqual(before)
  expect(statSync(path).mode & 0o077).toBe(0)
})

test('a restored store has the objects with their revisions and the epoch, and continues above all earlier revisions', async () => {
  const { directory, path, epoch, revision } = await aBackup()
  const again = await openStore(directory)
  const before = await recordsOf(again)
  const lost = await put(again, 'a/lost', 'lost')
  await again.close()
  const target = aFolder()
  await restoreFolder(target, openBackup(path))
  const store = await openStore(target)
  expect(await recordsOf(store)).toEqual(before)
  const status = store.status()
  expect(status.epoch).toBe(epoch)
  expect(status.revision).toBeGreaterThan(lost)
  expect(status.compacted).toBe(status.revision)
  for (const held of [revision, lost]) expect(await store.history(held, 10)).toMatchObject({ kind: 'compacted' })
  expect(await put(store, 'a/y', 'next', before[1]?.revision)).toBe(status.revision + 1)
  await store.close()
  expect((await recordsOf(await openStore(target))).map(({ value }) => value)).toEqual(['two', 'next'])
})

test('a state that a restore replaces is moved to another folder, and its later revisions are not reused', async () => {
  const { directory, path } = await aBackup()
  const again = await openStore(directory)
  const lost = await put(again, 'a/lost', 'lost')
  await again.close()
  const { movedTo, revision } = await restoreFolder(directory, openBackup(path))
  expect(revision).toBeGreaterThan(lost)
  const store = await openStore(directory)
  expect((await recordsOf(store)).map(({ key }) => key)).toEqual(['a/x', 'a/y'])
  await store.close()
  const moved = await openStore(movedTo ?? '')
  expect((await recordsOf(moved)).map(({ key }) => key)).toEqual(['a/lost', 'a/x', 'a/y'])
  expect(existsSync(join(directory, 'restoring'))).toBe(false)
})

test.each([
  ['is truncated', 'is truncated', (path: string) => truncateSync(path, statSync(path).size - 1)],
  ['is truncated within a record', 'is truncated', (path: string) => truncateSync(path, 150)],
  ['is empty', 'does not begin with the format', (path: string) => truncateSync(path, 0)],
  ['is another file', 'does not begin with the format', (path: string) => writeFileSync(path, 'hello\n')],
  ['has a changed byte', 'its checksum is another one', (path: string) => change(path, (bytes) => bytes.lastIndexOf('two'))],
  ['has a changed header', 'its checksum is another one', (path: string) => change(path, (bytes) => bytes.indexOf('"epoch":"') + 9)],
  ['goes on', 'goes on for 1 bytes', (path: string) => writeFileSync(path, 'x', { flag: 'a' })],
])('a backup that %s is refused with a sentence', async (_, why, damage) => {
  const { path } = await aBackup()
  damage(path)
  expect(() => openBackup(path)).toThrow(new RegExp(`^${path} is not a whole backup \\(.*${why}.*\\): nothing was restored from it$`))
})

function change(path: string, at: (bytes: Buffer) => number): void {
  const bytes = readFileSync(path)
  const index = at(bytes)
  bytes[index] = (bytes[index] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test('a backup that fails leaves no file', async () => {
  const { directory, store } = await aStore()
  const folder = aFolder()
  await store.close()
  const bytes = readFileSync(join(directory, 'state.mdb'))
  // Older pages contain a copy that nothing refers to.
  for (let at = bytes.indexOf('two'); at !== -1; at = bytes.indexOf('two', at + 1)) bytes[at] = 0
  writeFileSync(join(directory, 'state.mdb'), bytes)
  await expect(backupFolder(directory, join(folder, 'backup'), false)).rejects.toThrow(
    /is damaged \(what was written at revision \d+ has changed\)/,
  )
  expect(readdirSync(folder)).toEqual([])
})

test('a folder without a store has no state', async () => {
  const folder = aFolder()
  expect(hasState(folder)).toBe(false)
  await expect(backupFolder(folder, join(folder, 'backup'), false)).rejects.toThrow('it is missing')
})
