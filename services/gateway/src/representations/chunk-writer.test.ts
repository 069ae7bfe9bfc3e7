import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { ChunkWriter } from './chunk-writer.ts'

const lengthsOf = (chunks: readonly Uint8Array[]) => chunks.map(({ length }) => length)

test('written parts are sent in order, for any sequence of writes', () => {
  const writer = new ChunkWriter()
  const expected: Buffer[] = []
  for (let index = 0; index < 3_000; index++) {
    const text = `${index} äß€😀 `.repeat(index % 70)
    const bytes = Buffer.alloc((index * 7919) % 9_000, index)
    writer.text(text)
    writer.bytes(bytes)
    expected.push(Buffer.from(text), bytes)
  }
  expect(Buffer.concat(writer.takeAll()).equals(Buffer.concat(expected))).toBe(true)
})

test('a short list is one small chunk, and a long list soon has chunks of full size', () => {
  const writer = new ChunkWriter()
  writer.text('{"items":[')
  writer.bytes(Buffer.from('{}'))
  writer.text(']}')
  const [chunk, ...others] = writer.takeAll()
  expect(others).toEqual([])
  expect(String(chunk)).toBe('{"items":[{}]}')
  expect(chunk?.buffer.byteLength).toBe(4 * 1024)
  for (let index = 0; index < 1_000; index++) writer.bytes(Buffer.alloc(1_000))
  expect(Math.max(...lengthsOf(writer.takeAll()))).toBe(Math.floor(limits.listChunkBytes / 1_000) * 1_000)
})

test('large bytes are a separate chunk that is not copied, between earlier and later parts', () => {
  const writer = new ChunkWriter()
  const large = Buffer.alloc(limits.listChunkBytes / 4)
  writer.text('before')
  writer.bytes(large)
  writer.text('behind')
  const chunks = writer.takeAll()
  expect(chunks.map((chunk) => (chunk === large ? 'large' : String(chunk)))).toEqual(['before', 'large', 'behind'])
})

test('later writes do not change returned chunks', () => {
  const writer = new ChunkWriter()
  writer.text('first')
  const [first] = writer.takeAll()
  writer.text('second')
  expect([String(first), ...writer.takeAll().map(String)]).toEqual(['first', 'second'])
  expect(writer.takeAll()).toEqual([])
})

test('an incomplete chunk is returned only at the end', () => {
  const writer = new ChunkWriter()
  writer.text('x'.repeat(4 * 1024 - 10))
  const complete = writer.take()
  writer.bytes(Buffer.alloc(10_000))
  expect([complete, lengthsOf(writer.take()), lengthsOf(writer.takeAll())]).toEqual([[], [4 * 1024 - 10], [10_000]])
})
