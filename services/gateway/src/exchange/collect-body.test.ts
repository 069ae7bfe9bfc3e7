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
