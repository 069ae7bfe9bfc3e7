import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { RequestTurns } from './pace.ts'

/** Requests that each take this much of a turn. */
function aServer(requestMs: number) {
  let nowMs = 0
  const turns = new RequestTurns({ monotonic: () => nowMs })
  const begun: string[] = []
  const come = (name: string) =>
    turns.begin(() => {
      begun.push(name)
      nowMs += requestMs
    })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { turns, begun, come, pass }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('parallel requests begin in order, as many in a turn as its time allows', async () => {
  const { turns, begun, come } = aServer(limits.requestTurnMs / 2)
  for (const name of 'abcdef') come(name)
  expect(begun.join('')).toBe('ab')
  expect(turns.waiting).toBe(4)
  await nextTurn()
  expect(begun.join('')).toBe('abcd')
  await nextTurn()
  expect(begun.join('')).toBe('abcdef')
  expect(turns.waiting).toBe(0)
})

test.each([
  ['as long as all else has taken', 5, 5],
  ['no longer than a turn may be', 1_000, limits.requestTurnMsMax],
])('waiting requests begin for %s', async (_how, elseMs, expected) => {
  const { turns, begun, come, pass } = aServer(1)
  for (let count = 0; count < 50; count++) come('r')
  const before = begun.length
  pass(elseMs - before)
  await nextTurn()
  expect(begun.length - before).toBe(expected)
  // Work that began in the turn is not counted twice.
  await nextTurn()
  expect(begun.length - before - expected).toBe(limits.requestTurnMs)
  expect(turns.waiting).toBe(50 - begun.length)
})

test('a single request begins at once, even after a long request', async () => {
  const { begun, come } = aServer(limits.requestTurnMs * 10)
  come('a')
  await nextTurn()
  come('b')
  expect(begun.join('')).toBe('ab')
})

test('in each turn one request begins, even if it takes longer than the turn', async () => {
  const { begun, come } = aServer(limits.requestTurnMs * 10)
  for (const name of 'abc') come(name)
  expect(begun.join('')).toBe('a')
  await nextTurn()
  expect(begun.join('')).toBe('ab')
  await nextTurn()
  expect(begun.join('')).toBe('abc')
})

test('a request that arrives while others wait begins after them', async () => {
  const { turns, begun, come } = aServer(limits.requestTurnMs)
  for (const name of 'abc') come(name)
  await nextTurn()
  come('d')
  expect(begun.join('')).toBe('ab')
  while (turns.waiting > 0) await nextTurn()
  expect(begun.join('')).toBe('abcd')
})

test('a request that sends another request, like controllers in this process, gives that request a turn', async () => {
  const turns = new RequestTurns({ monotonic: () => 0 })
  const begun: string[] = []
  turns.begin(() => {
    begun.push('a')
    turns.begin(() => begun.push('b'))
  })
  expect(begun).toEqual(['a', 'b'])
})
