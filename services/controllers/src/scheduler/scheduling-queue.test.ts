import { namesOf } from '@orch/core/names'
import { type FilterName, type Pod, podInfoOf, schedulingRules } from '@orch/core/scheduling'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { SchedulingQueue } from './scheduling-queue.ts'

function aPod(name: string, priority = 0): Pod {
  const metadata = { name, namespace: 'n', uid: name }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], priority }, status: {} }
}

const byResources: ReadonlySet<FilterName> = new Set(['NodeResourcesFit'])

/** A queue of a level. `refuse` takes the next Pod, puts it back, and returns its name. */
function aQueue(level: number) {
  const clock = createFakeClock()
  const isGateOn = (gate: string) => gate === 'SchedulerPopFromBackoffQ' && level >= 33
  const rules = schedulingRules({ names: namesOf('kubernetes'), level, isGateOn })
  const queue = new SchedulingQueue({ clock, rules, onReady: () => undefined })
  const refuse = (hasError = false) => {
    const entry = queue.take()
    if (entry !== undefined) queue.putBack(entry, { refusedBy: byResources, hasError })
    return entry?.info.name
  }
  const add = (pod: Pod) => queue.set(podInfoOf(pod), false)
  return { clock, queue, refuse, add }
}

test('SCHED-03: Pods are taken by priority, then in the order of their arrival', () => {
  const { add, queue } = aQueue(25)
  for (const pod of [aPod('a'), aPod('b', 5), aPod('c'), aPod('d', 5)]) add(pod)
  expect([1, 2, 3, 4, 5].map(() => queue.take()?.info.name)).toEqual(['b', 'd', 'a', 'c', undefined])
})

test('SCHED-05: the back-off of a Pod doubles from 1 s to 10 s, counted from its attempt', () => {
  const { clock, add, queue, refuse } = aQueue(25)
  add(aPod('a'))
  const backoffs = [1, 2, 3, 4, 5, 6].map(() => {
    refuse()
    queue.move({ kind: 'podGone' })
    const { backoffEndMs = 0 } = queue.get('n/a') ?? {}
    const lengthMs = backoffEndMs - clock.monotonic()
    clock.advance(lengthMs - 1)
    const early = queue.take()
    clock.advance(1)
    return [lengthMs, early]
  })
  expect(backoffs).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000].map((lengthMs) => [lengthMs, undefined]))
})

test('SCHED-05: since 1.33 a refused Pod is tried again when no other Pod waits, but not after an attempt that failed with an error', () => {
  const { add, queue, refuse } = aQueue(37)
  add(aPod('a'))
  refuse()
  queue.move({ kind: 'podGone' })
  expect(refuse()).toBe('a')
  queue.move({ kind: 'podGone' })
  expect(refuse(true)).toBe('a')
  expect(refuse()).toBeUndefined()
})

test('SCHED-06: a refused Pod is tried again after five minutes without any change', () => {
  const { clock, add, refuse } = aQueue(25)
  add(aPod('a'))
  refuse()
  clock.advance(299_999)
  expect(refuse()).toBeUndefined()
  clock.advance(1)
  expect(refuse()).toBe('a')
})

test('SCHED-07, SCHED-08: a Pod waits for changes that may help it, or for a change of the Pod itself', () => {
  const { clock, add, queue, refuse } = aQueue(25)
  add(aPod('a'))
  refuse()
  clock.advance(2000)
  queue.move({ kind: 'nodeGone' })
  queue.move({ kind: 'storage' })
  queue.set(podInfoOf(aPod('a')), false)
  expect(refuse()).toBeUndefined()
  queue.set(podInfoOf(aPod('a')), true)
  expect(refuse()).toBe('a')
})

test('SCHED-08: a deleted Pod leaves the queue, and another Pod with its name is a new one', () => {
  const { add, queue, refuse } = aQueue(25)
  add(aPod('a'))
  queue.delete('n/a')
  expect(refuse()).toBeUndefined()
  add(aPod('b'))
  add({ ...aPod('b'), metadata: { name: 'b', namespace: 'n', uid: 'another' } })
  expect(queue.take()?.info.uid).toBe('another')
  expect(queue.take()).toBeUndefined()
})
