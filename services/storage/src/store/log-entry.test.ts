import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { DamageError } from './lmdb-file.ts'
import { decodeLogEntry, decodeValue, encodeLogEntry, logEntryBytes } from './log-entry.ts'
import type { LogEntry } from './tables.ts'

const put: LogEntry = {
  revision: 300,
  previous: 299,
  replaces: 7,
  key: 'p/ä',
  writeId: 'wé',
  value: Buffer.from('value'),
  timeMs: 1_700_000_000_123,
  origin: { request: 'rö', user: 'üser' },
}
const removal: LogEntry = { ...put, value: undefined }

function encoded(entry: LogEntry): Buffer {
  const bytes = Buffer.alloc(logEntryBytes(entry))
  encodeLogEntry(entry, bytes)
  return bytes
}

/** An entry as versions without times and origins wrote it. */
function older(entry: LogEntry): Buffer {
  const bytes = unsummed(entry)
  bytes[0] = entry.value === undefined ? 2 : 3
  return summed(bytes, entry.revision)
}

/** An entry as versions without checksums wrote it. */
function unsummed(entry: LogEntry): Buffer {
  const bytes = encoded({ ...entry, timeMs: undefined, origin: undefined })
  bytes[0] = entry.value === undefined ? 0 : 1
  return Buffer.concat([bytes.subarray(0, 20), bytes.subarray(31, -4)])
}

test.each<[string, LogEntry]>([
  ['a put', put],
  ['a put of nothing', { ...put, value: Buffer.alloc(0) }],
  ['a delete', removal],
  ['one without an id', { ...put, writeId: '' }],
  ['one without any text', { ...removal, writeId: '', key: '' }],
])('STORE-04: %s is read unchanged, by this version and by older versions', (_what, entry) => {
  const { timeMs, origin, ...known } = entry
  const written = [
    [encoded(entry), entry],
    [encoded(known), known],
    [older(entry), known],
    [unsummed(entry), known],
  ] as const
  for (const [bytes, expected] of written) expect(decodeLogEntry(entry.revision, bytes)).toEqual({ ...expected, length: bytes.length })
  expect('value' in decodeLogEntry(entry.revision, encoded(entry))).toBe(entry.value !== undefined)
})

test('STORE-04: a put takes its header, its texts, its value and a checksum', () => {
  expect(logEntryBytes(put)).toBe(31 + 3 + 4 + 3 + 5 + 5 + 4)
  expect(logEntryBytes(removal)).toBe(31 + 3 + 4 + 3 + 5 + 4)
})

test('STORE-04: each changed byte is noticed, except in a kind without a checksum', () => {
  const whole = encoded(put)
  for (let index = 1; index < whole.length; index++) {
    const bytes = Buffer.from(whole)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    expect(() => decodeLogEntry(put.revision, bytes), `byte ${index}`).toThrow(DamageError)
  }
  const unknown = Buffer.from(whole)
  unknown[0] = 6
  expect(() => decodeLogEntry(put.revision, unknown)).toThrow(DamageError)
})

test('STORE-04: the value is read with the same checks, only from a put to the expected key', () => {
  const whole = encoded(put)
  const { key, revision } = put
  const room = Buffer.concat([whole, Buffer.alloc(100)])
  for (const [bytes, length] of [[whole], [older(put)], [unsummed(put)], [room, whole.length]] as const) {
    expect(Buffer.from(decodeValue({ key, revision }, bytes, length) ?? []).toString()).toBe('value')
  }
  expect(decodeValue({ key: 'p/a', revision }, whole)).toBeUndefined()
  for (const bytes of [encoded(removal), older(removal), unsummed(removal)]) expect(decodeValue({ key, revision }, bytes)).toBeUndefined()
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

test('STORE-04: an entry in the place of another entry is noticed', () => {
  expect(() => decodeLogEntry(put.revision + 1, encoded(put))).toThrow('what was written at revision 301 has changed')
})

test('STORE-04: an entry that was cut off is noticed', () => {
  const whole = encoded(put)
  for (let length = 0; length < whole.length; length++) {
    expect(() => decodeLogEntry(put.revision, whole.subarray(0, length)), `${length} bytes`).toThrow(DamageError)
  }
  const oldest = unsummed(removal)
  for (let length = 0; length < oldest.length; length++) {
    expect(() => decodeLogEntry(removal.revision, oldest.subarray(0, length)), `${length} bytes`).toThrow(DamageError)
  }
})

/** Bytes with a correct checksum. */
function summed(content: Buffer, revision = removal.revision): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(content, revision))
  return Buffer.concat([content, sum])
}

test('STORE-04: an entry of an unknown kind or without a whole header is damaged, with any checksum', () => {
  const content = encoded(removal).subarray(0, -4)
  expect(decodeLogEntry(removal.revision, summed(content)).key).toBe(removal.key)
  const unknown = Buffer.from(content)
  unknown[0] = 6
  expect(() => decodeLogEntry(removal.revision, summed(unknown))).toThrow(DamageError)
  expect(() => decodeLogEntry(removal.revision, summed(content.subarray(0, 19)))).toThrow(DamageError)
  const bare = encoded({ ...removal, writeId: '', key: '', origin: undefined }).subarray(0, -4)
  expect(() => decodeLogEntry(removal.revision, summed(bare.subarray(0, 30)))).toThrow(DamageError)
  expect(() => decodeLogEntry(removal.revision, summed(bare.subarray(0, 16)))).toThrow(DamageError)
})
