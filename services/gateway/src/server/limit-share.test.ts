import { expect, test } from 'vitest'
import { type PriorityLevel, shareOfLevel } from '../flow-control/configuration.ts'
import { shareOf, wholeLimit } from './limit-share.ts'

test('shares add up to the limit, and differ by one at most', () => {
  for (const limit of [0, 1, 2, 7, 200, 401]) {
    for (const parts of [1, 2, 3, 16]) {
      const shares = Array.from({ length: parts }, (_, index) => shareOf(limit, { index, of: parts }))
      expect(shares.reduce((sum, share) => sum + share)).toBe(limit)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    }
  }
})

test('the places in a queue of a priority level are divided, and each gateway has at least one', () => {
  const level = (queueLengthMax: number): PriorityLevel => {
    const whenFull = { kind: 'queue', queues: 64, handSize: 8, queueLengthMax } as const
    return { name: 'a', uid: '', kind: { kind: 'limited', shares: 30, whenFull } }
  }
  const placesOf = (places: number, index: number, of: number) => {
    const { kind } = shareOfLevel(level(places), { index, of })
    return kind.kind === 'limited' && kind.whenFull.kind === 'queue' ? kind.whenFull.queueLengthMax : undefined
  }
  expect([placesOf(51, 0, 2), placesOf(51, 1, 2)]).toEqual([26, 25])
  expect([placesOf(1, 0, 2), placesOf(1, 1, 2)]).toEqual([1, 1])
  const whole = level(50)
  expect(shareOfLevel(whole, wholeLimit)).toBe(whole)
})
