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
