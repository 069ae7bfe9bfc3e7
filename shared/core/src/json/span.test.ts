import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { itemSpans, memberSpan } from './span.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const textOf = (text: string, name: string) => {
  const bytes = encode(text)
  const span = memberSpan(bytes, 0, name)
  return span === undefined ? undefined : new TextDecoder().decode(bytes.subarray(span.start, span.end))
}

test('the value of a member is found without its neighbours', () => {
  const text = '{"kind":"A","labels":{"metadata":"}\\"{"},"metadata": {"name":"x"} ,"n":12}'
  expect(textOf(text, 'metadata')).toBe('{"name":"x"}')
  expect(textOf(text, 'n')).toBe('12')
  expect(textOf(text, 'missing')).toBeUndefined()
  expect(textOf('[1]', 'metadata')).toBeUndefined()
})

test('every member of any object is found', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue()), (object) => {
      const text = JSON.stringify(object)
      for (const [name, value] of Object.entries(object)) expect(textOf(text, name)).toBe(JSON.stringify(value))
    }),
  )
})

test('every item of any array is found, and a truncated text is noticed', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(), (items, cut) => {
      const text = JSON.stringify(items)
      const found = [...itemSpans(encode(text), 0)].map(({ start, end }) => new TextDecoder().decode(encode(text).subarray(start, end)))
      expect(found).toEqual(items.map((item) => JSON.stringify(item)))
      const part = itemSpans(encode(text.slice(0, 1 + (cut % Math.max(1, text.length - 1)))), 0)
      let step = part.next()
      while (step.done !== true) step = part.next()
      if (text !== '[]') expect(step.value).toBeUndefined()
    }),
  )
})

test('an item of too many bytes has a span of one byte more, and its end is not looked for', () => {
  const lengths = (bytesMax: number) =>
    [...itemSpans(encode('[{"a":1}, {"a":[10, 20]}]'), 0, bytesMax)].map(({ start, end }) => end - start)
  expect([lengths(14), lengths(10)]).toEqual([
    [7, 14],
    [7, 11],
  ])
})
