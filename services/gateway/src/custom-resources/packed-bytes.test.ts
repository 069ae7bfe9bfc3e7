import { expect, test, vi } from 'vitest'
import { BytesPacker } from './packed-bytes.ts'

test('bytes are read as they were given, before they are compressed and after', async () => {
  const packer = new BytesPacker()
  const texts = ['a'.repeat(100_000), '', 'größe']
  const given = texts.map((text) => Buffer.from(text))
  const kept = given.map((bytes) => packer.keep(bytes))
  const read = () => kept.map((one) => Buffer.from(one.read()).toString())
  expect(read()).toEqual(texts)
  expect(kept.map(({ length }) => length)).toEqual([100_000, 0, 7])
  // Each reading of compressed bytes makes them anew.
  await vi.waitFor(
    () => {
      for (const one of kept) expect(one.read()).not.toBe(one.read())
    },
    { timeout: 60_000 },
  )
  expect(read()).toEqual(texts)
})

test('what the giver does with its bytes afterwards does not change what is kept', () => {
  const bytes = Buffer.from('before')
  const kept = new BytesPacker().keep(bytes)
  bytes.write('after!')
  expect(Buffer.from(kept.read()).toString()).toBe('before')
})
