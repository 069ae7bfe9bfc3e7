import { expect, test } from 'vitest'
import { allOf, once } from './once.ts'

test('a failed value is created again at the next request, and then cached', async () => {
  let attempts = 0
  const make = once(async () => {
    attempts += 1
    if (attempts === 1) throw new Error('not yet')
    return { attempts }
  })
  await expect(Promise.all([make(), make()])).rejects.toThrow('not yet')
  expect(make.made).toBeUndefined()
  expect(await make()).toEqual({ attempts: 2 })
  expect(make()).toBe(make())
  expect(make.made).toBe(await make())
})

test('several values are returned in order, even if some exist already', async () => {
  const [a, b, c] = [once(async () => 'a'), once(async () => 'b'), once(async () => 'c')]
  await b()
  expect(await allOf([a, b, c])).toEqual(['a', 'b', 'c'])
  expect(await allOf([])).toEqual([])
})
