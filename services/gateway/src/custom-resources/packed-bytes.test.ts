import { expect, test, vi } from 'vitest'
import { BytesPacker } from './packed-bytes.ts'

test('bytes are read unchanged, before they are compressed and after; the newest stay uncompressed', async () => {
  const packer = new BytesPacker()
  const texts = ['a'.repeat(100_000), '', 'größe', 'b'.repeat(160_000), 'c'.repeat(100_000)]
  const kept = texts.map((text) => packer.keep(Buffer.from(text)))
  const read = () => kept.map((one) => Buffer.from(one.read()).toString())
  expect(read()).toEqual(texts)
  expect(kept.map(({ length }) => length)).toEqual([100_000, 0, 7, 160_000, 100_000])
  // Each read of compressed bytes decompresses them again.
  const isCompressed = () => kept.map((one) => new Set([one.read(), one.read()]).size === 2)
  await vi.waitFor(() => expect(isCompressed()).toEqual([true, false, false, false, false]), { timeout: 60_000 })
  expect(read()).toEqual(texts)
  kept.push(packer.keep(Buffer.alloc(300_000)))
  await vi.waitFor(() => expect(isCompressed()).toEqual([true, true, true, true, true, true]), { timeout: 60_000 })
  expect(read().slice(0, 5)).toEqual(texts)
})

test('later changes of the caller’s bytes do not change the stored bytes', () => {
  const bytes = Buffer.from('before')
  const kept = new BytesPacker().keep(bytes)
  bytes.write('after!')
  expect(Buffer.from(kept.read()).toString()).toBe('before')
})
