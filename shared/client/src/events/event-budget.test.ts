import { expect, test } from 'vitest'
import { EventBudget } from './event-budget.ts'

test('a budget of events has room for 300 at once, and for 50 more each second', () => {
  const budget = new EventBudget()
  const takenAt = (nowMs: number) => Array.from({ length: 1000 }, () => budget.take(nowMs)).filter(Boolean).length
  expect([takenAt(5000), takenAt(6000), takenAt(6010), takenAt(600_000)]).toEqual([300, 50, 0, 300])
})
