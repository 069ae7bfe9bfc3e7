import { expect, test } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

const never = new Promise<never>(() => {})

/** Waits until all pending promises have settled. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('VERB-09: writers of one object take turns in the order of their calls', async () => {
  const mutex = new KeyedMutex()
  const order: number[] = []
  const ends = await Promise.all([mutex.take('a', never)])
  const waiting = [1, 2].map(async (number) => {
    const end = await mutex.take('a', never)
    order.push(number)
    end?.()
  })
  await settled()
  expect(order).toEqual([])
  ends[0]?.()
  await Promise.all(waiting)
  expect(order).toEqual([1, 2])
  expect(mutex.size).toBe(0)
})

test('VERB-09: writers of other objects do not wait', async () => {
  const mutex = new KeyedMutex()
  await mutex.take('a', never)
  expect(await mutex.take('b', never)).toBeTypeOf('function')
})

test('VERB-09: a waiter that gives up is skipped, and the others keep their order', async () => {
  const mutex = new KeyedMutex()
  const first = await mutex.take('a', never)
  const gaveUp = await mutex.take('a', Promise.resolve())
  expect(gaveUp).toBeUndefined()
  let isReached = false
  const third = mutex.take('a', never).then((end) => {
    isReached = true
    end?.()
  })
  await settled()
  expect(isReached).toBe(false)
  first?.()
  await third
  expect(mutex.size).toBe(0)
})
