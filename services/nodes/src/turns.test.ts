import { expect, test } from 'vitest'
import { nodeTurns, untilTurn } from './turns.ts'

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

test('25 renewals of all nodes together begin in one turn of the event loop', async () => {
  const { renewals } = nodeTurns({ isVirtual: true }, new AbortController().signal)
  let begun = 0
  const counts: number[] = []
  const passing = (async () => {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      counts.push(begun)
    }
  })()
  for (let node = 0; node < 60; node++) void Promise.resolve(renewals.take(1)).then(() => begun++)
  await passing
  expect(counts).toEqual([25, 50, 60])
})
