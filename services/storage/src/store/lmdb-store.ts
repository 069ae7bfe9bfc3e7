import { randomUUID } from 'node:crypto'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Profile, Revision, Store } from '@orch/core'
import type { Database, RootDatabase } from 'lmdb'
import { decodeLogEntry, encodeLogEntry, logEntryBytes } from './log-entry.ts'
import { LogStore, type StoreEnvironment } from './log-store.ts'
import type { Batch, KeySpan, Latest, LogEntry, Meta, Tables } from './tables.ts'

/** Where the state lies and whose it is. */
export interface LmdbStoreOptions extends Partial<StoreEnvironment> {
  /** A folder that this process has locked; made where it is absent. */
  readonly directory: string
  readonly profile: Profile
  /** For the test that shows that the checker of durability finds a store without it: acknowledges before the disk does. */
  readonly unsafeNoSync?: boolean
}

const fileName = 'state.mdb'

/** A store in one file. What it acknowledges has been flushed to the disk. */
export async function openLmdbStore({ directory, profile, unsafeNoSync = false, ...environment }: LmdbStoreOptions): Promise<Store> {
  // Loading it takes 30 ms, which a server without a disk should not pay.
  const { open } = await import('lmdb')
  const complete = { monotonic: () => performance.now(), randomId: randomUUID, ...environment }
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return new LogStore(new LmdbTables({ open, directory, profile, unsafeNoSync, epoch: complete.randomId() }), complete)
}

interface TablesOptions {
  /** lmdb's own. */
  readonly open: typeof import('lmdb').open
  readonly directory: string
  readonly profile: Profile
  readonly unsafeNoSync: boolean
  /** The epoch of a new store. */
  readonly epoch: string
}

class LmdbTables implements Tables {
  readonly isImmediate = false
  readonly meta: Meta
  readonly #directory: string
  readonly #root: RootDatabase<Buffer, string>
  readonly #log: Database<Buffer, number>
  /** Key → revision, eight bytes. */
  readonly #latest: Database<Buffer, string>
  readonly #about: Database<Buffer, string>
  #scratch = Buffer.allocUnsafeSlow(64 * 1024)

  constructor({ open, directory, profile, unsafeNoSync, epoch }: TablesOptions) {
    this.#directory = directory
    this.#root = open<Buffer, string>({
      path: join(directory, fileName),
      noSubdir: true,
      encoding: 'binary',
      // A commit resolves when its pages have been flushed, not before.
      overlappingSync: false,
      eventTurnBatching: false,
      noSync: unsafeNoSync,
    })
    this.#log = this.#root.openDB({ name: 'log', encoding: 'binary' })
    this.#latest = this.#root.openDB({ name: 'latest', encoding: 'binary' })
    this.#about = this.#root.openDB({ name: 'about', encoding: 'binary' })
    this.meta = this.#openMeta({ profile, epoch, revision: 1, compacted: 1, swept: 1 })
    if (this.meta.profile !== profile) {
      void this.#root.close()
      throw new Error(`${directory} belongs to the profile '${this.meta.profile}' and can't be opened under the profile '${profile}'`)
    }
  }

  latest(key: string): Revision {
    const bytes = this.#latest.getBinaryFast(key)
    return bytes === undefined ? 0 : bytes.readDoubleLE(0)
  }

  *keys({ prefix, start }: KeySpan): Iterable<Latest> {
    const from = start > prefix ? start : prefix
    const options = { ...(from === '' ? {} : { start: from }), ...(prefix === '' ? {} : { end: prefixEnd(prefix) }), snapshot: false }
    for (const { key, value } of this.#latest.getRange(options)) yield { key, revision: value.readDoubleLE(0) }
  }

  entry(revision: Revision): LogEntry | undefined {
    const bytes = this.#log.getBinary(revision)
    return bytes === undefined ? undefined : decodeLogEntry(revision, bytes)
  }

  glance(revision: Revision): LogEntry | undefined {
    const bytes = this.#log.getBinaryFast(revision)
    // lmdb's buffer is larger than what it says to hold.
    return bytes === undefined ? undefined : decodeLogEntry(revision, bytes.subarray(0, bytes.length))
  }

  *entries(after: Revision): Iterable<LogEntry> {
    for (const revision of this.#log.getKeys({ start: after, exclusiveStart: true, snapshot: false })) {
      const entry = this.entry(revision)
      if (entry !== undefined) yield entry
    }
  }

  async write(batch: Batch): Promise<void> {
    try {
      await this.#root.batch(() => this.#put(batch))
    } catch (error) {
      throw new Error(await this.#reasonOf(error), { cause: error })
    }
    // A read transaction of this turn may have begun before the flush.
    this.#root.resetReadTxn()
  }

  sizes(): { bytes: number; freeBytes: number } {
    const root = this.#root.getStats() as LmdbStats
    const trees = [root, root.free, ...[this.#log, this.#latest, this.#about].map((database) => database.getStats() as LmdbStats)]
    const usedPages = trees.reduce((pages, tree) => pages + pagesOf(tree), metaPages)
    const allPages = root.lastPageNumber + 1
    return { bytes: allPages * root.pageSize, freeBytes: Math.max(0, allPages - usedPages) * root.pageSize }
  }

  close(): Promise<void> {
    return this.#root.close()
  }

  #put({ appended, removed, meta }: Batch): void {
    const room = this.#room(appended)
    let at = 0
    for (const entry of appended) {
      const bytes = room.subarray(at, at + logEntryBytes(entry))
      at += bytes.length
      encodeLogEntry(entry, bytes)
      // Plain puts and removes; their own promises say nothing that the batch's does not.
      void this.#log.put(entry.revision, bytes)
      if (entry.value === undefined) void this.#latest.remove(entry.key)
      else void this.#latest.put(entry.key, revisionBytes(entry.revision))
    }
    for (const revision of removed) void this.#log.remove(revision)
    for (const [name, value] of Object.entries(meta)) void this.#about.put(name, Buffer.from(JSON.stringify(value)))
  }

  /** Room for a batch's entries. LMDB's thread reads it until the flush is over; only one flush with entries is under way. */
  #room(appended: readonly LogEntry[]): Buffer {
    const needed = appended.reduce((sum, entry) => sum + logEntryBytes(entry), 0)
    if (needed > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(Math.min(needed * 2, Math.max(needed, scratchBytesMax)))
    return this.#scratch
  }

  /** A new store gets its meta in one transaction, so that it has all of it or none. */
  #openMeta(first: Meta): Meta {
    if (this.#about.getBinary('epoch') === undefined) {
      this.#root.transactionSync(() => {
        for (const [name, value] of Object.entries(first)) this.#about.putSync(name, Buffer.from(JSON.stringify(value)))
      })
    }
    const read = (name: keyof Meta) => JSON.parse(this.#about.getBinary(name)!.toString())
    return {
      profile: read('profile'),
      epoch: read('epoch'),
      revision: read('revision'),
      compacted: read('compacted'),
      swept: read('swept'),
    }
  }

  /** LMDB reports a full disk as an input/output error. */
  async #reasonOf(error: unknown): Promise<string> {
    const told = (error as { commitError?: Promise<never> }).commitError
    const cause: unknown = told === undefined ? error : await told.catch((reason: unknown) => reason)
    const { bavail, bsize } = statfsSync(this.#directory)
    const text = cause instanceof Error ? cause.message : String(cause)
    return bavail * bsize < fullBelowBytes ? `the disk that holds ${this.#directory} is full (${text})` : `${this.#directory}: ${text}`
  }
}

/** Room for entries does not grow ahead of need beyond this. */
const scratchBytesMax = 8 * 1024 * 1024

/** With less room than this, a failed write is blamed on the lack of it. */
const fullBelowBytes = 1024 * 1024

interface TreeStats {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface LmdbStats extends TreeStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly free: TreeStats
}

/** Pages that hold the file's roots. */
const metaPages = 2

function pagesOf({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number {
  return treeBranchPageCount + treeLeafPageCount + overflowPages
}

function revisionBytes(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeDoubleLE(revision)
  return bytes
}

/** The first text that is above every text with this prefix. */
function prefixEnd(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
