import { expect, test } from 'vitest'
import { groupSize, inGroups } from './collect.ts'

test('LIM-12: a few of many items are processed at a time, and other work runs in between', async () => {
  let running = 0
  let most = 0
  let turns = 0
  const other = () => {
    turns += 1
    handle = setImmediate(other)
  }
  let handle = setImmediate(other)
  const items = Array.from({ length: 10 * groupSize + 1 }, (_, index) => index)
  const done = await inGroups(items, async (item, index) => {
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
    return item + index
  })
  clearImmediate(handle)
  expect(done).toEqual(items.map((item) => 2 * item))
  expect(most).toBe(groupSize)
  expect(turns).toBeGreaterThanOrEqual(10)
})
