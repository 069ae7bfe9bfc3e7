import { expect, test } from 'vitest'
import { isInShards, parseShardSelector, shardHash } from './shards.ts'

const rangesOf = (text: string) => {
  const read = parseShardSelector(text)
  return read.kind === 'selector' ? read.ranges : read.message
}

test('the hash is 64-bit FNV-1a over the UTF-8 bytes', () => {
  // The vectors of the FNV draft (draft-eastlake-fnv, appendix C), and a non-ASCII text compared with bigint arithmetic.
  expect(shardHash('')).toBe('0cbf29ce484222325')
  expect(shardHash('a')).toBe('0af63dc4c8601ec8c')
  expect(shardHash('foobar')).toBe('085944171f73967e8')
  for (const text of ['größe', '7b1c5f9e-21d4-4f6c-9d02-0c86d7f0f1aa', 'x'.repeat(100)]) {
    let hash = 0xcbf29ce484222325n
    for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
    expect(shardHash(text)).toBe(hash.toString(16).padStart(17, '0'))
  }
})

test('ranges have bounds of any length up to 2^64, in quotes of either kind, joined by or', () => {
  const whole = { field: 'uid', from: '0'.repeat(17), to: '1'.padEnd(17, '0') }
  expect(rangesOf("shardRange(object.metadata.uid, '0x0', '0x10000000000000000')")).toEqual([whole])
  expect(rangesOf(`shardRange( object.metadata.uid,"0x0000000000000000",'0x10000000000000000' )`)).toEqual([whole])
  const half = '8'.padEnd(16, '0').padStart(17, '0')
  expect(
    rangesOf("shardRange(object.metadata.namespace, '0x0', '0x8000000000000000') || shardRange(object.metadata.uid, '0x8', '0xA')"),
  ).toEqual([
    { field: 'namespace', from: '0'.repeat(17), to: half },
    { field: 'uid', from: '8'.padStart(17, '0'), to: 'a'.padStart(17, '0') },
  ])
})

test.each([
  ["shardRange(object.metadata.name, '0x0', '0x8')", /can't understand/],
  ["shardRange(metadata.uid, '0x0', '0x8')", /can't understand/],
  ["otherRange(object.metadata.uid, '0x0', '0x8')", /can't understand/],
  ["shardRange(object.metadata.uid, '0x0', '0x8'", /can't understand/],
  ['shardRange(object.metadata.uid, 0x0, 0x8)', /can't understand/],
  ["shardRange(object.metadata.uid, '0x0', '0x8') ||", /can't understand ''/],
  ["shardRange(object.metadata.uid, '0', '0x8')", /must be numbers of base 16/],
  ["shardRange(object.metadata.uid, '0x0g', '0x8')", /must be numbers of base 16/],
  ["shardRange(object.metadata.uid, '0x0', '0x10000000000000001')", /must be numbers of base 16/],
  ["shardRange(object.metadata.uid, '0x8', '0x8')", /is empty/],
  [Array(65).fill("shardRange(object.metadata.uid, '0x0', '0x8')").join('||'), /more than 64 ranges/],
])('%s is malformed', (text, why) => {
  expect(rangesOf(text)).toMatch(why)
})

test('a range includes an object at its begin, and not at its end', () => {
  const hash = shardHash('a')
  const next = `${hash.slice(0, -1)}d`
  const isIn = (from: string, to: string) => isInShards([{ field: 'uid', from, to }], (field) => (field === 'uid' ? 'a' : 'b'))
  expect([isIn(hash, next), isIn('0'.repeat(17), hash)]).toEqual([true, false])
  const elsewhere = { field: 'namespace', from: hash, to: next } as const
  expect(isInShards([elsewhere], () => 'b')).toBe(false)
  expect(isInShards([elsewhere, { field: 'uid', from: hash, to: next }], (field) => (field === 'uid' ? 'a' : 'b'))).toBe(true)
})
