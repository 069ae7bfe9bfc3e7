import { createHash, type Hash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isJsonObject } from '@orch/core/json'
import type { Revision } from '@orch/core/meta'
import { type Profile, profiles } from '@orch/core/names'
import { limits } from '../limits.ts'
import { syncFolder } from '../store/data-folder.ts'

/**
 * A backup, little endian:
 *
 *   header    a line of JSON: format, profile, epoch, revision
 *   record    u32 value's bytes, u16 key's bytes, f64 revision, key, value
 *   end       u32 0xffffffff, f64 number of records, SHA-256 of all bytes before the digest
 */
const format = 'orch-backup/1'
const endMark = 0xffff_ffff
const recordHeaderBytes = 14
const countBytes = 8
const digestBytes = 32
const headerBytesMax = 4096

/** The store and the revision of a backup. */
export interface BackupHeader {
  readonly profile: Profile
  readonly epoch: string
  readonly revision: Revision
}

/** One key at the backup's revision. */
export interface BackupRecord {
  readonly key: string
  /** The revision of the key's last change. */
  readonly revision: Revision
  readonly value: Uint8Array
}

/** The file is not a complete backup. */
class DamagedBackupError extends Error {
  constructor(path: string, what: string, options?: { cause?: unknown }) {
    super(`${path} is not a whole backup (${what}): nothing was restored from it`, options)
    this.name = 'DamagedBackupError'
  }
}

/** Called after each record, with the number of records so far. */
export type RecordCounter = (records: number) => void

/** Writes a backup to a temporary file, and renames the file when it is complete and synced. */
export class BackupWriter {
  readonly #path: string
  readonly #partial: string
  readonly #descriptor: number
  readonly #hash = createHash('sha256')
  readonly #onRecord: RecordCounter | undefined
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #records = 0
  #isClosed = false

  constructor(path: string, { profile, epoch, revision }: BackupHeader, onRecord: RecordCounter | undefined) {
    this.#path = path
    this.#onRecord = onRecord
    this.#partial = `${path}.partial`
    this.#descriptor = openSync(this.#partial, 'w', 0o600)
    this.#add(Buffer.from(`${JSON.stringify({ format, profile, epoch, revision })}\n`))
  }

  get records(): number {
    return this.#records
  }

  /** The record contains a copy of the value. */
  add({ key, revision, value }: BackupRecord): void {
    const name = Buffer.from(key)
    const bytes = Buffer.allocUnsafe(recordHeaderBytes + name.length + value.length)
    bytes.writeUInt32LE(value.length, 0)
    bytes.writeUInt16LE(name.length, 4)
    bytes.writeDoubleLE(revision, 6)
    bytes.set(name, recordHeaderBytes)
    bytes.set(value, recordHeaderBytes + name.length)
    this.#records++
    this.#add(bytes)
    this.#onRecord?.(this.#records)
  }

  /** The backup exists when this returns. */
  finish(): void {
    const end = Buffer.allocUnsafe(4 + countBytes)
    end.writeUInt32LE(endMark, 0)
    end.writeDoubleLE(this.#records, 4)
    this.#add(end)
    this.#write()
    writeWhole(this.#descriptor, this.#hash.digest())
    fsyncSync(this.#descriptor)
    this.#close()
    renameSync(this.#partial, this.#path)
    syncFolder(dirname(this.#path))
  }

  /** Removes the incomplete file. */
  discard(): void {
    this.#close()
    rmSync(this.#partial, { force: true })
  }

  #add(bytes: Uint8Array): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= limits.backupChunkBytes) this.#write()
  }

  #write(): void {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#hash.update(bytes)
    writeWhole(this.#descriptor, bytes)
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#descriptor)
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

/** A complete backup. */
export interface Backup extends BackupHeader {
  readonly records: number
  /** The records, which are read from the file on demand. */
  read(): Iterable<BackupRecord>
}

/** Opens a backup after reading all of it and verifying its checksum. */
export function openBackup(path: string): Backup {
  const check = new BackupReader(path)
  try {
    let records = 0
    for (const _ of check.records()) records++
    return { ...check.header, records, read: () => readRecords(path) }
  } finally {
    check.close()
  }
}

function* readRecords(path: string): Iterable<BackupRecord> {
  const reader = new BackupReader(path)
  try {
    yield* reader.records()
  } finally {
    reader.close()
  }
}

class BackupReader {
  readonly header: BackupHeader
  readonly #path: string
  readonly #descriptor: number
  readonly #size: number
  readonly #hash: Hash = createHash('sha256')
  #bytes: Buffer = Buffer.alloc(0)
  /** Number of bytes read so far. */
  #read = 0

  constructor(path: string) {
    this.#path = path
    this.#descriptor = openSync(path, 'r')
    this.#size = fstatSync(this.#descriptor).size
    try {
      this.header = this.#readHeader()
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Yields all records; throws at the latest after the last record. */
  *records(): Iterable<BackupRecord> {
    let count = 0
    for (;;) {
      const valueBytes = this.#take(4).readUInt32LE(0)
      if (valueBytes === endMark) break
      const head = this.#take(recordHeaderBytes - 4)
      const keyBytes = head.readUInt16LE(0)
      const revision = head.readDoubleLE(2)
      const key = this.#take(keyBytes).toString()
      yield { key, revision, value: Buffer.from(this.#take(valueBytes)) }
      count++
    }
    if (this.#take(countBytes).readDoubleLE(0) !== count) throw this.#damaged('its number of records is another one')
    const digest = this.#hash.copy().digest()
    if (!this.#take(digestBytes).equals(digest)) throw this.#damaged('its checksum is another one')
    if (this.#left() !== 0) throw this.#damaged(`it goes on for ${this.#left()} bytes behind its end`)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #readHeader(): BackupHeader {
    this.#fill(Math.min(headerBytesMax, this.#size))
    const end = this.#bytes.indexOf('\n')
    const value = end === -1 ? undefined : parse(this.#take(end + 1).toString())
    if (!isJsonObject(value) || value.format !== format) throw this.#damaged(`it does not begin with the format ${format}`)
    const { epoch, revision } = value
    const profile = profiles.find((known) => known === value.profile)
    if (profile === undefined || typeof epoch !== 'string' || typeof revision !== 'number')
      throw this.#damaged('its first line names no profile, epoch and revision')
    return { profile, epoch, revision }
  }

  #left(): number {
    return this.#size - this.#read + this.#bytes.length
  }

  /** The next bytes, which are valid until the next call. */
  #take(count: number): Buffer {
    if (count > this.#left()) throw this.#damaged('it is truncated')
    if (this.#bytes.length < count) this.#fill(count)
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    this.#hash.update(taken)
    return taken
  }

  #fill(count: number): void {
    const more = Buffer.allocUnsafe(Math.min(Math.max(count - this.#bytes.length, limits.backupChunkBytes), this.#size - this.#read))
    let at = 0
    while (at < more.length) {
      const read = readSync(this.#descriptor, more, at, more.length - at, this.#read + at)
      if (read === 0) throw this.#damaged('it became shorter while it was read')
      at += read
    }
    this.#read += at
    this.#bytes = Buffer.concat([this.#bytes, more])
  }

  #damaged(what: string): DamagedBackupError {
    return new DamagedBackupError(this.#path, what)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
