import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { isSame, repeatedPlaces } from './part.ts'

test('repeated places are those of which an earlier one is the same', () => {
  const item = fc.oneof(fc.constantFrom('a', 'b', 1, null), fc.record({ key: fc.constantFrom('a', 'b'), seconds: fc.constantFrom(1n, 2n) }))
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const expected = items.flatMap((one, index) => (items.slice(0, index).some((other) => isSame(other, one)) ? [index] : []))
      expect([...repeatedPlaces(items)]).toEqual(expected)
    }),
  )
})

test('LIM-12: each item is printed once, however many there are', () => {
  const items = Array.from({ length: 1_000 }, (_, index) => ({ key: `k${index}` }))
  const print = vi.spyOn(JSON, 'stringify')
  repeatedPlaces(items)
  const { length: calls } = print.mock.calls
  print.mockRestore()
  expect(calls).toBe(1_000)
})
