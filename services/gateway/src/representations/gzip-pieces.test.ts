import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { fc } from '@orch/testkit/chance'
import { expect, test, vi } from 'vitest'
import { gzipOfPieces } from './gzip-pieces.ts'

/** Zlib checks the sum and the length of the whole. */
const unpacked = async (pieces: readonly Uint8Array[]) => gunzipSync(Buffer.concat(await gzipOfPieces(pieces)))

test('pieces that are compressed each alone are one gzip file of all', async () => {
  const pieces = fc.array(fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 1000, maxLength: 3000 })), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(pieces, async (pieces) => {
      expect((await unpacked(pieces)).equals(Buffer.concat(pieces))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('a file of many bytes comes in chunks, and says how long it is', async () => {
  const pieces = Array.from({ length: 40 }, () => randomBytes(20_000))
  const chunks = await gzipOfPieces(pieces)
  expect(chunks.length).toBeGreaterThan(1)
  expect(gunzipSync(Buffer.concat(chunks)).equals(Buffer.concat(pieces))).toBe(true)
})

test('a piece is compressed once behind the one before it, for all who ask at the same time and later', async () => {
  const [kept, other] = [Buffer.alloc(5000, 'a'), Buffer.from('other')]
  const asked = [unpacked([kept, other]), unpacked([other, kept])]
  expect((await Promise.all(asked)).map(String)).toEqual([`${'a'.repeat(5000)}other`, `other${'a'.repeat(5000)}`])
  // Nothing changes a piece that is kept: here it shows that it is not read again.
  kept.fill('b')
  expect(String(await unpacked([other, kept]))).toBe(`other${'a'.repeat(5000)}`)
})

test('pieces refer to the one before them, and to nothing that does not stand there', async () => {
  const bytesOf = async (pieces: readonly Uint8Array[]) => (await gzipOfPieces(pieces)).reduce((sum, chunk) => sum + chunk.length, 0)
  const some = randomBytes(20_000)
  const alike = Array.from({ length: 100 }, (_, index) => Buffer.concat([some, Buffer.from(`${index}`)]))
  expect(await bytesOf(alike)).toBeLessThan(40_000)
  for (const changed of [[...alike.slice(0, 50), ...alike.slice(51)], alike.toSpliced(50, 0, randomBytes(50_000)), alike.toReversed()]) {
    expect((await unpacked(changed)).equals(Buffer.concat(changed))).toBe(true)
  }
})

test('after a change of a piece what is joined of others is the same, and the same list is made once', async () => {
  const pieces = Array.from({ length: 600 }, (_, index) => Buffer.from(`piece ${index} `.repeat(20)))
  const concat = vi.spyOn(Buffer, 'concat')
  const joins = async (given: readonly Uint8Array[]) => {
    concat.mockClear()
    const chunks = await gzipOfPieces(given)
    const lists = concat.mock.calls.map(([list]) => list.length)
    expect(gunzipSync(Buffer.concat(chunks)).equals(Buffer.concat(given))).toBe(true)
    return lists
  }
  const all = await joins(pieces)
  expect(all.length).toBeGreaterThan(5)
  // The runs that have the piece or what stands behind it.
  const after = await joins(pieces.with(300, Buffer.from('another')))
  expect(after.length).toBeLessThanOrEqual(2)
  const changed = pieces.toSpliced(300, 1)
  expect((await joins(changed)).length).toBeLessThanOrEqual(2)
  expect(await joins(changed)).toEqual([])
  concat.mockRestore()
})

test('however a list has changed, one piece after the other, it is whole, and joined to as many runs as a list that is new', async () => {
  const edit = fc.record({
    at: fc.nat(),
    removed: fc.nat(2),
    added: fc.array(fc.uint8Array({ minLength: 30, maxLength: 60 }), { maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 30 }), async (edits) => {
      let pieces: readonly Uint8Array[] = Array.from({ length: 60 }, (_, index) => Buffer.from(`piece ${index} of the list `.repeat(3)))
      let chunks = await gzipOfPieces(pieces)
      for (const { at, removed, added } of edits) {
        pieces = pieces.toSpliced(1 + (at % pieces.length), removed, ...added)
        chunks = await gzipOfPieces(pieces)
        expect(gunzipSync(Buffer.concat(chunks)).equals(Buffer.concat(pieces))).toBe(true)
      }
      // Copies have been in no list before, and end runs where their bytes say so.
      expect(chunks.length).toBe((await gzipOfPieces(pieces.map((piece) => Buffer.from(piece)))).length)
    }),
    { numRuns: 30 },
  )
})
