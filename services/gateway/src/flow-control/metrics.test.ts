import { createMetrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { PriorityLevel } from './configuration.ts'
import { createFlowMetrics } from './metrics.ts'
import { Level } from './priority-level.ts'

const name = 'apiserver_flowcontrol_priority_level'
const whenFull = { kind: 'queue', queues: 2, handSize: 1, queueLengthMax: 5 } as const
const limited: PriorityLevel = { name: 'l', uid: 'u', kind: { kind: 'limited', shares: 1, whenFull } }

/** A level of four seats and a queue of ten, and the sums of its measurements in milliseconds. */
function aMeasuredLevel(configuration = limited) {
  const clock = createFakeClock()
  const metrics = createMetrics({ process: false })
  const level = new Level('l', clock, createFlowMetrics(metrics, () => [], clock).meterOf('l'))
  level.configure(configuration, 4)
  const sums = async () => {
    const text = await metrics.text()
    const sumOf = (what: string, phase: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`${name}_${what}_sum{phase="${phase}",priority_level="l"} `))
      return Number(line?.split(' ').at(-1)) / 1e6
    }
    return [sumOf('seat_utilization', 'executing'), sumOf('request_utilization', 'executing'), sumOf('request_utilization', 'waiting')]
  }
  return { clock, level, sums }
}

test('a level’s metrics measure, over time, the used part of its seats, of its requests and of its queues', async () => {
  const { clock, level, sums } = aMeasuredLevel()
  clock.advance(1_000)
  expect(await sums()).toEqual([0, 0, 0])
  const wide = level.receive({ flow: 'a', width: 3 })
  clock.advance(1_000)
  expect(await sums()).toEqual([750, 250, 0])
  const narrow = level.receive({ flow: 'a', width: 2 })
  clock.advance(1_000)
  expect(await sums()).toEqual([1500, 500, 100])
  if (wide.kind === 'seated') wide.seat.release()
  clock.advance(1_000)
  expect(await sums()).toEqual([2000, 750, 100])
  const seat = narrow.kind === 'queued' ? await narrow.waiting.seated : undefined
  if (typeof seat === 'object') seat.release()
  clock.advance(1_000)
  expect(await sums()).toEqual([2000, 750, 100])
})

test('a request that no longer waits is not measured, and more seats reduce the used part', async () => {
  const { clock, level, sums } = aMeasuredLevel()
  level.receive({ flow: 'a', width: 4 })
  const second = level.receive({ flow: 'a', width: 1 })
  clock.advance(1_000)
  if (second.kind === 'queued') second.waiting.giveUp('cancelled')
  clock.advance(1_000)
  expect(await sums()).toEqual([2000, 500, 100])
  level.configure({ ...limited }, 8)
  clock.advance(1_000)
  expect(await sums()).toEqual([2500, 625, 100])
})

test('an exempt level, which has no seats, is not measured', async () => {
  const { clock, level, sums } = aMeasuredLevel({ name: 'l', uid: 'u', kind: { kind: 'exempt' } })
  level.receive({ flow: 'a', width: 1 })
  clock.advance(1_000)
  expect(await sums()).toEqual([0, 0, 0])
})
