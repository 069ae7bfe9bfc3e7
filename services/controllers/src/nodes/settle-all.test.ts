import { expect, test } from 'vitest'
import { settleAll } from './settle-all.ts'

test('other work runs between groups of 32 items', async () => {
  const begun: number[] = []
  let turns = 0
  const items = Array.from({ length: 70 }, (_, index) => index)
  const settled = settleAll(items, async () => void begun.push(turns))
  while (begun.length < items.length) {
    await new Promise((resolve) => setImmediate(resolve))
    turns += 1
  }
  await settled
  const perTurn = [...new Set(begun)].map((turn) => begun.filter((one) => one === turn).length)
  expect(perTurn).toEqual([32, 32, 6])
})
