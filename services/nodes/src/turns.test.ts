import { expect, test } from 'vitest'
import { untilTurn } from './turns.ts'

test.each([
  ['after a turn that was in time', 0, 20_000, 30_000],
  ['after a turn that was late', 0, 20_060, 30_000],
  ['after a timer that ended too early', 0, 19_999, 30_000],
  ['of a node that starts between two turns', 99, 27_500, 30_000],
  ['of the second hundred', 100, 20_000, 21_000],
  ['of the twelfth hundred, which has that of the second', 1_100, 20_000, 21_000],
])('the next turn %s is at a fixed moment', (_when, index, nowMs, expectedMs) => {
  expect(nowMs + untilTurn(index, nowMs)).toBe(expectedMs)
})
