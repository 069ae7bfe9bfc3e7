import { expect, test } from 'vitest'
import { allOf, keptOnce } from './made-once.ts'

test('what is there and what is still made come in their order', async () => {
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, ['c']]
  expect(await allOf<object>([a, Promise.resolve(b), c, Promise.resolve(c)])).toEqual([a, b, c, c])
  expect(await allOf([])).toEqual([])
})

test('one that cannot be made is the error of all, and is made again when it is asked for again', async () => {
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
