import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { PiecePacker, type Pieces } from './gzip-pieces.ts'

/** Zlib checks the sum and the length of the whole. */
const unpacked = async (pieces: Pieces, packer = new PiecePacker()) => gunzipSync(Buffer.concat(await packer.gzip(pieces)))

test('separately compressed pieces form one gzip file', async () => {
  const piece = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 1000, maxLength: 3000 }))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      expect((await unpacked(pieces)).equals(Buffer.concat(pieces))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('a piece is compressed once after its predecessor, for all concurrent and later callers', async () => {
  const [kept, other] = [Buffer.alloc(5000, 'a'), Buffer.from('other')]
  const packer = new PiecePacker()
  const asked = [unpacked([kept, other], packer), unpacked([other, kept], packer)]
  expect((await Promise.all(asked)).map(String)).toEqual([`${'a'.repeat(5000)}other`, `other${'a'.repeat(5000)}`])
  // A cached piece is never changed: the change shows that it is not read again.
  kept.fill('b')
  expect(String(await unpacked([other, kept], packer))).toBe(`other${'a'.repeat(5000)}`)
})

test('a piece refers only to bytes of the previous piece', async () => {
  const packer = new PiecePacker()
  const bytesOf = async (pieces: Pieces) => Buffer.concat(await packer.gzip(pieces)).length
  const some = randomBytes(20_000)
  const alike = Array.from({ length: 100 }, (_, index) => Buffer.concat([some, Buffer.from(`${index}`)]))
  expect(await bytesOf(alike)).toBeLessThan(40_000)
  for (const changed of [[...alike.slice(0, 50), ...alike.slice(51)], alike.toSpliced(50, 0, randomBytes(50_000)), alike.toReversed()]) {
    expect((await unpacked(changed, packer)).equals(Buffer.concat(changed))).toBe(true)
  }
})

test('a change of one piece leaves most chunks unchanged, and equal files are created once', async () => {
  const packer = new PiecePacker()
  const pieces: Pieces = Array.from({ length: 600 }, (_, index) => Buffer.from(`piece ${index} `.repeat(20)))
  const before = await packer.gzip(pieces)
  const changed = pieces.with(300, Buffer.from('another'))
  const after = await packer.gzip(changed)
  expect(before.length).toBeGreaterThan(10)
  // The changed piece, the next one, and the checksum at the end.
  expect(after.filter((chunk) => !before.includes(chunk)).length).toBeLessThanOrEqual(3)
  expect(gunzipSync(Buffer.concat(after)).equals(Buffer.concat(changed))).toBe(true)
  expect(await packer.gzip(changed)).toBe(after)
})

test.each([
  ['four short pieces at once', 4, 30_000, false],
  ['more pieces beside the event loop', 20, 30_000, true],
  ['a long piece beside the event loop', 1, 3_000_000, true],
])('a file is compressed with %s', async (_, count, length, isBeside) => {
  const pieces = Array.from({ length: count }, () => randomBytes(length))
  let turns = 0
  const turn = () => {
    turns += 1
    if (turns < 1000) timer = setImmediate(turn)
  }
  let timer = setImmediate(turn)
  expect((await unpacked(pieces)).length).toBe(count * length)
  clearImmediate(timer)
  expect(turns > 0).toBe(isBeside)
})
