import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { RareLines } from './rare-lines.ts'

test('a subject has one line a minute, with the number of omitted lines', () => {
  const clock = createFakeClock()
  const lines = new RareLines(clock)
  const written: string[] = []
  const note = (thing: string) => lines.note(thing, (leftOut) => written.push(`${thing} ${leftOut}`))
  for (const thing of ['a', 'a', 'b', 'a']) note(thing)
  expect(written).toEqual(['a 0', 'b 0'])
  clock.advance(59_999)
  note('a')
  expect(written).toHaveLength(2)
  clock.advance(1)
  note('a')
  note('b')
  expect(written).toEqual(['a 0', 'b 0', 'a 3', 'b 0'])
})

test('the number of remembered subjects is bounded', () => {
  const lines = new RareLines(createFakeClock())
  const written: number[] = []
  for (let index = 0; index <= 1_000; index += 1) lines.note(String(index), () => written.push(index))
  lines.note('0', () => written.push(0))
  expect(written).toHaveLength(1_002)
})
