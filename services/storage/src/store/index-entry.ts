import { crc32 } from 'node:zlib'
import type { ValueFront } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import { DamageError } from './lmdb-file.ts'
import type { LogEntry } from './tables.ts'

/**
 * An entry of the index of latest, little endian: f64 revision. For a large value it continues with u32 length of the value, its first bytes, and a
 * u32 checksum of all that and the key, so that a start need not read the value. Older versions read the first eight bytes, and write entries without
 * the rest.
 */
const revisionBytes = 8
const lengthBytes = 4
const checksumBytes = 4
const restBytes = lengthBytes + checksumBytes

/** A read entry: the revision, or bytes if there is more. */
export type IndexEntry = Revision | Buffer

/** Options of the tree of such entries, which lmdb's types leave out. A revision that cannot be read is NaN. */
export const ofIndexEntries = {
  encoder: {
    encode(entry: IndexEntry): Buffer {
      if (typeof entry !== 'number') return entry
      const bytes = Buffer.allocUnsafe(revisionBytes)
      bytes.writeDoubleLE(entry)
      return bytes
    },
    decode(bytes: Buffer): IndexEntry {
      if (bytes.length < revisionBytes) return Number.NaN
      // lmdb's buffer is larger than its contents, and the next read changes it.
      return bytes.length === revisionBytes ? bytes.readDoubleLE(0) : Buffer.from(bytes.subarray(0, bytes.length))
    },
  },
}

/** The index entry for a log entry's put. */
export function toIndexEntry({ key, revision, value }: LogEntry): IndexEntry {
  if (value === undefined || !hasFront({ key, value })) return revision
  const front = value.subarray(0, limits.frontBytesMax)
  const bytes = Buffer.allocUnsafe(revisionBytes + restBytes + front.length)
  bytes.writeDoubleLE(revision)
  bytes.writeUInt32LE(value.length, revisionBytes)
  bytes.set(front, revisionBytes + lengthBytes)
  const end = bytes.length - checksumBytes
  bytes.writeUInt32LE(checksum(key, bytes.subarray(0, end)), end)
  return bytes
}

/** The revision of an entry; NaN if it cannot be read. */
export function revisionOf(entry: IndexEntry): Revision {
  return typeof entry === 'number' ? entry : entry.readDoubleLE(0)
}

/** The front of an entry's value; undefined if it has none. Throws a DamageError if it differs from the written front. */
export function frontOf(key: string, entry: IndexEntry): ValueFront | undefined {
  if (typeof entry === 'number') return undefined
  const end = entry.length - checksumBytes
  if (end < revisionBytes + lengthBytes || entry.readUInt32LE(end) !== checksum(key, entry.subarray(0, end)))
    throw new DamageError(`what its index says of ${key} has changed`)
  return { bytes: entry.subarray(revisionBytes + lengthBytes, end), length: entry.readUInt32LE(revisionBytes) }
}

/** The size of an index entry for a log entry's put. */
export function indexEntryBytes(entry: Pick<LogEntry, 'key' | 'value'>): number {
  return revisionBytes + (hasFront(entry) ? restBytes + limits.frontBytesMax : 0)
}

function hasFront({ key, value }: Pick<LogEntry, 'key' | 'value'>): boolean {
  return value !== undefined && value.length >= limits.unreadBytesMin && Buffer.byteLength(key) <= limits.frontKeyBytesMax
}

function checksum(key: string, bytes: Uint8Array): number {
  return crc32(bytes, crc32(key))
}
