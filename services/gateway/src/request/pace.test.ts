import type { Steps } from '@orch/core/steps'
import { expect, test } from 'vitest'
import { advance, Pace, pause } from './pace.ts'
import type { GatewayRequest } from './request.ts'

const large = { isLarge: true } as GatewayRequest
const small = { isLarge: false } as GatewayRequest

function* counted(name: string, count: number, log: string[]): Steps<string> {
  for (let step = 1; step <= count; step++) {
    log.push(`${name}${step}`)
    yield
  }
  return name
}

test('LIM-12: in each turn of the loop one large request takes a step; small requests run in between', async () => {
  const pace = new Pace()
  const log: string[] = []
  let turns = 0
  const other = () => {
    turns += 1
    log.push('-')
    if (turns < 6) setImmediate(other)
  }
  setImmediate(other)
  const done = await Promise.all([advance(large, counted('a', 3, log), { pace }), advance(large, counted('b', 2, log), { pace })])
  expect(done).toEqual(['a', 'b'])
  expect(log.join(' ')).toBe('a1 b1 - a2 - b2 - a3 - -')
})

test('LIM-12: a small request takes all its steps at once, and waits for none', () => {
  const pace = new Pace()
  const log: string[] = []
  expect(advance(small, counted('a', 3, log), { pace })).toBe('a')
  expect(pause(small, { pace })).toBeUndefined()
  expect(log).toEqual(['a1', 'a2', 'a3'])
})

test('LIM-12: a small request with long work does the rest of its work in later turns', async () => {
  let nowMs = 0
  const pace = new Pace({ monotonic: () => nowMs })
  const log: string[] = []
  function* slow(): Steps<string> {
    for (const step of counted('a', 6, log)) {
      nowMs += 2
      yield step
    }
    return 'a'
  }
  const done = advance(small, slow(), { pace })
  expect(log).toEqual(['a1', 'a2', 'a3', 'a4'])
  expect(await done).toBe('a')
  expect(log).toHaveLength(6)
})

test('a step that fails ends the work with its error', async () => {
  const pace = new Pace()
  function* failing(): Steps<never> {
    yield
    throw new Error('no')
  }
  await expect(advance(large, failing(), { pace })).rejects.toThrow('no')
})
