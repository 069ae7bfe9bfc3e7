import { expect, test } from 'vitest'
import { boundedMemo, getOrMake, lazily, memo } from './memo.ts'

test('a memo computes its result once for an object, and again for another object with the same members', () => {
  let made = 0
  const lengthOf = memo((list: readonly string[], more: number) => ({ length: list.length + more, made: ++made }))
  const list = ['a', 'b']
  expect(lengthOf(list, 1)).toEqual({ length: 3, made: 1 })
  expect(lengthOf(list, 1)).toBe(lengthOf(list, 1))
  expect(lengthOf(['a', 'b'], 1).made).toBe(2)
})

test('a memo computes again if the result was undefined or an error', () => {
  let calls = 0
  const find = memo((holder: { value?: string }) => {
    calls += 1
    if (holder.value === 'bad') throw new Error('bad')
    return holder.value
  })
  const [none, bad] = [{}, { value: 'bad' }]
  expect([find(none), find(none)]).toEqual([undefined, undefined])
  expect(() => find(bad)).toThrow('bad')
  expect(() => find(bad)).toThrow('bad')
  expect(calls).toBe(4)
})

test('a bounded memo keeps as many results as its bound, and starts empty with the next', () => {
  const made: string[] = []
  const upper = boundedMemo(2, (text: string) => {
    made.push(text)
    return text.toUpperCase()
  })
  for (const text of ['a', 'b', 'a', 'b']) expect(upper(text)).toBe(text.toUpperCase())
  expect(made).toEqual(['a', 'b'])
  for (const text of ['c', 'c', 'a']) upper(text)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('a bounded memo keeps results up to a weight, which is the length of texts or its own measure', () => {
  const made: string[] = []
  const make = (text: string) => {
    made.push(text[0] ?? '')
    return text.length
  }
  const byLength = boundedMemo(10, make)
  const [a, b, c] = ['a', 'b', 'c'].map((text) => text.repeat(400_000)) as [string, string, string]
  for (const text of [a, b, a, c, c, a]) byLength(text)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
  made.length = 0
  const byMeasure = boundedMemo(10, make, (_text, length) => length * 400_000)
  for (const text of ['a', 'b', 'a', 'c', 'c', 'a']) byMeasure(text)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('a value is made once for a key, and again after an error', () => {
  const entries = new Map<string, number | undefined>([['none', undefined]])
  const fail = () => {
    throw new Error('bad')
  }
  expect(() => getOrMake(entries, 'a', fail)).toThrow('bad')
  expect(entries.has('a')).toBe(false)
  expect([getOrMake(entries, 'a', () => 0), getOrMake(entries, 'a', fail), getOrMake(entries, 'none', () => 1)]).toEqual([0, 0, 1])
  const owner = {}
  const owned = new WeakMap<object, number[]>()
  getOrMake(owned, owner, () => []).push(1)
  getOrMake(owned, owner, () => []).push(2)
  expect(owned.get(owner)).toEqual([1, 2])
})

test('a lazy value is made at its first use only, and again after an error', () => {
  let made = 0
  const value = lazily(() => {
    made += 1
    if (made === 1) throw new Error('bad')
    return made
  })
  expect(made).toBe(0)
  expect(value).toThrow('bad')
  expect([value(), value()]).toEqual([2, 2])
})
