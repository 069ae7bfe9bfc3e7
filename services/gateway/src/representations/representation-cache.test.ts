import { expect, test } from 'vitest'
import { RepresentationCache, Representations } from './representation-cache.ts'

const cost = () => 10

function read(cache: Representations, representation: string, key: string, revision: number): 'kept' | 'made' {
  let how: 'kept' | 'made' = 'kept'
  const make = () => {
    how = 'made'
    return `${representation} ${key} ${revision}`
  }
  expect(cache.get(representation, { key, revision }, make, cost)).toBe(`${representation} ${key} ${revision}`)
  return how
}

test('a form is created once for each state of an object', () => {
  const cache = new Representations(100)
  expect(read(cache, 'item', 'a', 1)).toBe('made')
  expect(read(cache, 'item', 'a', 1)).toBe('kept')
  expect(read(cache, 'row', 'a', 1)).toBe('made')
  expect(read(cache, 'item', 'a', 2)).toBe('made')
  expect(cache.bytes).toBe(20)
})

test('the oldest form is dropped when the budget is used up', () => {
  const cache = new Representations(30)
  for (const key of ['a', 'b', 'c', 'd']) read(cache, 'item', key, 1)
  expect(cache.bytes).toBe(30)
  expect(read(cache, 'item', 'd', 1)).toBe('kept')
  expect(read(cache, 'item', 'a', 1)).toBe('made')
})

test('a new epoch has no cached forms, and readers of the previous epoch add none', () => {
  const cache = new RepresentationCache(100)
  const before = cache.of('one')
  read(before, 'item', 'a', 1)
  expect(read(cache.of('one'), 'item', 'a', 1)).toBe('kept')
  const after = cache.of('two')
  read(before, 'item', 'b', 1)
  expect(after.bytes).toBe(0)
  expect(read(after, 'item', 'a', 1)).toBe('made')
  expect(read(cache.of('two'), 'item', 'b', 1)).toBe('made')
})
