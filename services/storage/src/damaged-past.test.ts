import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangesPart } from '@orch/core/contracts'
import { expired } from '@orch/core/meta'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { createFakeClock } from '@orch/testkit'
import { open as openFile } from 'lmdb'
import { expect, onTestFinished, test, vi } from 'vitest'
import { limits } from './limits.ts'
import { createStorage } from './service.ts'
import { openLmdbStore } from './store/lmdb-store.ts'

function storedAs(text: string): Uint8Array {
  const encoded = encodeObject({ metadata: { name: 'a' }, data: text })
  return encodeStored({ fingerprint: 1, writeId: 'w', expiresAtMs: 0, encoded, labels: {}, fields: {} })
}

/** A damage of a closed store's log. */
type Damage = (log: {
  get(revision: number): Buffer
  put(revision: number, bytes: Buffer): Promise<boolean>
  remove(revision: number): Promise<boolean>
}) => Promise<unknown>

async function damage(directory: string, change: Damage): Promise<void> {
  const root = openFile({ path: join(directory, 'state.mdb'), noSubdir: true, encoding: 'binary' })
  const log = root.openDB<Buffer, number>({ name: 'log', encoding: 'binary' })
  await change({
    get: (revision) => Buffer.from(log.getBinary(revision) ?? []),
    put: (revision, bytes) => log.put(revision, bytes),
    remove: (revision) => log.remove(revision),
  })
  await root.close()
}

/** One bit in the middle of an entry. */
function flip(revision: number): Damage {
  return async (log) => {
    const bytes = log.get(revision)
    bytes[bytes.length >> 1]! ^= 1
    await log.put(revision, bytes)
  }
}

/** The changed key at each revision of the store. */
const ownKeys = ['', '', 'a', 'b', 'a', 'c', 'a', 'c', 'b']
/** `c` is deleted by the change before the last one. */
const deletion = 7
const last = ownKeys.length - 1

interface Written {
  /** The key of each revision. */
  readonly keys: readonly string[]
  readonly deletions: readonly number[]
}

/** A storage that was started over a store whose log was damaged after these changes: 2 a, 3 b, 4 a, 5 c, 6 a, 7 c is deleted, 8 b. */
async function aStartedStorage(change: Damage, { keys = ownKeys, deletions = [deletion] }: Partial<Written> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'damaged-past-'))
  const said: string[] = []
  const open = () =>
    openLmdbStore({
      directory,
      profile: 'orch',
      unsafeNoSync: true,
      onDamage: ({ message }) => void said.push(message),
      onPastForgotten: (what, upTo) => void said.push(`${what}: up to ${upTo}`),
    })
  const writer = await open()
  const revisions = new Map<string, number>()
  for (const [at, key] of keys.entries()) {
    if (key === '') continue
    const value = deletions.includes(at) ? {} : { value: storedAs(`${at}`) }
    const outcome = await writer.commit({
      key: `things/${key}`,
      expected: revisions.get(key) ?? 0,
      conditions: [],
      writeId: `w${at}`,
      ...value,
    })
    expect(outcome).toEqual({ kind: 'written', revision: at })
    revisions.set(key, at)
  }
  await writer.close()
  await damage(directory, change)
  const store = await open()
  const storage = await createStorage({ store, clock: createFakeClock() })
  onTestFinished(async () => {
    storage.close()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  /** Keys and revisions of a stream's changes after a revision; or `expired`. */
  const changesAfter = async (after: number) => {
    const shown: string[] = []
    for await (const part of storage.changes({ after, epoch: '', resources: [] })) {
      if (part.kind !== 'changes') return [...shown, describe(part)]
      for (const { key, revision, before } of part.changes)
        shown.push(`${key}@${revision}${before === undefined ? '' : ` was ${before.revision}`}`)
      if (part.changes.at(-1)?.revision === keys.length - 1) return shown
    }
    return shown
  }
  return { directory, storage, store, said, changesAfter }
}

function describe(part: ChangesPart): string {
  return part.kind === 'expired' ? `expired, from ${part.oldest}` : part.kind
}

const tail = ['things/c@7 was 5', 'things/b@8 was 3']

test('WATCH-15: a watch from before a damaged change expires, and a watch from its revision gets all later changes', async () => {
  const { changesAfter, said, store } = await aStartedStorage(flip(4))
  // The object before change 6 was written at revision 4, which is lost too.
  expect(await changesAfter(2)).toEqual(['expired, from 6'])
  expect(await changesAfter(5)).toEqual(['expired, from 6'])
  expect(await changesAfter(6)).toEqual(tail)
  expect(said).toEqual(['what was written at revision 4 has changed: up to 6'])
  expect(store.status().compacted).toBe(6)
})

test('a damaged past is compacted: only current values remain, and the store starts with them', async () => {
  const { changesAfter, storage, store } = await aStartedStorage(flip(4))
  await changesAfter(1)
  await storage.compact(last)
  const entries = async () =>
    (await store.range({ prefix: '', start: '', limit: 0, revision: last })).records.map(({ key, revision }) => `${key}@${revision}`)
  expect(await entries()).toEqual(['things/a@6', 'things/b@8'])
  for (const revision of [2, 3, 4, 5, 7]) expect(await store.recordAt('', revision)).toBe(undefined)
})

test('a change with a missing entry, or with an entry of another revision, expires the changes before it', async () => {
  const missing = await aStartedStorage((log) => log.remove(4))
  expect(await missing.changesAfter(2)).toEqual(['expired, from 6'])
  expect(await missing.changesAfter(6)).toEqual(tail)
  expect(missing.said).toEqual(['what was written at revision 4 is missing: up to 6'])
})

test('a missing deletion at the end expires all earlier changes', async () => {
  const { changesAfter, said, storage } = await aStartedStorage(async (log) => {
    await log.remove(deletion)
  })
  expect(await changesAfter(6)).toEqual(['expired, from 7'])
  expect(await changesAfter(deletion)).toEqual(['things/b@8 was 3'])
  expect(said).toEqual(['what was written at revision 7 is missing: up to 7'])
  expect((await storage.status({})).compacted).toBe(deletion)
})

test('a deletion that is missing as the last entry of the log expires all earlier changes', async () => {
  const written = { keys: [...ownKeys, 'b'], deletions: [deletion, 9] }
  const { changesAfter, said } = await aStartedStorage((log) => log.remove(9), written)
  expect(await changesAfter(6)).toEqual(['expired, from 9'])
  expect(said).toEqual(['what was written at revision 9 is missing: up to 9'])
})

test('damage below the compacted revision expires nothing more', async () => {
  const { changesAfter, said, storage, store } = await aStartedStorage(flip(2))
  await storage.compact(5)
  expect(said).toEqual(['what was written at revision 2 has changed: up to 5'])
  expect(store.status().compacted).toBe(5)
  expect(await changesAfter(5)).toEqual(['things/a@6 was 4', ...tail])
  for (const revision of [2, 3]) expect((await store.recordAt('', revision))?.key).toBe(revision === 3 ? 'things/b' : undefined)
})

test('a damaged past with more entries than one step of compaction is removed completely', async () => {
  const changes = limits.compactionStepEntries * 2 + 10
  const written = { keys: ['', '', ...Array.from({ length: changes }, () => 'a')], deletions: [] }
  const { storage, store } = await aStartedStorage(flip(4), written)
  const end = changes + 1
  await storage.compact(end)
  for (const revision of [2, 4, 5, limits.compactionStepEntries + 2, end - 1]) expect(await store.recordAt('', revision)).toBe(undefined)
  expect((await store.recordAt('', end))?.key).toBe('things/a')
})

test('a read below the compacted revision is a 410 and not reported as damage', async () => {
  const { storage, store, said } = await aStartedStorage(async () => {})
  await storage.compact(6)
  const expiredRead = { status: { code: 410 } }
  await expect(store.range({ prefix: '', start: '', limit: 0, revision: 4 })).rejects.toMatchObject(expiredRead)
  await expect(store.getAt('things/b', 1)).rejects.toMatchObject(expiredRead)
  expect(said).toEqual([])
})

test('a current value that has changed on the disk ends the server when compaction reads it', async () => {
  const { storage, said, directory } = await aStartedStorage(async () => {})
  overwrite(directory, 'w8things/b', { offset: 0, byte: 0 })
  await expect(storage.compact(last)).rejects.toThrow('what was written at revision 8 has changed')
  expect(said).toEqual([expect.stringMatching(/^the data file .* is damaged \(what was written at revision 8 has changed\): put back/)])
})

test('RV-29: a read at a revision whose state is damaged is a 410, also for one object', async () => {
  const { storage } = await aStartedStorage(flip(4))
  const exact = { kind: 'exact', revision: 5, asked: '5' } as const
  await expect(storage.get({ key: 'things/a', read: exact })).rejects.toMatchObject({ status: { code: 410, reason: 'Expired' } })
  const list = async () => {
    for await (const part of storage.list({
      scope: { resource: 'things' },
      selection: { labels: [], fields: [] },
      read: exact,
      limit: 0,
      start: '',
      layout: 'entries',
    }))
      if (part.kind === 'entries') return part.entries.length
    return 0
  }
  await expect(list()).rejects.toMatchObject({ status: { code: 410, message: 'The resourceVersion for the provided list is too old.' } })
})

test('compaction continues beyond a damaged change that no reader has asked for', async () => {
  const { storage, store, said } = await aStartedStorage(flip(4))
  await storage.compact(5)
  await storage.compact(last)
  expect(said).toEqual(['what was written at revision 4 has changed: up to 6'])
  for (const revision of [2, 3, 4, 5, 7]) expect(await store.recordAt('', revision)).toBe(undefined)
})

/** Overwrites bytes of a data file that the store has open. */
function overwrite(directory: string, find: string, { offset, byte }: { readonly offset: number; readonly byte: number }): void {
  const path = join(directory, 'state.mdb')
  const at = readFileSync(path).indexOf(find)
  expect(at).toBeGreaterThan(0)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.of(byte), 0, 1, at + offset)
  closeSync(file)
}

test('a current value that has changed on the disk since the start ends the server when it is read', async () => {
  const { changesAfter, said, directory } = await aStartedStorage(async () => {})
  overwrite(directory, 'w8things/b', { offset: 0, byte: 0 })
  await expect(changesAfter(1)).rejects.toThrow('what was written at revision 8 has changed')
  expect(said).toEqual([
    expect.stringMatching(/^the data file .*state\.mdb is damaged \(what was written at revision 8 has changed\): put back/),
  ])
})

test('a log whose revisions are out of order ends the server when it is read', async () => {
  const { changesAfter, said, directory } = await aStartedStorage(async () => {})
  // The second of the four bytes of the revision, which precede the 31 at the beginning of an entry: 4 becomes 64.
  overwrite(directory, 'w4things/a', { offset: -34, byte: 5 })
  await expect(changesAfter(1)).rejects.toThrow('a key of its log is not a revision')
  // A process that continues would meet the damage at each step.
  expect([...new Set(said)]).toEqual([
    expect.stringMatching(/^the data file .* is damaged \(a key of its log is not a revision\): put back/),
  ])
})

test('WATCH-15: a watch from before changes that the store cannot read expires', async () => {
  const { changesAfter, store } = await aStartedStorage(async () => {})
  vi.spyOn(store, 'recordAt').mockRejectedValue(expired('its key is gone'))
  expect(await changesAfter(2)).toEqual(['expired, from 1'])
  vi.spyOn(store, 'history').mockRejectedValue(expired('its key is gone'))
  expect(await changesAfter(2)).toEqual(['expired, from 1'])
})
