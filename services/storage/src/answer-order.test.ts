import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { AnswerOrder } from './answer-order.ts'

/** A commit whose events take so long to leave; the order in which events and answer come. */
async function commit(order: AnswerOrder, handOut: () => void): Promise<string[]> {
  const seen: string[] = []
  const events = new Promise<void>((resolve) => {
    order.begin()
    setImmediate(() => {
      handOut()
      seen.push('events')
      resolve()
    })
  })
  await order.answer()
  seen.push('answer')
  await events
  // The answer's own look at the clock comes after them.
  await new Promise((resolve) => setImmediate(resolve))
  return seen
}

test('WATCH-02: a commit is answered behind its events, while these leave quickly', async () => {
  const clock = createFakeClock()
  const order = new AnswerOrder(clock)
  for (let round = 0; round < 3; round++) expect(await commit(order, () => void clock.advance(1))).toEqual(['events', 'answer'])
})

test('a commit is answered before its events for a while after they took long three times, and behind them again later', async () => {
  const clock = createFakeClock()
  const order = new AnswerOrder(clock)
  const slow = () => void clock.advance(20)
  for (const round of [slow, slow, () => undefined, slow, slow, slow]) expect(await commit(order, round)).toEqual(['events', 'answer'])
  expect(await commit(order, slow)).toEqual(['answer', 'events'])
  clock.advance(6_000)
  expect(await commit(order, () => undefined)).toEqual(['events', 'answer'])
})
