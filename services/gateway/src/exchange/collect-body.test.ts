import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { collectBody } from './exchange.ts'

test('the body of a stream that was reset before its first read is broken', async () => {
  const stream = new PassThrough()
  stream.write('half')
  stream.destroy()
  await once(stream, 'close')
  expect(await collectBody(stream, 10)).toEqual({ kind: 'broken' })
})

test('LIM-12: a body of many chunks keeps no reference to a chunk after the first', async () => {
  const stream = new PassThrough()
  const body = collectBody(stream, 1_000)
  const chunks = Array.from({ length: 1_000 }, (_, index) => Buffer.of(index % 251))
  const expected = Buffer.concat(chunks)
  stream.on('data', (chunk: Buffer) => chunk !== chunks[0] && chunk.fill(255))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  expect(await body).toEqual({ kind: 'body', bytes: expected })
})
