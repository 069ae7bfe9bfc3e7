import { crc32 } from 'node:zlib'
import { DamageError } from './lmdb-file.ts'
import type { Latest, LogEntry, WrittenEntry } from './tables.ts'

/**
 * A log entry as bytes, little endian: u8 kind (4 delete, 5 put), u8 write id's bytes, u16 key's bytes,
 * f64 previous, f64 replaces, f64 time (0: not known), u8 request's bytes, u16 user's bytes, then write id, key, request, user and value,
 * and a checksum of all that and the revision, which is the entry's key in the log.
 *
 * Entries of older versions have neither time, request nor user (2 delete, 3 put), and the oldest no checksum either (0 delete, 1 put).
 */
const headerBytes = 31
const olderHeaderBytes = 20
const checksumBytes = 4
const kinds = { unsummedDelete: 0, unsummedPut: 1, olderDelete: 2, olderPut: 3, delete: 4, put: 5 } as const

/** Size of a log entry. */
export function logEntryBytes({ key, writeId, value, origin }: LogEntry): number {
  const originBytes = origin === undefined ? 0 : Buffer.byteLength(origin.request) + Buffer.byteLength(origin.user)
  return headerBytes + Buffer.byteLength(writeId) + Buffer.byteLength(key) + originBytes + (value?.length ?? 0) + checksumBytes
}

/** Writes a log entry to a buffer, which must have `logEntryBytes` of room. */
export function encodeLogEntry({ revision, previous, replaces, key, writeId, value, timeMs = 0, origin }: LogEntry, bytes: Buffer): void {
  const idBytes = bytes.write(writeId, headerBytes)
  const keyBytes = bytes.write(key, headerBytes + idBytes)
  let at = headerBytes + idBytes + keyBytes
  const requestBytes = origin === undefined ? 0 : bytes.write(origin.request, at)
  at += requestBytes
  const userBytes = origin === undefined ? 0 : bytes.write(origin.user, at)
  at += userBytes
  bytes.writeUInt8(value === undefined ? kinds.delete : kinds.put, 0)
  bytes.writeUInt8(idBytes, 1)
  bytes.writeUInt16LE(keyBytes, 2)
  bytes.writeDoubleLE(previous, 4)
  bytes.writeDoubleLE(replaces, 12)
  bytes.writeDoubleLE(timeMs, 20)
  bytes.writeUInt8(requestBytes, 28)
  bytes.writeUInt16LE(userBytes, 29)
  if (value !== undefined) bytes.set(value, at)
  const end = bytes.length - checksumBytes
  bytes.writeUInt32LE(checksum(revision, bytes.subarray(0, end)), end)
}

/**
 * The entry of a revision, in the first bytes of a buffer. Its value is a view into the given bytes. Throws a DamageError if they
 * differ from the written ones.
 */
export function decodeLogEntry(revision: number, bytes: Buffer, length = bytes.length): WrittenEntry {
  const end = contentEnd(revision, bytes, length)
  const idStart = headerBytesOf(bytes)
  const idEnd = idStart + bytes.readUInt8(1)
  const keyEnd = idEnd + bytes.readUInt16LE(2)
  const valueStart = keyEnd + originBytesOf(bytes)
  if (valueStart > end) throw damaged(revision)
  return {
    length,
    revision,
    previous: bytes.readDoubleLE(4),
    replaces: bytes.readDoubleLE(12),
    writeId: bytes.toString('utf8', idStart, idEnd),
    key: bytes.toString('utf8', idEnd, keyEnd),
    ...(isDelete(bytes) ? {} : { value: bytes.subarray(valueStart, end) }),
    ...(isOlder(bytes) ? {} : noteOf(bytes, keyEnd, valueStart)),
  }
}

function noteOf(bytes: Buffer, start: number, end: number): Pick<LogEntry, 'timeMs' | 'origin'> {
  const timeMs = bytes.readDoubleLE(20)
  const userStart = start + bytes.readUInt8(28)
  return {
    ...(timeMs === 0 ? {} : { timeMs }),
    ...(end === start
      ? {}
      : { origin: { request: bytes.toString('utf8', start, userStart), user: bytes.toString('utf8', userStart, end) } }),
  }
}

/**
 * The value that was put to a key at a revision, as `decodeLogEntry` returns it; undefined if the entry is a deletion or has another key. It creates
 * no other objects, because a start reads every current entry.
 */
export function decodeValue({ key, revision }: Latest, bytes: Buffer, length = bytes.length): Uint8Array | undefined {
  const end = contentEnd(revision, bytes, length)
  const idEnd = headerBytesOf(bytes) + bytes[1]!
  const keyEnd = idEnd + (bytes[2]! | (bytes[3]! << 8))
  const valueStart = keyEnd + originBytesOf(bytes)
  if (valueStart > end) throw damaged(revision)
  if (isDelete(bytes) || bytes.toString('utf8', idEnd, keyEnd) !== key) return undefined
  return viewOf(bytes, valueStart, end)
}

function headerBytesOf(bytes: Buffer): number {
  return isOlder(bytes) ? olderHeaderBytes : headerBytes
}

function originBytesOf(bytes: Buffer): number {
  return isOlder(bytes) ? 0 : bytes.readUInt8(28) + bytes.readUInt16LE(29)
}

/** The bytes of `subarray`. A plain array and its views are faster to create than a Buffer. */
function viewOf({ buffer, byteOffset }: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, end - start)
}

function isDelete({ 0: kind }: Buffer): boolean {
  return kind === kinds.unsummedDelete || kind === kinds.olderDelete || kind === kinds.delete
}

function isOlder({ 0: kind = 0 }: Buffer): boolean {
  return kind <= kinds.olderPut
}

/** The end of the content, where a correct checksum begins. */
function contentEnd(revision: number, bytes: Buffer, length: number): number {
  if (length < olderHeaderBytes) throw damaged(revision)
  if (bytes[0] === kinds.unsummedDelete || bytes[0] === kinds.unsummedPut) return length
  const end = length - checksumBytes
  if (end < headerBytesOf(bytes) || bytes[0]! > kinds.put || bytes.readUInt32LE(end) !== checksum(revision, viewOf(bytes, 0, end)))
    throw damaged(revision)
  return end
}

function checksum(revision: number, bytes: Uint8Array): number {
  // The checksum begins with the revision, so that it also finds an entry in the place of another.
  return crc32(bytes, revision >>> 0)
}

function damaged(revision: number): DamageError {
  return new DamageError(`what was written at revision ${revision} has changed`)
}
