import { expect, onTestFinished, test, vi } from 'vitest'
import { type Clock, sleep, systemClock, type Timer } from './clock.ts'

/** A clock with one timer that the test fires. */
function aClock() {
  const timers = new Set<() => void>()
  const after = (_: number, callback: () => void): Timer => {
    timers.add(callback)
    return { cancel: () => void timers.delete(callback) }
  }
  const clock: Clock = { now: () => 0, monotonic: () => 0, after, every: after }
  return { clock, timers, ring: () => timers.forEach((callback) => void callback()) }
}

test('a sleep ends after the delay', async () => {
  const { clock, ring, timers } = aClock()
  const slept = sleep(clock, 5)
  ring()
  await expect(slept).resolves.toBeUndefined()
  expect(timers.size).toBe(0)
})

test('a sleep ends with the signal, and leaves no timer', async () => {
  const { clock, timers } = aClock()
  const ending = new AbortController()
  const slept = sleep(clock, 5, ending.signal)
  ending.abort()
  await expect(slept).resolves.toBeUndefined()
  await expect(sleep(clock, 5, ending.signal)).resolves.toBeUndefined()
  expect(timers.size).toBe(0)
})

test('a past time is due at once, without a warning of Node', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  await new Promise<void>((resolve) => void systemClock.after(-5, resolve))
  expect(warnings).toEqual([])
})

test('a timer that Node fires more than a millisecond early waits for the rest', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000.9)
  onTestFinished(() => {
    now.mockRestore()
    vi.useRealTimers()
  })
  const rung: number[] = []
  systemClock.after(10, () => rung.push(performance.now()))
  now.mockReturnValue(1_009.2)
  vi.advanceTimersByTime(10)
  expect(rung).toEqual([])
  now.mockReturnValue(1_010.5)
  vi.advanceTimersByTime(2)
  expect(rung).toEqual([1_010.5])
})

test('a time beyond the longest timer of Node is waited for, and can be cancelled meanwhile', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const dayMs = 24 * 60 * 60 * 1000
  const rung: string[] = []
  systemClock.after(60 * dayMs, () => rung.push('waited'))
  const cancelled = systemClock.after(60 * dayMs, () => rung.push('cancelled'))
  vi.advanceTimersByTime(59 * dayMs)
  expect(rung).toEqual([])
  cancelled.cancel()
  vi.advanceTimersByTime(dayMs)
  expect(rung).toEqual(['waited'])
  expect(vi.getTimerCount()).toBe(0)
})
