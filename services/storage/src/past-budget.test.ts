import { expect, test } from 'vitest'
import { PastBudget } from './service.ts'

test('the old half of the past goes when the young one is full', () => {
  const budget = new PastBudget({ bytesMax: 100, revision: 1 })
  const forgotten = [10, 11, 12, 13, 14, 15].map((revision) => budget.add(30, revision))
  expect(forgotten).toEqual([undefined, 1, undefined, 11, undefined, 13])
})
