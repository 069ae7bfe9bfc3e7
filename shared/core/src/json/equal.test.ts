import { expect, test } from 'vitest'
import { haveSameText } from './equal.ts'

test.each<[string, unknown, unknown, boolean]>([
  ['members in the same order', { a: [1, { b: null }], c: 'x' }, { a: [1, { b: null }], c: 'x' }, true],
  ['members in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, false],
  ['a member more', { a: 1 }, { a: 1, b: 2 }, false],
  ['another value', { a: { b: 1 } }, { a: { b: '1' } }, false],
  ['an item more', { a: [1] }, { a: [1, 2] }, false],
  ['a list and an object', { a: [] }, { a: {} }, false],
  ['null and an object', { a: null }, { a: {} }, false],
  ['integers beyond 2^53', { a: 2n ** 60n }, { a: 2n ** 60n }, true],
])('%s: two values have the same text', (_, left, right, expected) => {
  expect(haveSameText(left, right)).toBe(expected)
  expect(haveSameText(right, left)).toBe(expected)
})

test('deeply nested values are compared without exhausting the call stack, and count as different', () => {
  const deep = (): unknown => JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)
  expect(haveSameText(deep(), deep())).toBe(false)
})
