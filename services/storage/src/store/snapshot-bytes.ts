import type { StoreSnapshot } from '@orch/core/contracts'
import { decodeLogEntry, encodeLogEntry, logEntryBytes } from './log-entry.ts'
import { MemoryTables } from './memory-store.ts'
import type { LogEntry, Meta } from './tables.ts'

/** A record begins with a revision and its length in bytes. */
const headBytes = 12

/**
 * The log of a store in memory as bytes, little endian: records of f64 revision, u32 length and the content. The first record contains the store's
 * notes in JSON, the others contain entries in lmdb's format.
 */
export function printStore(snapshot: StoreSnapshot): Buffer {
  if (!(snapshot instanceof MemoryTables)) throw new TypeError('a snapshot of a store in memory is expected')
  const parts: Buffer[] = []
  const add = (revision: number, content: Buffer) => {
    const head = Buffer.alloc(headBytes)
    head.writeDoubleLE(revision)
    head.writeUInt32LE(content.length, 8)
    parts.push(head, content)
  }
  add(snapshot.revision, Buffer.from(JSON.stringify(snapshot.meta)))
  for (const entry of snapshot.entries(0)) {
    const content = Buffer.alloc(logEntryBytes(entry))
    encodeLogEntry(entry, content)
    add(entry.revision, content)
  }
  return Buffer.concat(parts)
}

/** The store that `printStore` has written. Throws for other bytes. */
export function parseStore(bytes: Buffer): StoreSnapshot {
  let meta: Meta | undefined
  const appended: LogEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const revision = bytes.readDoubleLE(at)
    const from = at + headBytes
    at = from + bytes.readUInt32LE(at + 8)
    if (meta === undefined) meta = JSON.parse(bytes.toString('utf8', from, at))
    else appended.push(decodeLogEntry(revision, bytes.subarray(from, at)))
  }
  if (meta === undefined) throw new RangeError('the notes of the store are missing')
  const tables = new MemoryTables(meta.epoch)
  tables.write({ appended, removed: [], meta, purpose: 'put' })
  return tables
}
