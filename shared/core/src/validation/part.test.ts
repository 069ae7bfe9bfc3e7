import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { isSame, print, repeatedPlaces } from './part.ts'

test('repeated items are found by an equal earlier item', () => {
  const item = fc.oneof(fc.constantFrom('a', 'b', 1, null), fc.record({ key: fc.constantFrom('a', 'b'), seconds: fc.constantFrom(1n, 2n) }))
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const expected = items.flatMap((one, index) => (items.slice(0, index).some((other) => isSame(other, one)) ? [index] : []))
      expect([...repeatedPlaces(items)]).toEqual(expected)
    }),
  )
})

test('LIM-12: each item is printed once, for any number of items', () => {
  const items = Array.from({ length: 1_000 }, (_, index) => ({ key: `k${index}` }))
  const print = vi.spyOn(JSON, 'stringify')
  repeatedPlaces(items)
  const { length: calls } = print.mock.calls
  print.mockRestore()
  expect(calls).toBe(1_000)
})

test('values are equal exactly if their texts are equal', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(0, 1, -0.5, 1n, 2n, '', 'a', '1', true, false, null, undefined),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(isSame(one, other)).toBe(print(one) === print(other))
      expect(isSame(one, structuredClone(one))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test('deep values are compared too', () => {
  const nested = (depth: number, inside: unknown) => {
    let value = inside
    for (let level = 0; level < depth; level++) value = { child: [value] }
    return value
  }
  expect(isSame(nested(20_000, 1), nested(20_000, 1))).toBe(true)
  expect(isSame(nested(20_000, 1), nested(20_000, 2))).toBe(false)
})
