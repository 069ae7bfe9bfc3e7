import { expect, test } from 'vitest'
import { RecentWrites } from './history.ts'

test('at least the newer half is known, the rest is dropped, and a clear drops all', () => {
  const writes = new RecentWrites(8)
  for (let revision = 1; revision <= 50; revision += 1) {
    writes.remember(`w${revision}`, revision)
    const known = Array.from({ length: revision }, (_, index) => index + 1).filter((one) => writes.revisionOf(`w${one}`) === one)
    expect(known.length).toBeLessThanOrEqual(8)
    expect(known.slice(-4)).toEqual([revision - 3, revision - 2, revision - 1, revision].filter((one) => one > 0))
  }
  writes.clear()
  for (let revision = 1; revision <= 50; revision += 1) expect(writes.revisionOf(`w${revision}`)).toBeUndefined()
})
