import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangesPart, Entry, ListRequest, Store } from '@orch/core/contracts'
import { decodeStored, encodeObject, encodeStored, fillRevision } from '@orch/core/stored'
import { createFakeClock } from '@orch/testkit'
import { open as openFile } from 'lmdb'
import { expect, onTestFinished, test, vi } from 'vitest'
import { limits } from './limits.ts'
import { createStorage, type StorageOptions } from './service.ts'
import { DamagedStoreError } from './store/data-folder.ts'
import { type LmdbStoreOptions, openLmdbStore } from './store/lmdb-store.ts'

const latest = { kind: 'latest' } as const
const [first, second, small] = ['things/large-a', 'things/large-b', 'things/small'] as const
const keys = [first, second, small]

function storedAs(key: string, text: string, more: Readonly<Record<string, string>> = {}): Uint8Array {
  const name = key.slice(key.indexOf('/') + 1)
  const data = text.repeat(key === small ? 1 : limits.unreadBytesMin)
  const encoded = encodeObject({ metadata: { name }, data })
  return encodeStored({ fingerprint: 1, writeId: 'w', expiresAtMs: 0, encoded, labels: { name, ...more }, fields: {} })
}

/** The served form of an object. */
function served(key: string, text: string, revision: number): string {
  const { json, hole } = decodeStored(storedAs(key, text))
  return textOf(fillRevision(json, hole, revision))
}

/** Removes repetitions, for error messages. */
function textOf(bytes: Uint8Array | undefined): string {
  const text = Buffer.from(bytes ?? []).toString()
  return text.replaceAll(/(.)\1{99,}/g, (run, letter) => `${letter}*${run.length}`)
}

/** Changes one byte in the middle of the value written at a revision. */
async function damage(directory: string, revision: number): Promise<void> {
  const root = openFile({ path: join(directory, 'state.mdb'), noSubdir: true, encoding: 'binary' })
  const log = root.openDB<Buffer, number>({ name: 'log', encoding: 'binary' })
  const bytes = Buffer.from(log.getBinary(revision) ?? [])
  bytes[bytes.length >> 1]! ^= 1
  await log.put(revision, bytes)
  await root.close()
}

interface Given extends Partial<StorageOptions>, Pick<LmdbStoreOptions, 'onDamage'> {
  /** The object that has changed on the disk when the storage starts. */
  readonly damaged?: string
  /** The object with one more label. */
  readonly labelled?: { readonly key: string; readonly value: string }
}

/** A storage that was started over two large objects and a small one, and the keys that it has read on demand since. */
async function aStartedStorage({ damaged, labelled, onDamage, ...options }: Given = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'unread-'))
  const open = () => openLmdbStore({ directory, profile: 'orch', onDamage, unsafeNoSync: true })
  const writer = await open()
  const revisions: Record<string, number> = {}
  for (const key of keys) {
    const value = storedAs(key, 'o', key === labelled?.key ? { label: labelled.value } : {})
    const outcome = await writer.commit({ key, expected: 0, conditions: [], value, writeId: 'w' })
    if (outcome.kind === 'written') revisions[key] = outcome.revision
  }
  await writer.close()
  if (damaged !== undefined) await damage(directory, revisions[damaged] ?? 0)
  const store = await open()
  const recall = vi.spyOn(store as Required<Store>, 'recall')
  const storage = await createStorage({ store, ...options })
  onTestFinished(async () => {
    storage.close()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const revisionOf = (key: string) => revisions[key] ?? 0
  const list = async (request: Partial<ListRequest> = {}) => {
    const asked = { scope: { resource: 'things' }, selection: { labels: [], fields: [] }, read: latest, limit: 0, start: '', ...request }
    const entries: Entry[] = []
    let joined = ''
    for await (const part of storage.list({ layout: 'entries', ...asked })) {
      if (part.kind === 'entries') entries.push(...part.entries)
      if (part.kind === 'chunk') joined += `${joined === '' ? '' : ','}${textOf(part.bytes)}`
    }
    return { entries, joined }
  }
  const write = async (key: string, text: string | undefined) => {
    const value = text === undefined ? {} : { value: storedAs(key, text) }
    const outcome = await storage.commit({ key, expected: revisionOf(key), conditions: [], writeId: `w ${text}`, ...value })
    if (outcome.kind !== 'written') throw new Error(outcome.kind)
    return outcome.revision
  }
  const getText = async (key: string) => textOf((await storage.get({ key, read: latest })).entry?.value)
  return { storage, recalled: () => recall.mock.calls.map(([key]) => key), revisionOf, list, write, getText }
}

async function nextChanges(parts: AsyncIterable<ChangesPart>) {
  for await (const part of parts) if (part.kind === 'changes') return part.changes
  return []
}

test('a start reads no large object, and each is read once, when it is first used', async () => {
  const { recalled, revisionOf, getText } = await aStartedStorage()
  expect(recalled()).toEqual([])
  expect(await getText(small)).toBe(served(small, 'o', revisionOf(small)))
  expect(recalled()).toEqual([])
  for (let round = 0; round < 2; round++) expect(await getText(first)).toBe(served(first, 'o', revisionOf(first)))
  expect(recalled()).toEqual([first])
})

test('entries of a list, also copied entries, are read when their bytes are used', async () => {
  const { recalled, revisionOf, list } = await aStartedStorage()
  const { entries } = await list()
  expect(entries.map(({ key, revision, writeId }) => [key, revision, writeId])).toEqual(keys.map((key) => [key, revisionOf(key), 'w']))
  expect(recalled()).toEqual([])
  const [copy] = entries.map((entry) => ({ ...entry }))
  expect(textOf(copy?.value)).toBe(served(first, 'o', revisionOf(first)))
  const { value, metadataStart, metadataEnd } = entries[1]!
  expect(JSON.parse(textOf(value.subarray(metadataStart, metadataEnd)))).toMatchObject({ name: 'large-b' })
})

test('joined lists, pages and selections contain objects that were not loaded', async () => {
  const whole = (revisionOf: (key: string) => number) => keys.map((key) => served(key, 'o', revisionOf(key))).join(',')
  const one = await aStartedStorage()
  expect((await one.list({ layout: 'joined' })).joined).toBe(whole(one.revisionOf))
  const two = await aStartedStorage()
  const selection = { labels: [{ key: 'name', operator: 'In', values: ['large-b'] }], fields: [] } as const
  expect((await two.list({ layout: 'joined', selection })).joined).toBe(served(second, 'o', two.revisionOf(second)))
  expect((await two.list({ layout: 'joined', limit: 1 })).joined).toBe(served(first, 'o', two.revisionOf(first)))
})

test('a joined list reads no large object outside of the list', async () => {
  const { recalled, revisionOf, list } = await aStartedStorage()
  expect((await list({ layout: 'joined', start: 'small' })).joined).toBe(served(small, 'o', revisionOf(small)))
  expect((await list({ layout: 'joined', start: 'large-b', limit: 1 })).joined).toBe(served(second, 'o', revisionOf(second)))
  expect(recalled()).toEqual([second])
})

test('a write that replaces or deletes an unloaded object returns it, and so does the past', async () => {
  const { storage, revisionOf, write, getText } = await aStartedStorage()
  const { revision: after, epoch } = await storage.status({})
  const changed = await write(first, 'n')
  const deleted = await write(second, undefined)
  const changes = await nextChanges(storage.changes({ after, epoch, resources: ['things'] }))
  expect(changes.map(({ key, before }) => [key, before?.revision, textOf(before?.value)])).toEqual(
    [first, second].map((key) => [key, revisionOf(key), served(key, 'o', revisionOf(key))]),
  )
  expect(await getText(first)).toBe(served(first, 'n', changed))
  for (const key of [first, second]) {
    const { entry } = await storage.getAt({ key, revision: after })
    expect(textOf(entry?.value)).toBe(served(key, 'o', revisionOf(key)))
  }
  const exact = { kind: 'exact', revision: after, asked: String(after) } as const
  const { entry } = await storage.get({ key: second, read: exact })
  expect(textOf(entry?.value)).toBe(served(second, 'o', revisionOf(second)))
  // A compaction removes replaced values from the store; current values stay readable.
  await storage.compact(deleted)
  expect(await getText(first)).toBe(served(first, 'n', changed))
})

test('a returned entry never changes, even if the object is replaced and the past is compacted', async () => {
  const { storage, revisionOf, list, write } = await aStartedStorage()
  const { entries } = await list()
  const revision = await write(first, 'n')
  await storage.compact(revision)
  expect(textOf(entries[0]?.value)).toBe(served(first, 'o', revisionOf(first)))
  expect(textOf(entries[1]?.value)).toBe(served(second, 'o', revisionOf(second)))
})

test('a large object whose labels fill the first bytes is read at the start', async () => {
  const long = 'l'.repeat(limits.frontBytesMax)
  const { recalled, revisionOf, list, getText } = await aStartedStorage({ labelled: { key: second, value: long } })
  const selection = { labels: [{ key: 'label', operator: 'In', values: [long] }], fields: [] } as const
  expect((await list({ selection })).entries.map(({ key }) => key)).toEqual([second])
  expect(await getText(second)).toBe(served(second, 'o', revisionOf(second)))
  expect(recalled()).toEqual([])
})

test('an object that is encoded again at the start is read from memory', async () => {
  const reencode = {
    isCurrent: (key: string) => key !== first,
    convert: (key: string) => storedAs(key, 'r'),
  }
  const { recalled, revisionOf, getText } = await aStartedStorage({ reencode })
  expect(await getText(first)).toBe(served(first, 'r', revisionOf(first)))
  expect(await getText(second)).toBe(served(second, 'o', revisionOf(second)))
  expect(recalled()).toEqual([second])
})

/** A storage that records reported damage, with its reporter. */
async function aDamagedStorage(options: Given) {
  const reported: string[] = []
  const clock = createFakeClock()
  const started = await aStartedStorage({
    clock,
    onDamage: ({ message }) => void reported.push(`store: ${message}`),
    onError: (error, what) => void reported.push(`${what}: ${error instanceof Error ? error.message : error}`),
    ...options,
  })
  const damaged = expect.stringMatching(/^store: the data file .* is damaged \(what was written at revision \d+ has changed\)/)
  return { ...started, clock, reported, damaged }
}

test('STORE-04: a large object that has changed on the disk is reported before its reader gets an error, and affects nothing else', async () => {
  const { revisionOf, list, getText, reported, damaged } = await aDamagedStorage({ damaged: first })
  for (const key of [second, small]) expect(await getText(key)).toBe(served(key, 'o', revisionOf(key)))
  const { entries } = await list()
  expect(reported).toEqual([])
  expect(() => entries[0]?.value).toThrow('is damaged (what was written')
  expect(reported).toEqual([damaged])
})

test('STORE-04: a large object that has changed on the disk is found soon after the start without being read', async () => {
  const { clock, recalled, reported, damaged } = await aDamagedStorage({ damaged: second })
  clock.advance(limits.unreadCheckDelayMs - 1)
  await new Promise(setImmediate)
  expect(recalled()).toEqual([])
  clock.advance(1)
  await new Promise(setImmediate)
  expect(recalled()).toEqual([first, second])
  expect(reported).toEqual([damaged, expect.stringMatching(/^checking an object: the data file/)])
})

test('STORE-04: the check after the start leaves out large objects that have been read or replaced, and it ends with the storage', async () => {
  const one = await aDamagedStorage({})
  await one.getText(first)
  await one.write(second, 'n')
  const before = one.recalled()
  one.clock.advance(limits.unreadCheckDelayMs)
  await new Promise(setImmediate)
  expect(one.recalled()).toEqual(before)
  const two = await aDamagedStorage({})
  two.storage.close()
  two.clock.advance(limits.unreadCheckDelayMs)
  await new Promise(setImmediate)
  expect(two.recalled()).toEqual([])
})

test('STORE-04: a start fails if a large object that it has to read has changed on the disk', async () => {
  const reencode = { isCurrent: () => false, convert: (_key: string, value: Uint8Array) => value }
  await expect(aDamagedStorage({ damaged: first, reencode })).rejects.toThrow(DamagedStoreError)
  const labelled = { key: first, value: 'l'.repeat(limits.frontBytesMax) }
  await expect(aDamagedStorage({ damaged: first, labelled })).rejects.toThrow(DamagedStoreError)
})
