import { expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

const keys = ['', 'a', 'b', 'c', '__proto__']
const held = (map: RecentMap<number>) => keys.filter((key) => map.get(key) !== undefined)

test('a full map drops the entry whose last set is the oldest, whatever was read', () => {
  const map = new RecentMap<number>(2)
  map.set('', 1)
  map.set('a', 2)
  map.set('', 3)
  expect(map.get('a')).toBe(2)
  map.set('__proto__', 4)
  expect(held(map)).toEqual(['', '__proto__'])
  map.set('b', 5)
  expect(held(map)).toEqual(['b', '__proto__'])
  expect([map.get('b'), map.get('__proto__')]).toEqual([5, 4])
})

test('a map that replaces an entry drops no other', () => {
  const map = new RecentMap<number>(2)
  for (const key of ['a', 'b', 'b', 'a', 'a']) map.set(key, 1)
  expect(held(map)).toEqual(['a', 'b'])
})

test('a deleted entry leaves room for another, and a map of none holds none', () => {
  const [map, none] = [new RecentMap<number>(2), new RecentMap<number>(0)]
  for (const key of ['a', 'b']) map.set(key, 1)
  map.delete('b')
  map.delete('b')
  map.set('c', 1)
  none.set('a', 1)
  expect([held(map), held(none)]).toEqual([['a', 'c'], []])
})
