import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { DamageError } from './lmdb-file.ts'
import { decodeLogEntry, decodeValue, encodeLogEntry, logEntryBytes } from './log-entry.ts'
import type { LogEntry } from './tables.ts'

const put: LogEntry = { revision: 300, previous: 299, replaces: 7, key: 'p/ä', writeId: 'wé', value: Buffer.from('value') }
const removal: LogEntry = { ...put, value: undefined }

function encoded(entry: LogEntry): Buffer {
  const bytes = Buffer.alloc(logEntryBytes(entry))
  encodeLogEntry(entry, bytes)
  return bytes
}

/** An entry as versions before checksums wrote it. */
function unsummed(entry: LogEntry): Buffer {
  const bytes = encoded(entry).subarray(0, -4)
  bytes[0] = entry.value === undefined ? 0 : 1
  return bytes
}

test.each<[string, LogEntry]>([
  ['a put', put],
  ['a put of nothing', { ...put, value: Buffer.alloc(0) }],
  ['a delete', removal],
  ['one without an id', { ...put, writeId: '' }],
  ['one without any text', { ...removal, writeId: '', key: '' }],
])('STORE-04: %s is read as it was written, with and without a checksum', (_what, entry) => {
  const { value, ...rest } = entry
  const read = value === undefined ? rest : entry
  expect(decodeLogEntry(entry.revision, encoded(entry))).toEqual(read)
  expect(decodeLogEntry(entry.revision, unsummed(entry))).toEqual(read)
  expect('value' in decodeLogEntry(entry.revision, encoded(entry))).toBe(value !== undefined)
})

test('STORE-04: a put takes its header, its texts, its value and a checksum', () => {
  expect(logEntryBytes(put)).toBe(20 + 3 + 4 + 5 + 4)
  expect(logEntryBytes(removal)).toBe(20 + 3 + 4 + 4)
})

test('STORE-04: each changed byte is noticed, except a kind that has no checksum', () => {
  const whole = encoded(put)
  for (let index = 1; index < whole.length; index++) {
    const bytes = Buffer.from(whole)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    expect(() => decodeLogEntry(put.revision, bytes), `byte ${index}`).toThrow(DamageError)
  }
  const unknown = Buffer.from(whole)
  unknown[0] = 4
  expect(() => decodeLogEntry(put.revision, unknown)).toThrow(DamageError)
})

test('STORE-04: the value alone is read with the same checks, of a put to the key that is expected', () => {
  const whole = encoded(put)
  const { key, revision } = put
  const room = Buffer.concat([whole, Buffer.alloc(100)])
  for (const [bytes, length] of [[whole], [unsummed(put)], [room, whole.length]] as const) {
    expect(Buffer.from(decodeValue({ key, revision }, bytes, length) ?? []).toString()).toBe('value')
  }
  expect(decodeValue({ key: 'p/a', revision }, whole)).toBeUndefined()
  for (const bytes of [encoded(removal), unsummed(removal)]) expect(decodeValue({ key, revision }, bytes)).toBeUndefined()
  expect(() => decodeValue({ key, revision: revision + 1 }, whole)).toThrow('what was written at revision 301 has changed')
  for (let index = 1; index < whole.length; index++) {
    const bytes = Buffer.from(whole)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    expect(() => decodeValue({ key, revision }, bytes), `byte ${index}`).toThrow(DamageError)
    expect(() => decodeValue({ key, revision }, whole.subarray(0, index)), `${index} bytes`).toThrow(DamageError)
  }
  const longKey = unsummed(put)
  longKey.writeUInt16LE(1_000, 2)
  expect(() => decodeValue({ key, revision }, longKey)).toThrow(DamageError)
})

test('STORE-04: an entry in the place of another is noticed', () => {
  expect(() => decodeLogEntry(put.revision + 1, encoded(put))).toThrow('what was written at revision 301 has changed')
})

test('STORE-04: an entry that was cut off is noticed', () => {
  const whole = encoded(put)
  for (let length = 0; length < whole.length; length++) {
    expect(() => decodeLogEntry(put.revision, whole.subarray(0, length)), `${length} bytes`).toThrow(DamageError)
  }
  const older = unsummed(removal)
  for (let length = 0; length < older.length; length++) {
    expect(() => decodeLogEntry(removal.revision, older.subarray(0, length)), `${length} bytes`).toThrow(DamageError)
  }
})

/** Bytes with a checksum that is right. */
function summed(content: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(content, removal.revision))
  return Buffer.concat([content, sum])
}

test('STORE-04: an entry of an unknown kind or without a whole header is damaged, with any checksum', () => {
  const content = encoded(removal).subarray(0, -4)
  expect(decodeLogEntry(removal.revision, summed(content)).key).toBe(removal.key)
  const unknown = Buffer.from(content)
  unknown[0] = 4
  expect(() => decodeLogEntry(removal.revision, summed(unknown))).toThrow(DamageError)
  expect(() => decodeLogEntry(removal.revision, summed(content.subarray(0, 19)))).toThrow(DamageError)
  const bare = encoded({ ...removal, writeId: '', key: '' }).subarray(0, -4)
  expect(() => decodeLogEntry(removal.revision, summed(bare.subarray(0, 19)))).toThrow(DamageError)
  expect(() => decodeLogEntry(removal.revision, summed(bare.subarray(0, 16)))).toThrow(DamageError)
})
