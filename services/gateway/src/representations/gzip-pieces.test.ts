import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
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

test('a piece is compressed once, for all who ask at the same time and later', async () => {
  const [kept, other] = [Buffer.alloc(5000, 'a'), Buffer.from('other')]
  const asked = [unpacked([kept, other]), unpacked([other, kept])]
  expect((await Promise.all(asked)).map(String)).toEqual([`${'a'.repeat(5000)}other`, `other${'a'.repeat(5000)}`])
  // Nothing changes a piece that is kept: here it shows that it is not read again.
  kept.fill('b')
  expect(String(await unpacked([Buffer.from('new'), kept]))).toBe(`new${'a'.repeat(5000)}`)
})
