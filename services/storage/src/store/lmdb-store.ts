import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ShownRecord, Store, ValueFront } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { type Profile, profiles } from '@orch/core/names'
import { messageOf, systemChance, systemClock } from '@orch/platform'
import type { Database, RootDatabase } from 'lmdb'
import { limits } from '../limits.ts'
import { DataFile } from './data-file.ts'
import { checkDataFolder, DamagedStoreError, type DataFolder, explainDamage, markClosed, markUsed, storeFiles } from './data-folder.ts'
import { frontOf, type IndexEntry, ofIndexEntries, revisionOf, toIndexEntry } from './index-entry.ts'
import { keyCodecOf, plainKeys } from './keys.ts'
import { DamageError } from './lmdb-file.ts'
import { decodeLogEntry, decodeValue, encodeLogEntry, logEntryBytes } from './log-entry.ts'
import { LogStore, type StoreEnvironment } from './log-store.ts'
import { type MeasuredFile, Reserve } from './reserve.ts'
import type { TreeSize } from './room.ts'
import { type Batch, type KeySpan, type Latest, type LogEntry, type Meta, NoRoomError, type Tables, type WrittenEntry } from './tables.ts'
import { codeOf, explain, reasonOf, unwritable } from './write-failure.ts'

/** The folder of the state, and its owner. */
export interface LmdbStoreOptions extends Partial<StoreEnvironment> {
  /** A folder that this process has locked; created if absent. */
  readonly directory: string
  readonly profile: Profile
  /** For the test of the durability checker: acknowledges a write before it is on the disk. */
  readonly unsafeNoSync?: boolean
}

/** A store in one file. It acknowledges only flushed writes. Rejects with a DamagedStoreError if the file is damaged. */
export async function openLmdbStore({ directory, profile, unsafeNoSync = false, ...environment }: LmdbStoreOptions): Promise<Store> {
  // Loading the module takes 30 ms, which a server without a disk should not pay.
  const { open } = await import('lmdb')
  const onDamage = (error: Error) => {
    const folder = { directory, path: join(directory, storeFiles[0]) }
    environment.onDamage?.(error instanceof DamagedStoreError ? error : new DamagedStoreError(folder, error.message, { cause: error }))
  }
  const complete = { now: systemClock.now, monotonic: systemClock.monotonic, randomId: systemChance.uuid, ...environment, onDamage }
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return new LogStore(await openTables({ ...complete, open, directory, profile, unsafeNoSync, epoch: complete.randomId() }), complete)
}

interface TablesOptions extends Pick<StoreEnvironment, 'onDamage' | 'onFailure'> {
  /** lmdb's class. */
  readonly open: typeof import('lmdb').open
  readonly directory: string
  readonly profile: Profile
  readonly unsafeNoSync: boolean
  /** The epoch of a new store. */
  readonly epoch: string
}

const treeNames = { log: 'log', latest: 'latest', about: 'about' } as const

interface OpenedFile extends Pick<TablesOptions, 'profile' | 'epoch' | 'onDamage' | 'unsafeNoSync'> {
  readonly folder: DataFolder
  readonly root: RootDatabase<Buffer, string>
  readonly file: DataFile
}

/** Opens the file and makes room for the transactions of a new store before they begin. */
export async function openTables(options: TablesOptions): Promise<LmdbTables> {
  const { open, directory, unsafeNoSync } = options
  const folder = checkDataFolder(directory, Object.values(treeNames))
  const { path } = folder
  // LMDB writes to its lock file through a memory map: on a full disk a hole in the file would end the process.
  writeFileSync(`${path}-lock`, Buffer.alloc(lockFileBytes), { mode: 0o600 })
  if (!folder.isUsed) tryWriting(folder)
  const root = open<Buffer, string>({
    path,
    noSubdir: true,
    encoding: 'binary',
    // A commit resolves only after its pages have been flushed.
    overlappingSync: false,
    eventTurnBatching: false,
    noSync: unsafeNoSync,
  })
  const { lastPageNumber, pageSize } = statsOf(root)
  const usedBytes = (lastPageNumber + 1) * pageSize
  const file = new DataFile(path, usedBytes)
  try {
    if (lastPageNumber < metaPages) await extendFirst(file, usedBytes, directory)
    const tables = new LmdbTables({ ...options, folder, root, file })
    markUsed(folder)
    return tables
  } catch (error) {
    // This runs before lmdb closes anything, because its memory is corrupt then.
    if (codeOf(error) > 0) options.onFailure?.(unwritable(path, await reasonOf(error), error))
    file.close()
    await root.close()
    throw error
  }
}

/** Writes and flushes a file beside the new data file: LMDB crashes when it cannot write its first pages (3.5.6). */
function tryWriting({ directory, path }: DataFolder): void {
  const trial = `${path}-trial`
  try {
    writeFileSync(trial, Buffer.alloc(trialBytes), { mode: 0o600, flush: true })
  } catch (cause) {
    throw new Error(explain(cause, directory), { cause })
  } finally {
    rmSync(trial, { force: true })
  }
}

async function extendFirst(file: DataFile, usedBytes: number, directory: string): Promise<void> {
  try {
    await file.extend(usedBytes + limits.reserveBytes + limits.fileGrowthBytesMin)
  } catch (cause) {
    throw new Error(explain(cause, directory), { cause })
  }
}

/** A backup's view of a folder. It reads in one turn, in which the store does not change. */
export type FolderView = Awaited<ReturnType<typeof viewFolder>>

/** Opens a folder's store read-only, also beside the process that uses the folder. */
export async function viewFolder(directory: string, isInUse: boolean) {
  const { open } = await import('lmdb')
  const path = join(directory, storeFiles[0])
  // While a server writes, the file's pages change during the check; that server has made the check itself.
  const folder = isInUse ? { directory, path, isUsed: true } : checkDataFolder(directory, Object.values(treeNames))
  if (!existsSync(path)) throw new DamagedStoreError(folder, 'it is missing')
  const root = open<Buffer, string>({ path, noSubdir: true, encoding: 'binary', readOnly: true })
  const log = root.openDB<Buffer, number>({ name: treeNames.log, encoding: 'binary' })
  const latest = root.openDB<Buffer, string>({ name: treeNames.latest, encoding: 'binary' })
  const about = root.openDB<Buffer, string>({ name: treeNames.about, encoding: 'binary' })
  return {
    meta() {
      const meta = explainDamage(folder, () => readMeta(about))
      const profile = profiles.find((known) => known === meta.profile)
      if (profile === undefined) throw new DamagedStoreError(folder, `its profile '${meta.profile}' is unknown`)
      return { ...meta, profile }
    },
    *keys() {
      for (const { key, value } of latest.getRange({})) yield { key, revision: value.length < 8 ? Number.NaN : value.readDoubleLE(0) }
    },
    valueOf(key: string, revision: Revision) {
      return explainDamage(folder, () => {
        const bytes = log.getBinary(revision)
        const entry = bytes === undefined ? undefined : decodeLogEntry(revision, bytes)
        if (entry?.value === undefined || entry.key !== key)
          throw new DamageError(`the latest revision of ${key} is ${revision}, and nothing was written to it there`)
        return entry.value
      })
    },
    close: () => root.close(),
  }
}

class LmdbTables implements Tables {
  readonly isImmediate = false
  readonly meta: Meta
  readonly latest = {
    get: (key: string): Revision | undefined => {
      const entry = this.#latest.get(key)
      return entry === undefined ? undefined : this.#checked(key, revisionOf(entry))
    },
  }
  readonly #folder: DataFolder
  readonly #root: RootDatabase<Buffer, string>
  readonly #file: DataFile
  readonly #reserve: Reserve
  /** True if an acknowledged write is on the disk. */
  readonly #isFlushed: boolean
  readonly #onDamage: StoreEnvironment['onDamage']
  readonly #log: Database<Buffer, number>
  readonly #latest: Database<IndexEntry, string>
  readonly #about: Database<Buffer, string>
  #hasFailed = false
  #scratch = Buffer.allocUnsafeSlow(64 * 1024)

  constructor({ folder, root, file, profile, epoch, onDamage, unsafeNoSync }: OpenedFile) {
    const { directory, isUsed } = folder
    this.#isFlushed = !unsafeNoSync
    this.#onDamage = onDamage
    this.#folder = folder
    this.#root = root
    this.#file = file
    this.#log = this.#root.openDB({ name: treeNames.log, encoding: 'binary' })
    const keys = keyCodecOf(root)
    this.#latest = this.#root.openDB({ name: treeNames.latest, ...ofIndexEntries, ...(keys && { keyEncoder: plainKeys(keys) }) })
    this.#about = this.#root.openDB({ name: treeNames.about, encoding: 'binary' })
    this.#reserve = new Reserve({ file, measure: () => this.measure(), explain: (cause) => explain(cause, directory) })
    if (!isUsed) this.#begin({ profile, epoch, revision: 1, compacted: 1, swept: 1 })
    this.meta = explainDamage(folder, () => this.#readMeta())
    if (this.meta.profile !== profile) {
      throw new Error(`${directory} belongs to the profile '${this.meta.profile}' and can't be opened under the profile '${profile}'`)
    }
  }

  get isFull(): boolean {
    return this.#reserve.isFull
  }

  *keys({ prefix, start }: KeySpan): Iterable<Latest> {
    const from = start > prefix ? start : prefix
    const options = { ...(from === '' ? {} : { start: from }), ...(prefix === '' ? {} : { end: prefixEnd(prefix) }), snapshot: false }
    for (const { key, value } of this.#readable(this.#latest.getRange(options)))
      yield { key, revision: this.#checked(key, revisionOf(value)) }
  }

  visit(show: Parameters<Tables['visit']>[0]): void {
    const items = this.#latest.getRange({ snapshot: false })[Symbol.iterator]()
    try {
      explainDamage(this.#folder, () => {
        while (this.#visitSome(items, show));
      })
    } finally {
      items.return?.()
    }
  }

  /** False when all keys were shown. */
  #visitSome(items: Iterator<{ readonly key: string; readonly value: IndexEntry }>, show: Parameters<Tables['visit']>[0]): boolean {
    for (let count = 0; count < keysPerStep; count++) {
      const item = this.#next(items)
      if (item.done === true) return false
      const { key, value: entry } = item.value
      show(this.#shown({ key, revision: this.#checked(key, revisionOf(entry)) }, frontOf(key, entry)))
    }
    return true
  }

  #shown(latest: Latest, front: ValueFront | undefined): ShownRecord {
    const { key, revision } = latest
    if (front !== undefined) return new UnreadRecord(latest, front, () => explainDamage(this.#folder, () => this.#valueOf(latest)))
    const value = this.#valueOf(latest)
    if (value.length < limits.unreadBytesMin) return { key, revision, value }
    // The entry comes from a version whose index lacked the beginnings of large values.
    return { key, revision, value, front: { bytes: value, length: value.length } }
  }

  #next<T>(items: Iterator<T>): IteratorResult<T> {
    try {
      return items.next()
    } catch (cause) {
      throw this.#unreadableKey(cause)
    }
  }

  /** Yields the items of lmdb's iterators; an undecodable key is damage. */
  *#readable<T>(items: Iterable<T>): Iterable<T> {
    try {
      yield* items
    } catch (cause) {
      throw this.#unreadableKey(cause)
    }
  }

  /** Damage that ends the server. */
  #reported(what: string): DamagedStoreError {
    const error = new DamagedStoreError(this.#folder, what)
    this.#onDamage?.(error)
    return error
  }

  #unreadableKey(cause: unknown): DamagedStoreError {
    return new DamagedStoreError(this.#folder, 'a key in it is unreadable', { cause })
  }

  #checked(key: string, revision: Revision): Revision {
    if (!Number.isSafeInteger(revision)) throw new DamagedStoreError(this.#folder, `the latest revision of ${key} is not a revision`)
    return revision
  }

  entry(revision: Revision): WrittenEntry | undefined {
    const bytes = this.#log.getBinary(revision)
    return bytes === undefined ? undefined : explainDamage(this.#folder, () => decodeLogEntry(revision, bytes))
  }

  recall(key: string, revision: Revision): Uint8Array {
    try {
      return explainDamage(this.#folder, () => this.#valueOf({ key, revision }))
    } catch (error) {
      if (error instanceof DamagedStoreError) this.#onDamage?.(error)
      throw error
    }
  }

  /** The value put to a key at the index's revision; it is valid until the next read. */
  #valueOf(latest: Latest): Uint8Array {
    const bytes = this.#log.getBinaryFast(latest.revision)
    // lmdb's buffer is larger than its contents.
    const value = bytes === undefined ? undefined : decodeValue(latest, bytes, bytes.length)
    if (value === undefined)
      throw new DamageError(`the latest revision of ${latest.key} is ${latest.revision}, and nothing was written to it there`)
    return value
  }

  *revisions(after: Revision): Iterable<Revision> {
    let last = after
    for (const revision of this.#readable(this.#log.getKeys({ start: after, exclusiveStart: true, snapshot: false }))) {
      // In a log with another order, a search finds nothing for certain.
      if (!Number.isSafeInteger(revision) || revision <= last) throw this.#reported('a key of its log is not a revision')
      yield revision
      last = revision
    }
  }

  *entries(after: Revision): Iterable<WrittenEntry> {
    for (const revision of this.revisions(after)) {
      const entry = this.entry(revision)
      if (entry !== undefined) yield entry
    }
  }

  async write(batch: Batch): Promise<void> {
    const held = this.#reserve.tryHold(batch) ?? (await this.#hold(batch))
    try {
      await this.#root.batch(() => this.#put(batch))
      if (this.#hasFailed) throw new Error('a write before it has failed')
    } catch (error) {
      // Called before the reason is reported: writes that were passed on meanwhile do not count as written.
      this.#hasFailed = true
      throw unwritable(this.#folder.path, await reasonOf(error), error)
    } finally {
      this.#reserve.giveBack(held)
    }
    // A read transaction of this turn may have begun before the flush.
    this.#root.resetReadTxn()
  }

  async #hold(batch: Batch): Promise<number> {
    try {
      return await this.#reserve.hold(batch)
    } catch (error) {
      throw error instanceof NoRoomError ? error : unwritable(this.#folder.path, messageOf(error), error)
    }
  }

  sizes(): { bytes: number; freeBytes: number } {
    const { pageSize, usedPages, freePages } = this.measure()
    return { bytes: usedPages * pageSize, freeBytes: freePages * pageSize }
  }

  async close(): Promise<void> {
    // After a failed write lmdb's memory is corrupt, and closing it may crash the process.
    if (this.#hasFailed) return
    await this.#root.close()
    this.#file.close()
    if (this.#isFlushed) markClosed(this.#folder)
  }

  measure(): MeasuredFile {
    const log = statsOf(this.#log)
    const latest = statsOf(this.#latest)
    const { pageSize, lastPageNumber, free } = log
    const usedPages = lastPageNumber + 1
    const takenPages = [log, latest, free].reduce(
      (pages, tree) => pages + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
      metaPages + smallTreesPages,
    )
    const freePages = Math.max(0, usedPages - takenPages)
    return { pageSize, usedPages, freePages, log: toTreeSize(log), latest: toTreeSize(latest), free: toTreeSize(free) }
  }

  #put({ appended, removed, meta }: Batch): void {
    const room = this.#room(appended)
    let at = 0
    for (const entry of appended) {
      const bytes = room.subarray(at, at + logEntryBytes(entry))
      at += bytes.length
      encodeLogEntry(entry, bytes)
      // Plain puts and removes; the batch's promise covers theirs.
      void this.#log.put(entry.revision, bytes)
      if (entry.value === undefined) void this.#latest.remove(entry.key)
      else void this.#latest.put(entry.key, toIndexEntry(entry))
    }
    for (const revision of removed) void this.#log.remove(revision)
    for (const [name, value] of Object.entries(meta)) void this.#about.put(name, Buffer.from(JSON.stringify(value)))
  }

  /** Room for a batch's entries. LMDB's thread reads it until the flush is over; only one flush with entries is in flight. */
  #room(appended: readonly LogEntry[]): Buffer {
    const needed = appended.reduce((sum, entry) => sum + logEntryBytes(entry), 0)
    if (needed > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(Math.min(needed * 2, Math.max(needed, scratchBytesMax)))
    return this.#scratch
  }

  /** Writes the meta of a new store in one transaction, so that it is complete or absent. */
  #begin(first: Meta): void {
    if (this.#about.getBinary('epoch') !== undefined) return
    this.#root.transactionSync(() => {
      for (const [name, value] of Object.entries(first)) this.#about.putSync(name, Buffer.from(JSON.stringify(value)))
    })
  }

  #readMeta(): Meta {
    const meta = readMeta(this.#about)
    const [last = 0] = this.#readable(this.#log.getKeys({ reverse: true, limit: 1 }))
    if (meta.revision < last) throw new DamageError(`its log goes on to revision ${last}, beyond ${meta.revision}`)
    return meta
  }
}

/** A large value that is read on demand. */
class UnreadRecord implements ShownRecord {
  readonly key: string
  readonly revision: Revision
  readonly front: ValueFront
  readonly #read: () => Uint8Array

  constructor({ key, revision }: Latest, front: ValueFront, read: () => Uint8Array) {
    this.key = key
    this.revision = revision
    this.front = front
    this.#read = read
  }

  get value(): Uint8Array {
    return this.#read()
  }
}

/** The store's notes about itself; a DamageError names a missing note. */
function readMeta(about: Database<Buffer, string>): Meta {
  const read = (name: keyof Meta): unknown => {
    try {
      return JSON.parse(about.getBinary(name)?.toString() ?? '')
    } catch (cause) {
      throw new DamageError(`its own record of '${name}' is missing or unreadable`, { cause })
    }
  }
  const text = (name: keyof Meta): string => {
    const value = read(name)
    if (typeof value !== 'string') throw new DamageError(`its own record of '${name}' is not a text`)
    return value
  }
  const revision = (name: keyof Meta): Revision => {
    const value = read(name)
    if (!Number.isSafeInteger(value)) throw new DamageError(`its own record of '${name}' is not a revision`)
    return Number(value)
  }
  return {
    profile: text('profile'),
    epoch: text('epoch'),
    revision: revision('revision'),
    compacted: revision('compacted'),
    swept: revision('swept'),
  }
}

/** The library's type has no members. */
function statsOf(database: { getStats(): object }): LmdbStats {
  return database.getStats() as LmdbStats
}

/** The room for entries grows ahead of need only up to this size. */
const scratchBytesMax = 8 * 1024 * 1024

/** Number of keys in one call. V8 compiles a long loop and its calls while it runs, which costs a start more than it saves. */
const keysPerStep = 64

interface TreeStats {
  readonly treeDepth: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface LmdbStats extends TreeStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly free: TreeStats
}

/** The pages with the file's roots. */
const metaPages = 2

/** The pages of the two small trees: the table of trees and the store's notes. */
const smallTreesPages = 2

/** LMDB's reader table takes a little more than two pages. */
const lockFileBytes = 12 * 1024

/** The first pages of a file, with the largest possible memory page size. */
const trialBytes = metaPages * 65_536

function toTreeSize({ treeDepth, treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): TreeSize {
  return { depth: treeDepth, branchPages: treeBranchPageCount, leafPages: treeLeafPageCount, overflowPages }
}

/** The first string above every string with this prefix. */
function prefixEnd(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
