import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { latenessOf } from './lateness.ts'

test('a call is late after its deadline, and not before', async () => {
  const clock = createFakeClock()
  const isLate = latenessOf({ timeoutMs: 50 }, clock)
  await clock.advance(50)
  expect(isLate()).toBe(false)
  await clock.advance(1)
  expect(isLate()).toBe(true)
})

test('a call without a deadline is late when it is cancelled', async () => {
  const clock = createFakeClock()
  const cancelling = new AbortController()
  const isLate = latenessOf({ signal: cancelling.signal }, clock)
  await clock.advance(1_000_000)
  expect([isLate(), latenessOf(undefined, clock)()]).toEqual([false, false])
  cancelling.abort()
  expect(isLate()).toBe(true)
})
