import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createFakeClock } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { collectWhenIdle, ownHeap } from './v8.ts'

/** A process with these shares of busy time per second, then idle, and with this heap size. */
function processOf({ shares, heapBytes = 28e6 }: { shares: readonly number[]; heapBytes?: number }) {
  const clock = createFakeClock()
  const remaining = [1, ...shares]
  const collections: string[] = []
  let collected: () => void = () => undefined
  collectWhenIdle({
    clock,
    busyShare: () => remaining.shift() ?? 0,
    usedHeapBytes: () => heapBytes,
    collectAll: () => collections.push('all'),
    collectYoung: () => collections.push('young'),
    onCollection(callback) {
      collected = callback
    },
  })
  return {
    clock,
    /** V8 collects by itself. */
    collect: () => collected(),
    seconds(count: number) {
      clock.advance(count * 1000)
      return collections
    },
  }
}

const young = (count: number): string[] => Array.from({ length: count }, () => 'young')

test('the first idle second after the start ends with a collection of everything', () => {
  const { seconds } = processOf({ shares: [0.9, 0.2, 0.05] })
  expect(seconds(2)).toEqual([])
  expect(seconds(1)).toEqual(['all'])
})

test('one collection follows the start, however long the process is idle', () => {
  const { seconds, clock } = processOf({ shares: [0] })
  expect(seconds(100)).toEqual(['all'])
  expect(clock.pendingTimers).toBe(0)
})

test('only the young part of a large heap is collected when the process is idle for the first time', () => {
  const { seconds, clock } = processOf({ shares: [0], heapBytes: 41e6 })
  expect(seconds(100)).toEqual(young(8))
  expect(clock.pendingTimers).toBe(0)
})

test('a still larger heap is not collected', () => {
  const { seconds, collect, clock } = processOf({ shares: [1, 0, 1, 1], heapBytes: 61e6 })
  seconds(2)
  collect()
  expect(seconds(100)).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})

test('the young heap is collected in eight idle seconds after work, and a collection by V8 is the sign of work', () => {
  const { seconds, collect } = processOf({ shares: [0, 1, 0.5, 0.11, 0.1] })
  expect(seconds(60)).toEqual(['all'])
  collect()
  expect(seconds(2)).toEqual(['all'])
  expect(seconds(1)).toEqual(['all', 'young'])
  expect(seconds(100)).toEqual(['all', ...young(8)])
})

test('new work stops the collections, and eight collections follow it', () => {
  const { seconds, collect } = processOf({ shares: [0, 1, 1, 0, 0, 1, 1] })
  expect(seconds(1)).toEqual(['all'])
  collect()
  expect(seconds(5)).toEqual(['all', ...young(2)])
  expect(seconds(100)).toEqual(['all', ...young(2 + 8)])
})

test('a collection by V8 in an idle process causes no further ones', () => {
  const { seconds, collect, clock } = processOf({ shares: [0, 0, 0.1] })
  seconds(1)
  collect()
  expect(seconds(10)).toEqual(['all'])
  expect(clock.pendingTimers).toBe(0)
})

test('a process that is never idle is not collected', () => {
  const { seconds } = processOf({ shares: Array.from({ length: 50 }, () => 0.2) })
  expect(seconds(50)).toEqual([])
})

test('a collection frees unreferenced objects', async () => {
  const unused = ((): WeakRef<object> => new WeakRef({ name: 'a' }))()
  // A WeakRef keeps an object that was read in a turn until the turn ends.
  await nextTurn()
  ownHeap().collectAll()
  expect(unused.deref()).toBeUndefined()
})

test('a collection of the young heap is a minor one for V8', async () => {
  const seen: unknown[] = []
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntriesByType('gc')))
  observer.observe({ entryTypes: ['gc'] })
  onTestFinished(() => observer.disconnect())
  ownHeap().collectYoung()
  const minor = { detail: expect.objectContaining({ kind: constants.NODE_PERFORMANCE_GC_MINOR }) }
  await expect.poll(() => seen).toContainEqual(expect.objectContaining(minor))
})

test('a collection that V8 starts is reported, and one of ours is not', async () => {
  const { onCollection, collectYoung } = ownHeap()
  let count = 0
  onCollection(() => {
    count += 1
  })
  const countAfterOurs = async () => {
    const before = count
    collectYoung()
    // Node reports a collection in a later turn of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    return count - before
  }
  // V8 may start one at the same time.
  await expect.poll(countAfterOurs).toBe(0)
  const before = count
  const kept: unknown[] = []
  await expect
    .poll(() => {
      for (let index = 0; index < 100_000; index += 1) kept[index % 100] = { index }
      return count
    })
    .toBeGreaterThan(before)
})

test('a thread that computes is busy', () => {
  const { busyShare, usedHeapBytes } = ownHeap()
  expect(usedHeapBytes()).toBeGreaterThan(1e6)
  expect(busyShare()).toBeCloseTo(1)
})
