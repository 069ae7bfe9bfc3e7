import { expect, test } from 'vitest'
import { pastOverheadBytes } from '../limits.ts'
import { PastBudget } from './history.ts'

test('the old half of the past is dropped when the young one is full', () => {
  const forgotten: number[] = []
  const budget = new PastBudget({ bytesMax: 10_000, revision: 1, onFull: (upTo) => void forgotten.push(upTo) })
  const seen = [10, 11, 12, 13, 14, 15].map((revision) => {
    budget.count({ length: 3_000 - pastOverheadBytes }, revision)
    return [...forgotten]
  })
  expect(seen).toEqual([[], [1], [1], [1, 11], [1, 11], [1, 11, 13]])
})
