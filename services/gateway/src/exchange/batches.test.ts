import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Batches } from './batches.ts'
import { InProcessExchange } from './in-process.ts'

function someBatches() {
  const clock = createFakeClock(0)
  const exchange = new InProcessExchange({ method: 'GET', path: '/', headers: {} }, { kind: 'unknown' })
  const written: string[] = []
  exchange.begin(200, {})
  void (async () => {
    for await (const bytes of exchange) written.push(Buffer.from(bytes).toString())
  })()
  const arrived = async () => {
    await new Promise(setImmediate)
    return written.splice(0)
  }
  return { clock, exchange, batches: new Batches(exchange, clock), arrived }
}

test('pieces that follow another piece within a tenth of a second are sent together', async () => {
  const { clock, batches, arrived } = someBatches()
  for (const piece of ['a', 'b', 'c']) batches.write(piece)
  expect(await arrived()).toEqual(['a'])
  await clock.advance(100)
  expect(await arrived()).toEqual(['bc'])
  batches.write('d')
  await clock.advance(99)
  expect(await arrived()).toEqual([])
  await clock.advance(1)
  expect(await arrived()).toEqual(['d'])
  await clock.advance(100)
  batches.write('e')
  expect(await arrived()).toEqual(['e'])
})

test('the last pieces are sent with the end, many characters are sent at once, and a closed exchange gets none', async () => {
  const { clock, exchange, batches, arrived } = someBatches()
  batches.write('a')
  batches.write('b'.repeat(300_000))
  batches.write('c')
  expect((await arrived()).map(({ length }) => length)).toEqual([1, 300_000])
  batches.end()
  expect([await arrived(), exchange.isClosed]).toEqual([['c'], true])
  batches.write('d')
  await clock.advance(1_000)
  expect(await arrived()).toEqual([])
})
