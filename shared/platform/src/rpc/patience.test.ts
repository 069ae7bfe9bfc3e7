import { expect, test } from 'vitest'
import type { Clock } from '../clock.ts'
import { afterPatience } from './patience.ts'

const turns = async () => {
  for (let count = 0; count < 5; count += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A clock whose timers a test fires, with their delays. */
function handClock() {
  const set: number[] = []
  let ring = () => {}
  const clock: Pick<Clock, 'after'> = {
    after(delayMs, callback) {
      set.push(delayMs)
      ring = callback
      return {
        cancel() {
          ring = () => {}
        },
      }
    },
  }
  return { clock: clock as Clock, set, ring: () => ring() }
}

test('a pause of this process counts only in part as time of the other side', async () => {
  const { clock, set, ring } = handClock()
  let isOver = false
  afterPatience(clock, 1_000, () => {
    isOver = true
  })
  for (let part = 1; part <= 4; part += 1) {
    expect(isOver).toBe(false)
    // For the process the timer may be arbitrarily late.
    ring()
    await turns()
  }
  expect({ isOver, set }).toEqual({ isOver: true, set: [250, 250, 250, 250] })
})

test('an answer that arrives during the last part ends the wait', async () => {
  const { clock, ring } = handClock()
  let isOver = false
  const timer = afterPatience(clock, 1_000, () => {
    isOver = true
  })
  for (let part = 1; part <= 4; part += 1) ring()
  timer.cancel()
  await turns()
  expect(isOver).toBe(false)
})
