import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@orch/core/contracts'
import { findBackend, openEtcd, type Program } from '@orch/testkit/backends'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openBackup } from '../backup/backup-file.ts'
import { backupEtcd, restoreEtcd } from './backup.ts'
import { createEtcdClient } from './client.ts'
import { openEtcdStore } from './etcd-store.ts'

const backend = await findBackend('etcd')
const path = backend.kind === 'found' ? backend.path : ''
const reason = backend.kind === 'missing' ? ` [skipped: ${backend.reason}]` : ''

describe.skipIf(backend.kind === 'missing')(`backups of etcd${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-backup-'))
  let etcd: Program
  let names = 0
  beforeAll(async () => {
    etcd = await openEtcd({ path, dataDir: join(folder, 'etcd') })
  })
  afterAll(async () => {
    await etcd.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const place = (prefix: string, program = etcd) => ({ servers: [`http://${program.address}`], prefix, profile: 'orch' as const })
  const aPrefix = () => `backup-${names++}`
  const aFile = () => join(folder, `file-${names++}`)

  async function openStore(prefix: string, program = etcd) {
    const store = await openEtcdStore(place(prefix, program))
    onTestFinished(() => store.close())
    return store
  }

  async function put(store: Store, key: string, value: string, expected = 0): Promise<number> {
    const outcome = await store.commit({ key, value: Buffer.from(value), expected, conditions: [], writeId: 'w' })
    return outcome.kind === 'written' ? outcome.revision : expect.fail(outcome.kind)
  }

  async function valuesOf(store: Store): Promise<string[]> {
    const { records } = await store.range({ prefix: '', start: '', limit: 0, revision: store.status().revision })
    return records.map(({ key, value }) => `${key}=${Buffer.from(value)}`)
  }

  /** A backup, and its store, which is still open. */
  async function aBackup() {
    const prefix = aPrefix()
    const store = await openStore(prefix)
    await put(store, 'a/y', 'y')
    const held = await put(store, 'a/x', 'x')
    const file = aFile()
    await backupEtcd(place(prefix), file)
    return { prefix, store, file, held }
  }

  test('a prefix that storages use, or that holds a store, is refused and stays unchanged', async () => {
    const { prefix, store, file } = await aBackup()
    await put(store, 'a/later', 'later')
    await vi.waitFor(() => expect(store.leadership.isLeader).toBe(true))
    await expect(restoreEtcd(place(prefix), openBackup(file), { replacedPath: aFile() })).rejects.toThrow('is in use by 1 storages')
    await store.close()
    await expect(restoreEtcd(place(prefix), openBackup(file), {})).rejects.toThrow('holds a store already')
    expect(await valuesOf(await openStore(prefix))).toEqual(['a/later=later', 'a/x=x', 'a/y=y'])
  })

  test('a replaced store is saved first; the restored store has another epoch, and earlier revisions are expired', async () => {
    const { prefix, store, file, held } = await aBackup()
    const lost = await put(store, 'a/later', 'later')
    const { epoch } = store.status()
    await vi.waitFor(() => expect(store.leadership.isLeader).toBe(true))
    await store.close()
    const replacedPath = aFile()
    await restoreEtcd(place(prefix), openBackup(file), { replacedPath })
    expect([...openBackup(replacedPath).read()].map(({ key }) => key)).toEqual(['a/later', 'a/x', 'a/y'])
    const restored = await openStore(prefix)
    expect(await valuesOf(restored)).toEqual(['a/x=x', 'a/y=y'])
    expect(restored.status().epoch).not.toBe(epoch)
    for (const revision of [held, lost]) expect(await restored.history(revision, 10)).toMatchObject({ kind: 'compacted' })
  })

  test('a new etcd is moved above all revisions of the backup before it gets an object', async () => {
    const { file } = await aBackup()
    const other = await openEtcd({ path, dataDir: join(folder, `other-${names++}`) })
    onTestFinished(() => other.stop())
    const backup = openBackup(file)
    await restoreEtcd(place('new', other), backup, { revisionMargin: 100 })
    const restored = await openStore('new', other)
    const { records } = await restored.range({ prefix: '', start: '', limit: 0, revision: restored.status().revision })
    expect(records.map(({ key, revision }) => [key, revision > backup.revision + 100])).toEqual([
      ['a/x', true],
      ['a/y', true],
    ])
    expect(await restored.history(backup.revision + 50, 10)).toMatchObject({ kind: 'compacted' })
  })

  test('storages refuse a partly restored store, and the next restore replaces it', async () => {
    const { file } = await aBackup()
    const prefix = aPrefix()
    const client = createEtcdClient(place(prefix))
    onTestFinished(() => client.close())
    await client.put(`/${prefix}/epoch`).value(JSON.stringify({ restoring: true, epoch: '' }))
    await expect(openEtcdStore(place(prefix))).rejects.toThrow(
      `a restore of /${prefix}/ in etcd has not been finished: run orch restore again`,
    )
    await restoreEtcd(place(prefix), openBackup(file), { revisionMargin: 10 })
    expect(await valuesOf(await openStore(prefix))).toEqual(['a/x=x', 'a/y=y'])
  })
})
