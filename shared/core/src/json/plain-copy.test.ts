import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainCopy } from './plain-copy.ts'

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, '', 'größe', '😀', 0, -0, 7, -(2 ** 53) + 1),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '10', '2', '__proto__', ''), fc.option(tie('value'), { nil: undefined }), { maxKeys: 4 }),
  ),
})).value

test('a plain copy equals the value that is printed and parsed, with its members in the same order', () => {
  fc.assert(
    fc.property(values, (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value))
      const copy = plainCopy(value)
      expect(copy).toStrictEqual(parsed)
      expect(JSON.stringify(copy)).toBe(JSON.stringify(parsed))
    }),
  )
})

test('a plain copy shares frozen parts alone', () => {
  const value = { frozen: Object.freeze({ a: 1 }), own: { b: [1] } }
  const copy = plainCopy(value) as typeof value
  expect(copy.frozen).toBe(value.frozen)
  value.own.b.push(2)
  expect(copy.own).toEqual({ b: [1] })
})

const deep = (depth: number): unknown => (depth === 0 ? {} : [deep(depth - 1)])

test.each<[string, unknown]>([
  ['a Date', new Date(0)],
  ['an instance of a class', new (class A {})()],
  ['a function', { toJSON: () => 'a' }],
  ['an item without a value', [undefined]],
  ['a number that JSON lacks', { a: Number.NaN }],
  ['a fraction', 0.5],
  ['an integer beyond 2^53', 2 ** 53],
  ['a bigint', 1n],
  ['half of a surrogate pair', ['\ud83d']],
  ['half of a surrogate pair in a name', { '\ud83d': 1 }],
  ['a symbol', Symbol('a')],
  ['nothing', undefined],
  ['a deep value', deep(65)],
])('%s has no plain copy', (_, value) => {
  expect(plainCopy(value)).toBeUndefined()
})
