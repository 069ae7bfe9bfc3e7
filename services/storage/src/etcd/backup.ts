import { isJsonObject } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { systemChance } from '@orch/platform'
import { type Backup, BackupWriter, type RecordCounter } from '../backup/backup-file.ts'
import type { BackupResult } from '../backup/folder.ts'
import { limits } from '../limits.ts'
import { createEtcdClient, type EtcdAccess, type EtcdClient, readSurely } from './client.ts'
import { readHeads, writeEpoch } from './heads.ts'
import { endOfPrefix, frameValue, type Layout, toLayout } from './layout.ts'
import { EtcdReader } from './reader.ts'

/** The location of a store: an etcd and a prefix in it. */
export interface EtcdPlace extends EtcdAccess {
  readonly prefix: string
  readonly profile: Profile
}

class RestoreRefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RestoreRefusedError'
  }
}

/** Writes the contents of a store on etcd at one revision to a file. Storages may be using it. */
export async function backupEtcd(place: EtcdPlace, path: string, onRecord?: RecordCounter): Promise<BackupResult> {
  return withClient(place, (client, layout) => backupPrefix(client, layout, place, { path, onRecord }))
}

/** The destination of a backup. */
interface BackupTarget {
  readonly path: string
  readonly onRecord?: RecordCounter | undefined
}

async function backupPrefix(
  client: EtcdClient,
  layout: Layout,
  { profile }: EtcdPlace,
  { path, onRecord }: BackupTarget,
): Promise<BackupResult> {
  const heads = await readHeads(client, layout, profile)
  if (heads === undefined) throw new RestoreRefusedError(`${layout.all} in etcd holds no store`)
  const revision = heads.position
  const writer = new BackupWriter(path, { profile, epoch: heads.epoch.epoch, revision }, onRecord)
  try {
    await new EtcdReader(client, layout).visit(revision, (record) => writer.add(record))
    writer.finish()
  } catch (error) {
    writer.discard()
    throw error
  }
  return { profile, revision, records: writer.records }
}

interface EtcdRestoreOptions {
  /** File for a backup of the prefix's current contents; without it, a prefix with contents is refused. */
  readonly replacedPath?: string | undefined
  /** Distance above the backup's revision for an etcd that has not seen the backup's epoch. */
  readonly revisionMargin?: number
}

/**
 * Replaces a store on etcd by a backup. etcd assigns revisions itself, so objects get new revisions and the store gets a new epoch. If etcd's
 * revision is below the backup's, writes raise it, and earlier history counts as compacted. A client with an old revision gets an expired answer; an
 * old revision never refers to another state.
 */
export async function restoreEtcd(place: EtcdPlace, backup: Backup, options: EtcdRestoreOptions): Promise<BackupResult> {
  return withClient(place, (client, layout) => restorePrefix(client, layout, { place, backup, options }))
}

interface Restore {
  readonly place: EtcdPlace
  readonly backup: Backup
  readonly options: EtcdRestoreOptions
}

async function restorePrefix(client: EtcdClient, layout: Layout, { place, backup, options }: Restore): Promise<BackupResult> {
  const { replacedPath, revisionMargin = limits.restoredEtcdRevisionMargin } = options
  const candidates = await countOf(client, layout.election)
  if (candidates > 0) throw new RestoreRefusedError(`${layout.all} in etcd is in use by ${candidates} storages: stop them first`)
  const present = await readPresent(client, layout)
  if (present.state === 'store' && replacedPath === undefined)
    throw new RestoreRefusedError(`${layout.all} in etcd holds a store already; --replace saves it to a file and replaces it`)
  const isSameLine = present.epoch === backup.epoch
  if (present.state === 'store' && replacedPath !== undefined) await backupPrefix(client, layout, place, { path: replacedPath })
  // Storages refuse to start on this state until the restore ends.
  await put(client, layout.epoch, JSON.stringify({ restoring: true, epoch: present.epoch }))
  await readSurely(() => client.kv.deleteRange({ key: Buffer.from(layout.keys), range_end: endOfPrefix(layout.keys) }))
  await raise(client, layout, isSameLine ? backup.revision : backup.revision + revisionMargin)
  await writeAll(client, layout, backup)
  const { mod_revision: replaces } = await readEpoch(client, layout)
  const revision = Number((await put(client, layout.deletion, '')).revision)
  await put(client, layout.compacted, String(revision))
  const written = await writeEpoch(client, layout, { epoch: systemChance.uuid(), profile: backup.profile, replaces })
  return { profile: backup.profile, revision: written.revision, records: backup.records }
}

interface Present {
  readonly state: 'empty' | 'store' | 'restoring'
  /** '' if the store has no epoch. */
  readonly epoch: string
}

/** Reads the contents under the prefix. An interrupted restore does not count as a store. */
async function readPresent(client: EtcdClient, layout: Layout): Promise<Present> {
  const { value } = await readEpoch(client, layout)
  if (value === undefined) return { state: (await countOf(client, layout.all)) === 0 ? 'empty' : 'store', epoch: '' }
  const record: unknown = JSON.parse(value)
  const epoch = isJsonObject(record) && typeof record.epoch === 'string' ? record.epoch : ''
  return { state: isJsonObject(record) && record.restoring === true ? 'restoring' : 'store', epoch }
}

async function readEpoch(client: EtcdClient, layout: Layout): Promise<{ readonly value?: string; readonly mod_revision: Revision }> {
  const { kvs } = await readSurely(() => client.kv.range({ key: Buffer.from(layout.epoch) }))
  const [record] = kvs
  return record === undefined ? { mod_revision: 0 } : { value: record.value.toString(), mod_revision: Number(record.mod_revision) }
}

async function countOf(client: EtcdClient, prefix: string): Promise<number> {
  const range = { key: Buffer.from(prefix), range_end: endOfPrefix(prefix), count_only: true }
  return Number((await readSurely(() => client.kv.range(range))).count)
}

async function put(client: EtcdClient, key: string, value: string | Buffer): Promise<{ readonly revision: string }> {
  return (await readSurely(() => client.kv.put({ key: Buffer.from(key), value: Buffer.from(value) }))).header
}

/** Raises etcd's revision to at least this one, which only writes can do. */
async function raise(client: EtcdClient, layout: Layout, least: Revision): Promise<void> {
  let revision = Number((await put(client, layout.deletion, '')).revision)
  while (revision < least) {
    const count = Math.min(limits.restoreEtcdWritesAtOnce, least - revision)
    const headers = await Promise.all(Array.from({ length: count }, () => put(client, layout.deletion, '')))
    revision = Math.max(...headers.map((header) => Number(header.revision)))
  }
}

async function writeAll(client: EtcdClient, layout: Layout, backup: Backup): Promise<void> {
  let batch: Promise<unknown>[] = []
  for (const { key, value } of backup.read()) {
    batch.push(put(client, layout.keys + key, frameValue({ key, writeId: '', value })))
    if (batch.length < limits.restoreEtcdWritesAtOnce) continue
    await Promise.all(batch)
    batch = []
  }
  await Promise.all(batch)
}

async function withClient<T>(place: EtcdPlace, run: (client: EtcdClient, layout: Layout) => Promise<T>): Promise<T> {
  const client = createEtcdClient(place)
  try {
    return await run(client, toLayout(place.prefix))
  } finally {
    client.close()
  }
}
