import { expect, test } from 'vitest'
import { FormCache } from './form-cache.ts'

const cost = () => 10

function read(cache: FormCache, form: string, key: string, revision: number): 'kept' | 'made' {
  let how: 'kept' | 'made' = 'kept'
  const make = () => {
    how = 'made'
    return `${form} ${key} ${revision}`
  }
  expect(cache.get(form, { key, revision }, make, cost)).toBe(`${form} ${key} ${revision}`)
  return how
}

test('a form is made once for each state of an object', () => {
  const cache = new FormCache(100)
  expect(read(cache, 'item', 'a', 1)).toBe('made')
  expect(read(cache, 'item', 'a', 1)).toBe('kept')
  expect(read(cache, 'row', 'a', 1)).toBe('made')
  expect(read(cache, 'item', 'a', 2)).toBe('made')
  expect(cache.bytes).toBe(20)
})

test('what was made first goes first when the budget is used up', () => {
  const cache = new FormCache(30)
  for (const key of ['a', 'b', 'c', 'd']) read(cache, 'item', key, 1)
  expect(cache.bytes).toBe(30)
  expect(read(cache, 'item', 'd', 1)).toBe('kept')
  expect(read(cache, 'item', 'a', 1)).toBe('made')
})

test('nothing is kept of another epoch', () => {
  const cache = new FormCache(100)
  cache.enter('one')
  read(cache, 'item', 'a', 1)
  cache.enter('one')
  expect(read(cache, 'item', 'a', 1)).toBe('kept')
  cache.enter('two')
  expect(cache.bytes).toBe(0)
  expect(read(cache, 'item', 'a', 1)).toBe('made')
})
