import type { LogEntry } from './tables.ts'

/**
 * A log entry as bytes, little endian: u8 kind (0 delete, 1 put), u8 write id's bytes, u16 key's bytes,
 * f64 previous, f64 replaces, then write id, key and value. The revision is the entry's key in the log.
 */
const headerBytes = 20

/** How many bytes a log entry takes. */
export function logEntryBytes({ key, writeId, value }: LogEntry): number {
  return headerBytes + Buffer.byteLength(writeId) + Buffer.byteLength(key) + (value?.length ?? 0)
}

/** Writes a log entry to a buffer with as much room as `logEntryBytes` says. */
export function encodeLogEntry({ previous, replaces, key, writeId, value }: LogEntry, bytes: Buffer): void {
  const idBytes = bytes.write(writeId, headerBytes)
  const keyBytes = bytes.write(key, headerBytes + idBytes)
  bytes.writeUInt8(value === undefined ? 0 : 1, 0)
  bytes.writeUInt8(idBytes, 1)
  bytes.writeUInt16LE(keyBytes, 2)
  bytes.writeDoubleLE(previous, 4)
  bytes.writeDoubleLE(replaces, 12)
  if (value !== undefined) bytes.set(value, headerBytes + idBytes + keyBytes)
}

/** The entry of a revision. Its value is a view into the given bytes. */
export function decodeLogEntry(revision: number, bytes: Buffer): LogEntry {
  const idEnd = headerBytes + bytes.readUInt8(1)
  const keyEnd = idEnd + bytes.readUInt16LE(2)
  return {
    revision,
    previous: bytes.readDoubleLE(4),
    replaces: bytes.readDoubleLE(12),
    writeId: bytes.toString('utf8', headerBytes, idEnd),
    key: bytes.toString('utf8', idEnd, keyEnd),
    ...(bytes[0] === 0 ? {} : { value: bytes.subarray(keyEnd) }),
  }
}
