import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

const never = new Promise<never>(() => {})

/** Lets everything that waits for a promise go on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('VERB-09: writers of one object take turns in the order in which they asked', async () => {
  const turns = new Turns()
  const order: number[] = []
  const ends = await Promise.all([turns.take('a', never)])
  const waiting = [1, 2].map(async (number) => {
    const end = await turns.take('a', never)
    order.push(number)
    end?.()
  })
  await settled()
  expect(order).toEqual([])
  ends[0]?.()
  await Promise.all(waiting)
  expect(order).toEqual([1, 2])
  expect(turns.size).toBe(0)
})

test('VERB-09: writers of other objects do not wait', async () => {
  const turns = new Turns()
  await turns.take('a', never)
  expect(await turns.take('b', never)).toBeTypeOf('function')
})

test('VERB-09: whoever gives up is passed over, and nobody overtakes', async () => {
  const turns = new Turns()
  const first = await turns.take('a', never)
  const gaveUp = await turns.take('a', Promise.resolve())
  expect(gaveUp).toBeUndefined()
  let isReached = false
  const third = turns.take('a', never).then((end) => {
    isReached = true
    end?.()
  })
  await settled()
  expect(isReached).toBe(false)
  first?.()
  await third
  expect(turns.size).toBe(0)
})
