import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { PastBudget } from './history.ts'

function aBudget(density = 1) {
  const forgotten: number[] = []
  const log = { density }
  const budget = new PastBudget({ bytesMax: 16_000, density: () => log.density, onFull: (upTo) => void forgotten.push(upTo) })
  const count = (bytes: number, ...revisions: number[]) => {
    for (const revision of revisions) budget.count({ length: bytes - limits.pastOverheadBytes }, revision)
  }
  return { budget, log, count, forgotten }
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

test('a past that memory holds in a quarter of its bytes has space for four times as many objects', () => {
  const { count, forgotten } = aBudget(0.25)
  count(4_000, ...Array.from({ length: 16 }, (_, index) => index + 1))
  expect(forgotten).toEqual([])
  count(4_000, 17)
  expect(forgotten).toEqual([1])
})

test('a past whose new objects compress less is bounded by their density, however large it has become before', () => {
  const { log, count, forgotten } = aBudget(0.01)
  count(4_000, ...Array.from({ length: 20 }, (_, index) => index + 1))
  expect(forgotten).toEqual([])
  log.density = 1
  count(4_000, 21)
  expect(forgotten).toEqual([17])
})
