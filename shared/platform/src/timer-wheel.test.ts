import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { TimerWheel } from './timer-wheel.ts'

const wheelWithLog = () => {
  const clock = createFakeClock()
  const rung: string[] = []
  const wheel = new TimerWheel({ clock, tickMs: 250 })
  return { clock, rung, wheel, task: (name: string) => ({ due: () => void rung.push(name) }) }
}

test('a task runs once, never early and at most one tick late', () => {
  const { clock, rung, wheel, task } = wheelWithLog()
  wheel.after(1000, task('a'))
  clock.advance(999)
  expect(rung).toEqual([])
  clock.advance(251)
  expect(rung).toEqual(['a'])
  clock.advance(10_000)
  expect(rung).toEqual(['a'])
})

test('a task beyond one turn of the wheel is skipped until its time', () => {
  const { clock, rung, wheel, task } = wheelWithLog()
  wheel.after(70_000, task('far'))
  wheel.after(6_000, task('near'))
  clock.advance(69_000)
  expect(rung).toEqual(['near'])
  clock.advance(1_250)
  expect(rung).toEqual(['near', 'far'])
})

test('a cancelled task does not run, even if another task of the same tick cancels it', () => {
  const { clock, rung, wheel, task } = wheelWithLog()
  const second = wheel.after(500, task('second'))
  wheel.after(250, {
    due: () => {
      rung.push('first')
      second.cancel()
    },
  })
  clock.advance(5_000)
  expect(rung).toEqual(['first'])
})

test('the clock is used only while tasks wait', () => {
  const { clock, wheel, task } = wheelWithLog()
  expect(clock.pendingTimers).toBe(0)
  wheel.after(500, task('a'))
  wheel.after(900, task('b'))
  expect(clock.pendingTimers).toBe(1)
  clock.advance(2_000)
  expect(clock.pendingTimers).toBe(0)
  wheel.after(100, task('c')).cancel()
  expect([wheel.size, clock.pendingTimers]).toEqual([0, 0])
})

test('closing drops every task', () => {
  const { clock, rung, wheel, task } = wheelWithLog()
  for (let index = 0; index < 1000; index += 1) wheel.after(index * 100, task(String(index)))
  wheel.close()
  clock.advance(200_000)
  expect([rung, wheel.size, clock.pendingTimers]).toEqual([[], 0, 0])
})

test('the wheel has no timer between tasks', () => {
  const { clock, rung, task } = wheelWithLog()
  let calls = 0
  const after: Clock['after'] = (delayMs, callback) =>
    clock.after(delayMs, () => {
      calls += 1
      callback()
    })
  const counted: Clock = { now: clock.now, monotonic: clock.monotonic, every: clock.every, after }
  const quiet = new TimerWheel({ clock: counted })
  quiet.after(3_600_000, task('far'))
  quiet.after(90_000, task('near'))
  clock.advance(4_000_000)
  expect([rung, calls, quiet.size]).toEqual([['near', 'far'], 2, 0])
})

test('a task set during a call, and a task earlier than all others, run at their times', () => {
  const { clock, rung, wheel, task } = wheelWithLog()
  wheel.after(10_000, task('late'))
  wheel.after(1_000, {
    due: () => {
      rung.push('first')
      wheel.after(500, task('soon'))
    },
  })
  clock.advance(1_750)
  expect(rung).toEqual(['first', 'soon'])
  clock.advance(10_000)
  expect([rung, clock.pendingTimers]).toEqual([['first', 'soon', 'late'], 0])
})
