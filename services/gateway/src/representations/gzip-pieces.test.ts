import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { fc } from '@orch/testkit/chance'
import { expect, test, vi } from 'vitest'
import { gzipOfPieces, type Pieces } from './gzip-pieces.ts'

/** Zlib checks the sum and the length of the whole. */
const unpacked = async (pieces: Pieces) => gunzipSync(Buffer.concat(await gzipOfPieces(pieces)))

test('pieces that are compressed each alone are one gzip file of all', async () => {
  const list = fc.array(fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 1000, maxLength: 3000 })), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.array(list, { maxLength: 5 }), async (pieces) => {
      expect((await unpacked(pieces)).equals(Buffer.concat(pieces.flat()))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('a file of many bytes is sent in chunks, with its length', async () => {
  const pieces = Array.from({ length: 40 }, () => [randomBytes(20_000)])
  const chunks = await gzipOfPieces(pieces)
  expect(chunks.length).toBeGreaterThan(1)
  expect(gunzipSync(Buffer.concat(chunks)).equals(Buffer.concat(pieces.flat()))).toBe(true)
})

test('a piece is compressed once after its predecessor, for all parallel and later callers', async () => {
  const [kept, other] = [Buffer.alloc(5000, 'a'), Buffer.from('other')]
  const asked = [unpacked([[kept, other]]), unpacked([[other], [kept]])]
  expect((await Promise.all(asked)).map(String)).toEqual([`${'a'.repeat(5000)}other`, `other${'a'.repeat(5000)}`])
  // Nothing changes a piece that is kept: here it shows that it is not read again.
  kept.fill('b')
  expect(String(await unpacked([[other, kept]]))).toBe(`other${'a'.repeat(5000)}`)
})

test('pieces refer to their predecessor alone', async () => {
  const bytesOf = async (pieces: readonly Uint8Array[]) => (await gzipOfPieces([pieces])).reduce((sum, chunk) => sum + chunk.length, 0)
  const some = randomBytes(20_000)
  const alike = Array.from({ length: 100 }, (_, index) => Buffer.concat([some, Buffer.from(`${index}`)]))
  expect(await bytesOf(alike)).toBeLessThan(40_000)
  for (const changed of [[...alike.slice(0, 50), ...alike.slice(51)], alike.toSpliced(50, 0, randomBytes(50_000)), alike.toReversed()]) {
    expect((await unpacked([changed])).equals(Buffer.concat(changed))).toBe(true)
  }
})

test('joined lists that a change leaves unchanged are the same, and the same file is made once', async () => {
  const lists: Pieces = Array.from({ length: 60 }, (_, list) =>
    Array.from({ length: 10 }, (_, index) => Buffer.from(`piece ${index} of ${list} `.repeat(20))),
  )
  const concat = vi.spyOn(Buffer, 'concat')
  const joins = async (given: Pieces) => {
    concat.mockClear()
    const chunks = await gzipOfPieces(given)
    const { length } = concat.mock.calls
    expect(gunzipSync(Buffer.concat(chunks)).equals(Buffer.concat(given.flat()))).toBe(true)
    return length
  }
  const changed = (list: number, index: number) => lists.with(list, lists[list]!.with(index, Buffer.from('another')))
  expect(await joins(lists)).toBe(60)
  const file = changed(30, 5)
  expect(await joins(file)).toBe(1)
  expect(await joins(file)).toBe(0)
  // The first piece of the list behind it refers to what has changed.
  expect(await joins(changed(30, 9))).toBe(2)
  expect(await joins(lists.toSpliced(30, 1))).toBe(1)
  concat.mockRestore()
})

test.each([
  ['four short pieces at once', 4, 30_000, false],
  ['more pieces beside the event loop', 20, 30_000, true],
  ['a long piece beside the event loop', 1, 3_000_000, true],
])('a file is compressed with %s', async (_, count, length, isBeside) => {
  const pieces = [Array.from({ length: count }, () => randomBytes(length))]
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
