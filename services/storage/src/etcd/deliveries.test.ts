import { UnknownOutcomeError } from '@orch/core/contracts'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import type { EtcdContext } from './context.ts'
import { Deliveries } from './deliveries.ts'

/** Deliveries with a watch at revision 5, and the revisions for which waiters were released. */
function open() {
  const clock = createFakeClock()
  const expected: number[] = []
  const deliveries = new Deliveries({ clock, timeline: { position: 5 } } as unknown as EtcdContext, (revision) => expected.push(revision))
  const ends: unknown[] = []
  const wait = (revision: number) =>
    deliveries.upTo(revision).then(
      () => ends.push(revision),
      (error: unknown) => ends.push(error instanceof UnknownOutcomeError ? `${revision} unknown` : error),
    )
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { clock, deliveries, expected, ends, wait, turn }
}

test('a waiter for a revision is released by that revision, and not by an earlier revision', async () => {
  const { deliveries, expected, ends, wait, turn } = open()
  for (const revision of [5, 7, 9]) void wait(revision)
  await turn()
  expect([expected, ends]).toEqual([[7, 9], [5]])
  deliveries.reached(7)
  await turn()
  expect(ends).toEqual([5, 7])
  deliveries.reached(12)
  await turn()
  expect(ends).toEqual([5, 7, 9])
})

test('a wait that takes too long, or whose answer is lost, ends with an unknown outcome', async () => {
  const { clock, deliveries, ends, wait, turn } = open()
  void wait(7)
  clock.advance(limits.etcdDeliveryWaitMs - 1)
  void wait(9)
  clock.advance(1)
  await turn()
  expect(ends).toEqual(['7 unknown'])
  deliveries.rejectAll('closed')
  await turn()
  expect(ends).toEqual(['7 unknown', '9 unknown'])
})
