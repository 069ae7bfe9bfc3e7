import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Revision } from '@orch/core/meta'
import type { Profile } from '@orch/core/names'
import { systemChance } from '@orch/platform'
import { limits } from '../limits.ts'
import { restoringName, storeFiles, syncFolder } from '../store/data-folder.ts'
import { type FolderView, openTables, viewFolder } from '../store/lmdb-store.ts'
import type { LogEntry } from '../store/tables.ts'
import { type Backup, BackupWriter, type RecordCounter } from './backup-file.ts'

/** Prefix of the names of folders with replaced states. */
const movedPrefix = 'replaced-'

/** The result of a backup or a restore. */
export interface BackupResult {
  readonly profile: Profile
  readonly revision: Revision
  readonly records: number
}

/** Writes the contents of a folder's store at one revision to a file. A server may be running on the folder. */
export async function backupFolder(directory: string, path: string, isInUse: boolean, onRecord?: RecordCounter): Promise<BackupResult> {
  const view = await viewFolder(directory, isInUse)
  try {
    // One turn uses one read transaction, which sees one revision.
    const { profile, epoch, revision } = view.meta()
    const writer = new BackupWriter(path, { profile, epoch, revision }, onRecord)
    try {
      for (const { key, revision: at } of view.keys()) writer.add({ key, revision: at, value: view.valueOf(key, at) })
      writer.finish()
    } catch (error) {
      writer.discard()
      throw error
    }
    return { profile, revision, records: writer.records }
  } finally {
    await view.close()
  }
}

/** The result of restoring a folder. */
export interface RestoredFolder extends BackupResult {
  /** The folder to which the previous state was moved; undefined if the folder was empty. */
  readonly movedTo?: string
}

/**
 * Replaces the state of a folder by a backup. The caller has locked the folder. Objects keep their revisions and the store keeps its epoch. The
 * store's revision is set far above any that was used since the backup, and all earlier history counts as compacted, so that clients with an old
 * revision get an expired answer. The previous state is moved to another folder.
 */
export async function restoreFolder(directory: string, backup: Backup): Promise<RestoredFolder> {
  const work = join(directory, restoringName)
  rmSync(work, { recursive: true, force: true })
  const revision = Math.max(backup.revision, await lastRevisionOf(directory)) + limits.restoredRevisionJump
  try {
    await fill(work, backup, revision)
    const movedTo = putInPlace(work, directory)
    return { profile: backup.profile, revision, records: backup.records, ...(movedTo === undefined ? {} : { movedTo }) }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The last revision of the store in the folder, or of a store that an interrupted restore has moved: clients may know its revisions. */
async function lastRevisionOf(directory: string): Promise<Revision> {
  const revision = await revisionOf(directory)
  if (revision > 0 || !hasState(directory)) return revision
  let last = 0
  for (const name of readdirSync(directory).filter((one) => one.startsWith(movedPrefix))) {
    last = Math.max(last, await revisionOf(join(directory, name)))
  }
  return last
}

/** 0 if the folder has no readable store. */
async function revisionOf(directory: string): Promise<Revision> {
  let view: FolderView | undefined
  try {
    view = await viewFolder(directory, false)
    return view.meta().revision
  } catch {
    return 0
  } finally {
    await view?.close()
  }
}

async function fill(directory: string, backup: Backup, revision: Revision): Promise<void> {
  const { open } = await import('lmdb')
  mkdirSync(directory, { mode: 0o700 })
  const tables = await openTables({ open, directory, profile: backup.profile, unsafeNoSync: false, epoch: systemChance.uuid() })
  try {
    let appended: LogEntry[] = []
    let bytes = 0
    const flush = async () => {
      await tables.write({ appended, removed: [], meta: {}, purpose: 'put' })
      appended = []
      bytes = 0
    }
    for (const { key, revision: at, value } of backup.read()) {
      appended.push({ revision: at, previous: at - 1, replaces: 0, key, writeId: '', value })
      bytes += value.length
      if (bytes >= limits.restoreBatchBytes) await flush()
    }
    await flush()
    const meta = { epoch: backup.epoch, revision, compacted: revision, swept: revision }
    await tables.write({ appended: [], removed: [], meta, purpose: 'put' })
  } finally {
    await tables.close()
  }
}

/** If the process ends in between, the folder either has a complete state, or its mark makes a server refuse it. */
function putInPlace(work: string, directory: string): string | undefined {
  const [dataFile, ...others] = storeFiles
  const isThere = existsSync(join(directory, dataFile))
  const movedTo = join(directory, `${movedPrefix}${systemChance.uuid()}`)
  if (isThere) {
    mkdirSync(movedTo, { mode: 0o700 })
    renameSync(join(directory, dataFile), join(movedTo, dataFile))
  }
  for (const file of [dataFile, ...others]) renameSync(join(work, file), join(directory, file))
  syncFolder(directory)
  return isThere ? movedTo : undefined
}

/** True if a folder has or had the state of a server in one process. */
export function hasState(directory: string): boolean {
  return storeFiles.some((file) => existsSync(join(directory, file)))
}
