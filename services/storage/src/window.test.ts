import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Window } from './window.ts'

function open(historyMs = 300_000) {
  const clock = createFakeClock()
  const compactions: number[][] = []
  let revision = 10
  const window = new Window({
    clock,
    historyMs,
    revision: () => revision,
    compact: (upTo) => compactions.push([clock.monotonic() / 1_000, upTo]),
  })
  return {
    clock,
    compactions,
    window,
    write(to: number) {
      revision = to
      window.planTurn()
    },
  }
}

test('changes are compacted when they are five minutes old, and at most half a minute later', () => {
  const { clock, compactions, write } = open()
  for (let second = 0; second < 60; second += 1) {
    write(11 + second)
    clock.advance(1_000)
  }
  clock.advance(600_000)
  expect(compactions).toEqual([
    [300, 10],
    [330, 40],
    [360, 70],
  ])
})

test('a window without changes sets no timer after its last compaction, and the next change sets one', () => {
  const { clock, compactions, write } = open()
  clock.advance(300_000)
  expect([compactions, clock.pendingTimers]).toEqual([[[300, 10]], 0])
  clock.advance(3_600_000)
  write(11)
  expect(clock.pendingTimers).toBe(1)
  clock.advance(300_000)
  expect([compactions.at(-1), clock.pendingTimers]).toEqual([[4_200, 11], 0])
})

test('a short window records at its own interval, and a closed one not at all', () => {
  const { clock, compactions, window, write } = open(2_000)
  write(11)
  clock.advance(4_000)
  expect(compactions).toEqual([
    [2, 10],
    [4, 11],
  ])
  write(12)
  window.close()
  clock.advance(10_000)
  expect(compactions).toHaveLength(2)
})
