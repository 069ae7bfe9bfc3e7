import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { collectOnceIdle, ownHeap } from './idle-collection.ts'

/** A process that is busy for these shares of its seconds, with this many bytes in its heap. */
function processOf({ shares, heapBytes = 28e6 }: { shares: readonly number[]; heapBytes?: number }) {
  const clock = createFakeClock()
  const remaining = [1, ...shares]
  let collections = 0
  collectOnceIdle({
    clock,
    busyShare: () => remaining.shift() ?? 0,
    usedHeapBytes: () => heapBytes,
    collect: () => {
      collections++
    },
  })
  return {
    seconds(count: number) {
      clock.advance(count * 1000)
      return collections
    },
  }
}

test('the first idle second after the start ends with a collection', () => {
  const { seconds } = processOf({ shares: [0.9, 0.2, 0.05] })
  expect(seconds(2)).toBe(0)
  expect(seconds(1)).toBe(1)
})

test('there is one collection, however long the process is idle', () => {
  const { seconds } = processOf({ shares: [0] })
  expect(seconds(100)).toBe(1)
})

test('a large heap is not collected', () => {
  const { seconds } = processOf({ shares: [0], heapBytes: 41e6 })
  expect(seconds(100)).toBe(0)
})

test('a collection frees what nothing refers to', async () => {
  const unused = ((): WeakRef<object> => new WeakRef({ name: 'a' }))()
  // An object that has been seen in a turn is kept until its end.
  await nextTurn()
  ownHeap().collect()
  expect(unused.deref()).toBeUndefined()
})

test('a thread that computes is busy', () => {
  const { busyShare, usedHeapBytes } = ownHeap()
  expect(usedHeapBytes()).toBeGreaterThan(1e6)
  expect(busyShare()).toBeCloseTo(1)
})
