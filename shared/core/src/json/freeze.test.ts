import { expect, test } from 'vitest'
import { freezeDeeply } from './freeze.ts'

test('a value is frozen deeply, and returned', () => {
  const value = { a: [{ b: { c: 1 } }, 'text', null], d: {} }
  expect(freezeDeeply(value)).toBe(value)
  for (const part of [value, value.a, value.a[0], (value.a[0] as { b: object }).b, value.d]) expect(Object.isFrozen(part)).toBe(true)
  expect(() => {
    ;(value.a[0] as Record<string, unknown>)['b'] = 2
  }).toThrow(TypeError)
})

test('a frozen part is not searched again', () => {
  const inner = { open: {} }
  const frozen = Object.freeze({ inner })
  freezeDeeply({ frozen })
  expect(Object.isFrozen(inner)).toBe(false)
})

test.each([undefined, null, 'text', 1, true, 2n ** 60n])('%s has no nested parts', (value) => {
  expect(freezeDeeply(value)).toBe(value)
})

test('a value may be nested deeper than the call stack', () => {
  let value: unknown[] = []
  for (let depth = 0; depth < 200_000; depth++) value = [value]
  expect(Object.isFrozen(freezeDeeply(value)[0])).toBe(true)
})
