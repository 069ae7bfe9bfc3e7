import { expect, test } from 'vitest'
import { allOf, keptOnce } from './made-once.ts'

test('present and future values are returned in their order', async () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, ['c']]
  expect(await allOf<object>([a, Promise.resolve(b), c, Promise.resolve(c)])).toEqual([a, b, c, c])
  expect(await allOf([])).toEqual([])
})

test('a failed value is the error of all, and is made again at the next request', async () => {
  let attempts = 0
  const make = keptOnce(async () => {
    attempts += 1
    if (attempts === 1) throw new Error('not yet')
    return { attempts }
  })
  await expect(allOf([{ attempts: 0 }, make(), make()])).rejects.toThrow('not yet')
  expect(await allOf([make()])).toEqual([{ attempts: 2 }])
  expect(make()).toBe(make())
})
