import { expect, test } from 'vitest'
import { freezeDeeply } from './freeze.ts'
import { shareWith } from './share.ts'

test('an equal value is replaced by the earlier one', () => {
  const before = { a: [1, { b: 'x' }], c: null }
  expect(shareWith({ a: [1, { b: 'x' }], c: null }, before)).toBe(before)
})

test('a different value shares the equal parts', () => {
  const before = { a: { x: 1 }, b: [{ y: 1 }, { y: 2 }], c: 1 }
  const value = { a: { x: 1 }, b: [{ y: 1 }, { y: 3 }], c: 1 }
  const kept = shareWith(freezeDeeply(value), freezeDeeply(before))
  expect(kept).toEqual(value)
  expect(kept.a).toBe(before.a)
  expect(kept.b[0]).toBe(before.b[0])
  expect(kept.b[1]).toBe(value.b[1])
  expect(shareWith({ c: 2, d: value.b }, before)).toEqual({ c: 2, d: value.b })
})

test.each([
  ['in another order', { b: 2, a: 1 }, { a: 1, b: 2 }],
  ['with a member more', { a: 1, b: 2 }, { a: 1 }],
  ['with a member less', { a: 1 }, { a: 1, b: 2 }],
  ['with a member under a name that JavaScript knows', { constructor: 1 }, {}],
  ['as a list', [1], { 0: 1 }],
  ['that is empty where a list is', {}, []],
])('an object %s is not shared', (_how, value, before) => {
  const text = JSON.stringify(value)
  expect(shareWith(value, before)).toBe(value)
  expect(JSON.stringify(value)).toBe(text)
})

test('a value deeper than any type is left unchanged', () => {
  const deep = (): unknown => JSON.parse(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)
  const value = deep()
  expect(shareWith(value, deep())).toBe(value)
})
