import { expect, test } from 'vitest'
import { inGrowingBatches } from './slow-start.ts'

test.each<[count: number, refusedFrom: number, batches: number[], errors: number]>([
  [0, 9, [], 0],
  [1, 9, [1], 0],
  [4, 9, [1, 2, 1], 0],
  [10, 99, [1, 2, 4, 3], 0],
  [200, 999, [1, 2, 4, 8, 16, 32, 32, 32, 32, 32, 9], 0],
  [10, 0, [1], 1],
  [10, 2, [1, 2], 1],
  [10, 4, [1, 2, 4], 3],
])('WL-COMMON-23: of %i creations, refused from number %i on, the batches %j are tried', async (count, refusedFrom, batches, errors) => {
  const sizes: number[] = []
  let atOnce = 0
  const items = Array.from({ length: count }, (_, index) => index)
  const result = await inGrowingBatches(items, async (item) => {
    if (++atOnce === 1) void Promise.resolve().then(() => void sizes.push(atOnce))
    await new Promise((resolve) => setImmediate(resolve))
    atOnce--
    if (item >= refusedFrom) throw new Error('refused')
  })
  expect([sizes, result.triedCount, result.errors.length]).toEqual([batches, batches.reduce((sum, size) => sum + size, 0), errors])
})
