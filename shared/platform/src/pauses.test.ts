import { expect, test } from 'vitest'
import { pauses, runWithPauses } from './pauses.ts'

/** Work that takes longer than a turn of the event loop may. */
function takeLong(): void {
  for (const end = performance.now() + 15; performance.now() < end; );
}

test('long work lets other work run after each of its steps, and short work is done at once', async () => {
  const order: string[] = []
  const steps = function* (take: () => void) {
    for (const step of ['a', 'b', 'c']) {
      order.push(step)
      take()
      yield
    }
    return order.length
  }
  expect(
    runWithPauses(
      steps(() => {}),
      pauses(),
    ),
  ).toBe(3)
  order.length = 0
  setImmediate(() => order.push('other'))
  const running = runWithPauses(steps(takeLong), pauses())
  expect(order).toEqual(['a'])
  expect(await running).toBe(4)
  expect(order).toEqual(['a', 'other', 'b', 'c'])
})

test('several pieces of long work take one step together in each turn', async () => {
  const order: string[] = []
  const work = function* (name: string) {
    for (const step of [1, 2, 3]) {
      order.push(`${name}${step}`)
      takeLong()
      yield
    }
  }
  const all = Promise.all(['a', 'b', 'c'].map((name) => runWithPauses(work(name), pauses())))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const perTurn: number[] = []
  for (let before = order.length; order.length < 9; before = order.length) {
    await turn()
    perTurn.push(order.length - before)
  }
  await all
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'])
  expect(Math.max(...perTurn)).toBe(1)
})
