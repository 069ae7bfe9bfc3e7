import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { frontOf, type IndexEntry, indexEntryBytes, ofIndexEntries, revisionOf, toIndexEntry } from './index-entry.ts'
import { DamageError } from './lmdb-file.ts'

const { encode, decode } = ofIndexEntries.encoder
const largest = 2 ** 53 - 1

function aPut(key: string, bytes: number, revision = largest) {
  const value = Uint8Array.from({ length: bytes }, (_, index) => index % 251)
  return { revision, previous: 1, replaces: 0, key, writeId: 'w', value }
}

/** In lmdb's form: a reused buffer with the length of its valid part. */
function stored(entry: IndexEntry): Buffer {
  const bytes = encode(entry)
  const shared = Buffer.concat([bytes, Buffer.alloc(100, 0xff)])
  Object.defineProperty(shared, 'length', { value: bytes.length })
  return shared
}

test.each([
  ['a small value', aPut('a/x', limits.unreadBytesMin - 1)],
  ['a key that would fill the page', aPut('k'.repeat(limits.frontKeyBytesMax + 1), limits.unreadBytesMin)],
])('the entry of %s is its revision', (_what, put) => {
  const bytes = stored(toIndexEntry(put))
  expect([bytes.length, indexEntryBytes(put), bytes.readDoubleLE(0)]).toEqual([8, 8, largest])
  expect(revisionOf(decode(bytes))).toBe(largest)
  expect(frontOf(put.key, decode(bytes))).toBeUndefined()
})

test.each([limits.unreadBytesMin, 1_500_000])('the entry of a value of %i bytes has the revision and then the first bytes', (length) => {
  const put = aPut('k'.repeat(limits.frontKeyBytesMax), length)
  const bytes = stored(toIndexEntry(put))
  expect([bytes.length, bytes.readDoubleLE(0)]).toEqual([indexEntryBytes(put), largest])
  const entry = decode(bytes)
  bytes.fill(0)
  expect(revisionOf(entry)).toBe(largest)
  expect(frontOf(put.key, entry)).toEqual({ bytes: Buffer.from(put.value.subarray(0, limits.frontBytesMax)), length })
})

test('a checksum covers each byte after the revision, and the key', () => {
  const put = aPut('a/x', limits.unreadBytesMin)
  const bytes = encode(toIndexEntry(put))
  const unnoticed: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    try {
      frontOf(put.key, decode(changed))
      unnoticed.push(at)
    } catch (error) {
      expect(error).toBeInstanceOf(DamageError)
    }
  }
  expect(unnoticed).toEqual([])
  expect(() => frontOf('a/y', decode(bytes))).toThrow('what its index says of a/y has changed')
})

test('an entry that is cut off is damage, and an entry without a whole revision has no revision', () => {
  const bytes = encode(toIndexEntry(aPut('a/x', limits.unreadBytesMin)))
  for (const length of [9, 15, 16, bytes.length - 1]) expect(() => frontOf('a/x', decode(bytes.subarray(0, length)))).toThrow(DamageError)
  expect(revisionOf(decode(bytes.subarray(0, 7)))).toBeNaN()
})
