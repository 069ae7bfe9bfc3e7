import { expect, test } from 'vitest'
import { pastOverheadBytes } from '../limits.ts'
import { PastBudget } from './history.ts'

function aBudget() {
  const forgotten: number[] = []
  const budget = new PastBudget({ bytesMax: 16_000, onFull: (upTo) => void forgotten.push(upTo) })
  const count = (bytes: number, ...revisions: number[]) => {
    for (const revision of revisions) budget.count({ length: bytes - pastOverheadBytes }, revision)
  }
  return { budget, count, forgotten }
}

test('the oldest part of the past is dropped when its bytes exceed the bound', () => {
  const { count, forgotten } = aBudget()
  count(4_000, 10, 11, 12, 13)
  expect(forgotten).toEqual([])
  count(4_000, 14)
  expect(forgotten).toEqual([10])
  count(9_000, 15)
  expect(forgotten).toEqual([10, 13])
})

test('small objects of the past are dropped in parts of a sixteenth of the bound', () => {
  const { count, forgotten } = aBudget()
  count(700, ...Array.from({ length: 22 }, (_, index) => index + 1))
  expect(forgotten).toEqual([])
  count(700, 23)
  expect(forgotten).toEqual([2])
})

test('an object of the past that is packed leaves space for others', () => {
  const { budget, count, forgotten } = aBudget()
  count(4_000, 10, 11, 12, 13)
  for (const revision of [10, 11]) budget.save(3_000, revision)
  count(4_000, 14)
  expect(forgotten).toEqual([])
  count(4_000, 15)
  expect(forgotten).toEqual([11])
  budget.save(3_000, 10)
  count(4_000, 16)
  expect(forgotten).toEqual([11, 12])
})
