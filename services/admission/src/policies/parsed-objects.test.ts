import { expect, test } from 'vitest'
import { ParsedObjects } from './params.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

test('equal bytes of a key are parsed once, and other bytes again', () => {
  const objects = new ParsedObjects()
  const first = objects.parse('a', bytesOf({ x: 1 }))
  expect(objects.parse('a', bytesOf({ x: 1 }))).toBe(first)
  expect(objects.parse('a', bytesOf({ x: 2 }))).toEqual({ x: 2 })
  expect(objects.parse('a', bytesOf({ x: 1 }))).toEqual({ x: 1 })
  expect(objects.parse('b', bytesOf({ x: 1 }))).not.toBe(first)
})

test('a buffer that is overwritten later does not change the parsed object', () => {
  const objects = new ParsedObjects()
  const bytes = bytesOf({ x: 1 })
  objects.parse('a', bytes)
  bytes.set(bytesOf({ x: 2 }))
  expect(objects.parse('a', bytes)).toEqual({ x: 2 })
})

test('large objects are not cached, and the least recently used objects are dropped', () => {
  const objects = new ParsedObjects()
  const large = bytesOf({ x: 'y'.repeat(20_000) })
  expect(objects.parse('large', large)).not.toBe(objects.parse('large', large))
  const first = objects.parse('k0', bytesOf({}))
  for (let index = 1; index <= 128; index++) objects.parse(`k${index}`, bytesOf({}))
  expect(objects.parse('k0', bytesOf({}))).not.toBe(first)
})
